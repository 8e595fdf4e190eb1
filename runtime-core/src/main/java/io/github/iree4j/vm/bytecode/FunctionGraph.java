package io.github.iree4j.vm.bytecode;

import io.github.iree4j.vm.CallingConvention;
import io.github.iree4j.vm.bytecode.FunctionCode.CallSite;
import io.github.iree4j.vm.isa.Field;
import io.github.iree4j.vm.isa.InstructionReader;
import io.github.iree4j.vm.isa.Isa;
import io.github.iree4j.vm.isa.Op;
import io.github.iree4j.vm.isa.Opcode;
import io.github.iree4j.vm.isa.RegisterEncoding;
import io.github.iree4j.vm.isa.RegisterType;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A verified function as blocks of instructions with typed operands, the input of the compiler. The interpreter's
 * {@link FunctionCode} does not distinguish float words from integers.
 */
final class FunctionGraph {
    /** One word, an integer. */
    static final byte I = 1;

    /** One word, a float. */
    static final byte F = 2;

    /** Two words, an integer. */
    static final byte L = 4;

    /** Two words, a double. */
    static final byte D = 8;

    /** A reference. */
    static final byte R = 16;

    /** An instruction. Operands are ordinals; references include the MOVE bit ({@link Code#MOVE}). */
    static final class Node {
        final int op;

        /** Index in {@link FunctionCode#code}. */
        final int pc;

        int[] uses = {};
        byte[] useKinds = {};
        int[] defs = {};
        byte[] defKinds = {};

        /** For each result of one word, whether the other word of the pair is used later. */
        boolean[] keepsOther = {};

        /** Ordinals, offsets and 32-bit literals, in the order of the fields. */
        int[] numbers = {};

        long literal;
        String text = "";

        @Nullable
        CallSite site;

        List<Edge> edges = List.of();

        /** Kinds used after the instruction, per word; for calls only. */
        byte[] liveAfter = {};

        Node(int op, int pc) {
            this.op = op;
            this.pc = pc;
        }
    }

    /**
     * An edge from the end of a block to another block.
     *
     * @param target index of the block
     * @param moves copies on the edge, in order
     */
    record Edge(int target, List<Move> moves) {}

    /** A copy: of a reference, of a word, or of two words. */
    static final class Move {
        final int from;
        final int to;
        final boolean wide;
        final boolean ref;

        /** Whether the other word of the target's pair is used later. */
        boolean keepsOther;

        Move(int from, int to, boolean wide, boolean ref) {
            this.from = from;
            this.to = to;
            this.wide = wide;
            this.ref = ref;
        }
    }

    /**
     * Instructions from a marker to a terminator.
     *
     * @param pc index of the first instruction in {@link FunctionCode#code}
     * @param nodes the instructions, the terminator last
     */
    record Block(int pc, List<Node> nodes) {
        Node last() {
            return nodes.getLast();
        }
    }

    final FunctionCode code;
    final List<Block> blocks = new ArrayList<>();
    final int words;
    final int refs;

    private final InstructionReader reader;
    private final Map<Integer, Integer> blockAt = new HashMap<>();
    private int siteCount;

    FunctionGraph(FunctionCode code, Isa isa, byte[] body) {
        this(code, isa, body, Integer.MAX_VALUE);
    }

    /**
     * Decodes a function.
     *
     * @param code the function
     * @param isa the encoding
     * @param body the code in the file
     * @param maxNodes instructions after which a block is split, where possible
     */
    FunctionGraph(FunctionCode code, Isa isa, byte[] body, int maxNodes) {
        this.code = code;
        words = code.words + 1 & ~1;
        refs = code.refs;
        InstructionReader scan = new InstructionReader(isa, body);
        int inBlock = 0;
        int count = 0;
        while (scan.next()) {
            if (scan.opcode().isBlock()) {
                blockAt.put(scan.offset(), count++);
                inBlock = 0;
            } else if (++inBlock > maxNodes && isCut(scan.opcode(), scan.offset())) {
                blockAt.put(scan.offset(), count++);
                inBlock = 1;
            }
        }
        reader = new InstructionReader(isa, body);
        List<Node> nodes = new ArrayList<>();
        while (reader.next()) {
            if (reader.opcode().isBlock()) {
                nodes = new ArrayList<>();
                blocks.add(new Block(code.pcOf(reader.offset()), nodes));
            } else {
                if (blockAt.containsKey(reader.offset())) {
                    nodes = cut(nodes, code.pcOf(reader.offset()));
                }
                decode(reader.opcode(), nodes);
            }
        }
    }

    /** Returns whether a block may be split before an instruction: a terminator may be fused with the preceding instruction. */
    private boolean isCut(Opcode opcode, int offset) {
        return !opcode.isTerminator()
                && !ComparisonEmitter.isComparison(opcode.op())
                && opcode.op() != Op.TRACE
                && opcode.op() != Op.PRINT
                && opcode.op() != Op.DISCARD_REFS
                && code.startsAt(offset);
    }

    private List<Node> cut(List<Node> nodes, int pc) {
        Node jump = new Node(Op.BR, pc - 1);
        jump.edges = List.of(new Edge(blocks.size(), List.of()));
        jump.keepsOther = new boolean[0];
        nodes.add(jump);
        List<Node> next = new ArrayList<>();
        blocks.add(new Block(pc, next));
        return next;
    }

    private void decode(Opcode opcode, List<Node> nodes) {
        Node node = new Node(opcode.op(), code.pcOf(reader.offset()));
        switch (opcode.op()) {
            case Op.CALL, Op.CALL_VARIADIC -> call(node, -1);
            case Op.CALL_YIELDABLE -> call(node, 2);
            case Op.CALL_VARIADIC_YIELDABLE -> call(node, 3);
            case Op.RETURN -> {
                String letters = code.convention.results();
                node.uses = list(0);
                node.useKinds = new byte[letters.length()];
                for (int i = 0; i < letters.length(); i++) {
                    node.useKinds[i] = kindOf(letters.charAt(i));
                }
            }
            case Op.BR, Op.BREAK, Op.YIELD -> node.edges = List.of(edge(0, 1));
            case Op.COND_BREAK -> node.edges = List.of(edge(1, 2));
            case Op.COND_BR -> {
                use(node, reader.register(0), I);
                node.edges = List.of(edge(1, 2), edge(3, 4));
            }
            case Op.BR_TABLE -> {
                use(node, reader.register(0), I);
                List<Edge> edges = new ArrayList<>();
                edges.add(edge(1, 2));
                for (int c = 0; c < reader.count(3); c++) {
                    int index = c;
                    edges.add(edge(
                            reader.caseTarget(c),
                            reader.caseCount(c),
                            i -> reader.caseSource(index, i),
                            i -> reader.caseDestination(index, i)));
                }
                node.edges = edges;
            }
            case Op.TRACE, Op.PRINT -> discard(nodes, node.pc, 1, true);
            case Op.DISCARD_REFS -> discard(nodes, node.pc, 0, false);
            default -> fields(node, opcode);
        }
        if (opcode.op() != Op.TRACE && opcode.op() != Op.PRINT && opcode.op() != Op.DISCARD_REFS) {
            node.keepsOther = new boolean[node.defs.length];
            nodes.add(node);
        }
    }

    private void fields(Node node, Opcode opcode) {
        List<Field> fields = opcode.fields();
        for (int i = 0; i < fields.size(); i++) {
            Field field = fields.get(i);
            switch (field.kind()) {
                case REGISTER -> {
                    int operand = operand(reader.register(i));
                    byte kind = kindOf(field.type());
                    if (field.result()) {
                        node.defs = append(node.defs, operand);
                        node.defKinds = append(node.defKinds, kind);
                    } else {
                        use(node, operand, kind);
                    }
                }
                case OPERANDS -> {
                    int before = node.uses.length;
                    node.uses = Arrays.copyOf(node.uses, before + reader.count(i));
                    node.useKinds = Arrays.copyOf(node.useKinds, node.uses.length);
                    for (int k = before; k < node.uses.length; k++) {
                        node.uses[k] = operand(reader.item(i, k - before));
                        node.useKinds[k] = kindOf(field.type());
                    }
                }
                case CONST_I64, CONST_F64 -> node.literal = reader.i64(i);
                case CONST_I32, CONST_F32 -> node.literal = reader.i32(i);
                case STRING -> node.text = reader.string(i);
                default -> node.numbers = append(node.numbers, reader.i32(i));
            }
        }
    }

    /** Takes the operands and results of a call from the interpreter's call site. */
    private void call(Node node, int resume) {
        CallSite site = code.sites[siteCount++];
        node.site = site;
        int words = 0;
        int refs = 0;
        int count = 0;
        int[] uses = new int[site.letters.length];
        byte[] kinds = new byte[uses.length];
        for (char letter : site.letters) {
            if (letter != 'C') {
                kinds[count] = kindOf(letter);
                uses[count++] = letter == 'r' ? site.argumentRefs[refs++] : site.argumentWords[words];
                words += letter == 'r' ? 0 : RegisterPlan.isWide(kindOf(letter)) ? 2 : 1;
            }
        }
        node.uses = Arrays.copyOf(uses, count);
        node.useKinds = Arrays.copyOf(kinds, count);
        node.defs = site.results;
        node.defKinds = new byte[site.results.length];
        for (int i = 0; i < site.results.length; i++) {
            node.defKinds[i] = kindOf(site.resultLetters[i]);
        }
        if (resume >= 0) {
            node.edges = List.of(new Edge(block(reader.i32(resume)), List.of()));
        }
    }

    private void discard(List<Node> nodes, int pc, int field, boolean movedOnly) {
        for (int i = 0; i < reader.count(field); i++) {
            int register = reader.item(field, i);
            if (RegisterEncoding.isMove(register) || !movedOnly && RegisterEncoding.isRef(register)) {
                Node node = new Node(Op.CONST_REF_ZERO, pc);
                node.defs = new int[] {RegisterEncoding.ordinal(register)};
                node.defKinds = new byte[] {R};
                node.keepsOther = new boolean[1];
                nodes.add(node);
            }
        }
    }

    /** Returns the first block of the innermost loop around an instruction; negative when there is none. */
    int innermostLoopAt(int pc) {
        int current = 0;
        while (current + 1 < blocks.size() && blocks.get(current + 1).pc() <= pc) {
            current++;
        }
        int innermost = -1;
        for (int source = current; source < blocks.size(); source++) {
            for (Edge edge : blocks.get(source).last().edges) {
                if (edge.target() <= current) {
                    innermost = Math.max(innermost, edge.target());
                }
            }
        }
        return innermost;
    }

    /** Returns the predecessors of each block; a block occurs twice if it has two edges. */
    int[][] predecessors() {
        int[] counts = new int[blocks.size()];
        for (Block block : blocks) {
            block.last().edges.forEach(e -> counts[e.target()]++);
        }
        int[][] predecessors = new int[counts.length][];
        for (int i = 0; i < counts.length; i++) {
            predecessors[i] = new int[counts[i]];
        }
        for (int b = 0; b < counts.length; b++) {
            for (Edge edge : blocks.get(b).last().edges) {
                predecessors[edge.target()][--counts[edge.target()]] = b;
            }
        }
        return predecessors;
    }

    private interface Register {
        int at(int index);
    }

    private Edge edge(int target, int moves) {
        return edge(
                reader.i32(target),
                reader.count(moves),
                i -> reader.source(moves, i),
                i -> reader.destination(moves, i));
    }

    /** Creates an edge. Pairs of words forming a 64-bit value become one copy, as in {@link Translator}. */
    private Edge edge(int target, int count, Register source, Register destination) {
        List<Move> moves = new ArrayList<>(count);
        for (int i = 0; i < count; i++) {
            int from = source.at(i);
            int to = destination.at(i);
            if (RegisterEncoding.isRef(from)) {
                moves.add(new Move(operand(from), operand(to) & ~Code.MOVE, false, true));
                continue;
            }
            boolean wide = (from & 1) == 0
                    && (to & 1) == 0
                    && i + 1 < count
                    && source.at(i + 1) == from + 1
                    && destination.at(i + 1) == to + 1;
            moves.add(new Move(from, to, wide, false));
            i += wide ? 1 : 0;
        }
        return new Edge(block(target), moves);
    }

    private int block(int offset) {
        Integer index = blockAt.get(offset);
        if (index == null) {
            throw new IllegalStateException("no block at offset " + offset);
        }
        return index;
    }

    private int[] list(int field) {
        int[] registers = new int[reader.count(field)];
        for (int i = 0; i < registers.length; i++) {
            registers[i] = operand(reader.item(field, i));
        }
        return registers;
    }

    private static void use(Node node, int operand, byte kind) {
        node.uses = append(node.uses, operand);
        node.useKinds = append(node.useKinds, kind);
    }

    private static int[] append(int[] list, int value) {
        int[] longer = Arrays.copyOf(list, list.length + 1);
        longer[list.length] = value;
        return longer;
    }

    private static byte[] append(byte[] list, byte value) {
        byte[] longer = Arrays.copyOf(list, list.length + 1);
        longer[list.length] = value;
        return longer;
    }

    /** Drops the bank bit, already implied by the kind. */
    private static int operand(int register) {
        return register & ~RegisterEncoding.REF_BIT;
    }

    /** Returns the kind of a letter of a {@link CallingConvention}. */
    static byte kindOf(char letter) {
        return switch (letter) {
            case 'i' -> I;
            case 'f' -> F;
            case 'I' -> L;
            case 'F' -> D;
            default -> R;
        };
    }

    private static byte kindOf(RegisterType type) {
        return switch (type) {
            case I32 -> I;
            case F32 -> F;
            case I64 -> L;
            case F64 -> D;
            case REF -> R;
            case ANY -> throw new IllegalStateException("operand of any type");
        };
    }
}
