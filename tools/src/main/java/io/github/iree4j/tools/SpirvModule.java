package io.github.iree4j.tools;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedSet;
import java.util.TreeSet;

/**
 * A compute shader in SPIR-V, with what a dispatch has to supply, as the module itself declares it: storage buffers in set 0, numbered
 * from 0, and 32-bit push constants. Instructions by chapter 3 of the SPIR-V specification, version 1.6.
 *
 * @param code the whole module
 * @param entryPoint the name of its one entry point
 * @param bindings how many storage buffers it takes
 * @param constants how many 32-bit push constants it takes
 */
record SpirvModule(byte[] code, String entryPoint, int bindings, int constants) {
    private static final int MAGIC = 0x07230203;
    private static final int HEADER_WORDS = 5;
    private static final int GL_COMPUTE = 5;
    private static final int STORAGE_UNIFORM = 2;
    private static final int STORAGE_PUSH_CONSTANT = 9;
    private static final int STORAGE_BUFFER = 12;
    private static final int DECORATION_BINDING = 33;
    private static final int DECORATION_SET = 34;

    /** What the instructions of a module say that matters here; ids are those of the module. */
    private static final class Facts {
        final List<String> entryPoints = new ArrayList<>();
        final Map<Integer, Integer> bindings = new HashMap<>();
        final Map<Integer, Integer> sets = new HashMap<>();
        final Map<Integer, Integer> pointees = new HashMap<>();
        final Map<Integer, int[]> structs = new HashMap<>();
        final Map<Integer, Integer> scalarWidths = new HashMap<>();
        final List<Integer> buffers = new ArrayList<>();
        int pushConstants;
    }

    /** Reads a module; {@code name} is for messages. */
    static SpirvModule read(String name, byte[] code) {
        ByteBuffer words = ByteBuffer.wrap(code).order(ByteOrder.LITTLE_ENDIAN);
        if (code.length % 4 != 0 || code.length < 4 * HEADER_WORDS || words.getInt(0) != MAGIC) {
            throw invalid(name, "it is not SPIR-V in little-endian byte order");
        }
        Facts facts = new Facts();
        for (int at = HEADER_WORDS; at < code.length / 4; ) {
            int count = words.getInt(4 * at) >>> 16;
            if (count == 0 || count > code.length / 4 - at) {
                throw invalid(name, "its instruction at word %d has %d words".formatted(at, count));
            }
            int[] operands = new int[count - 1];
            for (int i = 0; i < operands.length; i++) {
                operands[i] = words.getInt(4 * (at + 1 + i));
            }
            try {
                note(facts, words.getInt(4 * at) & 0xffff, operands);
            } catch (ArrayIndexOutOfBoundsException e) {
                throw invalid(name, "its instruction at word %d lacks operands".formatted(at));
            }
            at += count;
        }
        if (facts.entryPoints.size() != 1) {
            throw invalid(name, "it has %d entry points for compute, not one".formatted(facts.entryPoints.size()));
        }
        return new SpirvModule(
                code, facts.entryPoints.getFirst(), countBindings(name, facts), countConstants(name, facts));
    }

    private static void note(Facts facts, int opcode, int[] operands) {
        switch (opcode) {
            case 15 -> { // OpEntryPoint
                if (operands[0] == GL_COMPUTE) {
                    facts.entryPoints.add(text(operands, 2));
                }
            }
            case 21, 22 -> facts.scalarWidths.put(operands[0], operands[1]); // OpTypeInt, OpTypeFloat
            case 30 -> { // OpTypeStruct
                int[] members = new int[operands.length - 1];
                System.arraycopy(operands, 1, members, 0, members.length);
                facts.structs.put(operands[0], members);
            }
            case 32 -> facts.pointees.put(operands[0], operands[2]); // OpTypePointer
            case 59 -> { // OpVariable
                if (operands[2] == STORAGE_PUSH_CONSTANT) {
                    facts.pushConstants = operands[0];
                } else if (operands[2] == STORAGE_BUFFER || operands[2] == STORAGE_UNIFORM) {
                    facts.buffers.add(operands[1]);
                }
            }
            case 71 -> { // OpDecorate
                if (operands[1] == DECORATION_BINDING) {
                    facts.bindings.put(operands[0], operands[2]);
                } else if (operands[1] == DECORATION_SET) {
                    facts.sets.put(operands[0], operands[2]);
                }
            }
            default -> {}
        }
    }

    private static String text(int[] operands, int first) {
        StringBuilder text = new StringBuilder();
        for (int i = first; ; i++) {
            for (int shift = 0; shift < 32; shift += 8) {
                int letter = operands[i] >>> shift & 0xff;
                if (letter == 0) {
                    return text.toString();
                }
                text.append((char) letter);
            }
        }
    }

    private static int countBindings(String name, Facts facts) {
        SortedSet<Integer> numbers = new TreeSet<>();
        for (int buffer : facts.buffers) {
            if (facts.sets.getOrDefault(buffer, 0) != 0) {
                throw invalid(name, "it has a buffer in set %d; only set 0 is bound".formatted(facts.sets.get(buffer)));
            }
            numbers.add(facts.bindings.getOrDefault(buffer, 0));
        }
        if (!numbers.isEmpty() && numbers.last() != numbers.size() - 1) {
            throw invalid(name, "its bindings are %s, not 0 up to a number".formatted(numbers));
        }
        return numbers.size();
    }

    private static int countConstants(String name, Facts facts) {
        if (facts.pushConstants == 0) {
            return 0;
        }
        int[] members = facts.structs.getOrDefault(facts.pointees.getOrDefault(facts.pushConstants, 0), new int[0]);
        for (int member : members) {
            if (facts.scalarWidths.getOrDefault(member, 0) != 32) {
                throw invalid(name, "its push constants are not all 32-bit numbers");
            }
        }
        return members.length;
    }

    private static IreeException invalid(String name, String what) {
        return new IreeException(StatusCode.INVALID_ARGUMENT, "'%s' cannot be packed: %s".formatted(name, what));
    }
}
