package io.github.iree4j.spirv;

import static io.github.iree4j.spirv.SpirvOp.*;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/** Reads a module, front to back. Work and memory are bounded by the size of the module. */
final class SpirvReader {
    private static final ValueLayout.OfInt WORD = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

    private static final int HEADER_WORDS = 5;

    /** Larger than any shader; drivers use hundreds of bytes for each word. */
    private static final int WORDS_LIMIT = 1 << 23;

    /** Limit of identifiers to be supported by every consumer (SPIR-V, universal limits). */
    private static final int BOUND_LIMIT = 4_194_303;

    private static final int MAJOR = 1;
    private static final int NEWEST_MINOR = 6;

    private static final int ENTRY_POINTS_LIMIT = 4096;

    /** The references of a function. */
    private static final class Function {
        final Set<Integer> variables = new HashSet<>();
        final Set<Integer> calls = new HashSet<>();
    }

    private record Variable(int pointee, int storage) {}

    private record Entry(String name, int function, int at) {}

    private record Size(int[] values, boolean areIds) {}

    private final MemorySegment bytes;
    private final int words;
    private final SpirvTypes types;
    private final SpirvWrites writes = new SpirvWrites(this::word);
    private final SpirvAddresses addresses;
    private final Set<Integer> capabilities = new TreeSet<>();
    private final Set<String> extensions = new HashSet<>();
    private final List<Entry> entries = new ArrayList<>();
    private final Map<Integer, Size> sizes = new HashMap<>(); // by function
    private final Map<Integer, Integer> sets = new HashMap<>(); // by variable
    private final Map<Integer, Integer> bindings = new HashMap<>(); // by variable
    private final Map<Integer, Variable> variables = new HashMap<>();
    private final Map<Integer, Function> functions = new HashMap<>();
    private int version;
    private int bound;
    private int sizeConstant = -1; // decorated as the workgroup's size
    private boolean hasMemoryModel;
    private @Nullable Function open; // the function being read

    SpirvReader(MemorySegment bytes, int[] constants) {
        this.bytes = bytes;
        long size = bytes.byteSize();
        if (size % 4 != 0 || size < 4 * HEADER_WORDS) {
            throw damaged("it has %d bytes, which is not a multiple of 4 of at least %d", size, 4 * HEADER_WORDS);
        }
        if (size / 4 > WORDS_LIMIT) {
            throw IreeException.of(
                    StatusCode.RESOURCE_EXHAUSTED,
                    "SPIR-V module of %d words exceeds the limit of %d".formatted(size / 4, WORDS_LIMIT));
        }
        this.words = (int) (size / 4);
        this.types = new SpirvTypes(constants);
        this.addresses = new SpirvAddresses(this::word, types);
    }

    static IreeException damaged(String format, Object... arguments) {
        return IreeException.of(
                StatusCode.INVALID_ARGUMENT, "SPIR-V module is damaged: " + format.formatted(arguments));
    }

    SpirvModule read() {
        readHeader();
        int at = HEADER_WORDS;
        while (at < words) {
            int first = word(at);
            int count = first >>> 16;
            if (count == 0 || count > words - at) {
                throw damaged(
                        "instruction %d at word %d has %d words, of which the module of %d has %d",
                        first & 0xFFFF, at, count, words, words - at);
            }
            instruction(first & 0xFFFF, at, count);
            at += count;
        }
        if (open != null) {
            throw damaged("its last function does not end");
        }
        if (!hasMemoryModel) {
            throw damaged("it has no memory model");
        }
        Set<String> names = new HashSet<>();
        List<SpirvEntryPoint> result = new ArrayList<>();
        for (Entry entry : entries) {
            if (!names.add(entry.name())) {
                throw damaged("entry point '%s' is declared twice", printable(entry.name()));
            }
            result.add(describe(entry));
        }
        return new SpirvModule(version, capabilities, extensions, result, addresses.written());
    }

    private void readHeader() {
        int magic = word(0);
        if (magic == Integer.reverseBytes(MAGIC)) {
            throw damaged("its words are big-endian, they must be little-endian");
        }
        if (magic != MAGIC) {
            throw damaged("it begins with 0x%08x where 0x%08x is wanted", magic, MAGIC);
        }
        version = word(1);
        int major = version >>> 16;
        int minor = version >>> 8 & 0xFF;
        if ((version & 0xFF) != 0 || major != MAJOR || minor > NEWEST_MINOR) {
            throw IreeException.of(
                    StatusCode.UNIMPLEMENTED,
                    "SPIR-V module has version word 0x%08x; versions 1.0 to %d.%d can be read"
                            .formatted(version, MAJOR, NEWEST_MINOR));
        }
        bound = word(3);
        if (bound <= 0 || bound > BOUND_LIMIT) {
            throw damaged(
                    "its identifiers are bounded by %s, the limit is %d", Integer.toUnsignedString(bound), BOUND_LIMIT);
        }
        if (word(4) != 0) {
            throw damaged("its schema is %s and must be 0", Integer.toUnsignedString(word(4)));
        }
    }

    private int word(int index) {
        return bytes.get(WORD, 4L * index);
    }

    private void instruction(int op, int at, int count) {
        switch (op) {
            case CAPABILITY -> capabilities.add(operand(op, at, count, 1));
            case EXTENSION -> extensions.add(string(op, at, at + 1, at + count));
            case MEMORY_MODEL -> memoryModel(at, count);
            case ENTRY_POINT -> entryPoint(at, count);
            case EXECUTION_MODE, EXECUTION_MODE_ID -> executionMode(op, at, count);
            case DECORATE -> decorate(at, count);
            case MEMBER_DECORATE -> {
                if (count > 4) {
                    types.decorateMember(id(op, at, count, 1), word(at + 2), word(at + 3), word(at + 4));
                }
            }
            case FUNCTION -> beginFunction(at, count);
            case FUNCTION_END -> {
                if (open == null) {
                    throw damaged("function ends at word %d outside of any", at);
                }
                open = null;
            }
            case VARIABLE -> variable(at, count);
            default -> {
                if (op >= TYPE_BOOL && op <= SPEC_CONSTANT_OP) {
                    requireOutside(op, at);
                    types.define(op, at, operands(op, at, count));
                    if (op == TYPE_POINTER) {
                        addresses.definePointer(word(at + 1), word(at + 2));
                    }
                } else if (op >= PHI && op <= UNREACHABLE && open == null) {
                    throw damaged("instruction %d at word %d must be inside of a function", op, at);
                } else if (open != null) {
                    reference(open, op, at, count);
                    writes.add(op, at, count);
                    addresses.add(op, at, count);
                }
            }
        }
    }

    private int operand(int op, int at, int count, int index) {
        if (index >= count) {
            throw damaged("instruction %d at word %d has %d words, which is too short", op, at, count);
        }
        return word(at + index);
    }

    private int id(int op, int at, int count, int index) {
        int id = operand(op, at, count, index);
        if (id <= 0 || id >= bound) {
            throw damaged(
                    "instruction %d at word %d refers to identifier %s, the bound is %d",
                    op, at, Integer.toUnsignedString(id), bound);
        }
        return id;
    }

    private int[] operands(int op, int at, int count) {
        int[] operands = new int[count - 1];
        for (int i = 0; i < operands.length; i++) {
            operands[i] = word(at + 1 + i);
        }
        int result = SpirvTypes.resultIndex(op);
        if (result >= 0) {
            id(op, at, count, result + 1);
        }
        return operands;
    }

    private void requireOutside(int op, int at) {
        if (open != null) {
            throw damaged("instruction %d at word %d declares something inside of a function", op, at);
        }
    }

    /** Reads a string with its end before a given word; nothing is read beyond the word. */
    private String string(int op, int at, int first, int end) {
        for (int i = first; i < end; i++) {
            int word = word(i);
            for (int k = 0; k < 4; k++) {
                if ((word >>> 8 * k & 0xFF) == 0) {
                    byte[] text =
                            bytes.asSlice(4L * first, 4L * (i - first) + k).toArray(ValueLayout.JAVA_BYTE);
                    return new String(text, StandardCharsets.UTF_8);
                }
            }
        }
        throw damaged("the string of instruction %d at word %d does not end within it", op, at);
    }

    static String printable(String name) {
        String text = name.replaceAll("[^ -~]", "?");
        return text.length() > 128 ? text.substring(0, 128) + "..." : text;
    }

    /** Checks for addressing and memory models of Vulkan, with the needed capabilities declared before. */
    private void memoryModel(int at, int count) {
        int addressing = operand(MEMORY_MODEL, at, count, 1);
        int memory = operand(MEMORY_MODEL, at, count, 2);
        boolean physical = addressing == ADDRESSING_PHYSICAL;
        boolean vulkan = memory == MEMORY_VULKAN;
        if (!physical && addressing != ADDRESSING_LOGICAL || !vulkan && memory != MEMORY_GLSL) {
            throw damaged(
                    "addressing model %s and memory model %s at word %d are not of Vulkan",
                    Integer.toUnsignedString(addressing), Integer.toUnsignedString(memory), at);
        }
        if (physical && !capabilities.contains(CAPABILITY_PHYSICAL_ADDRESSES)
                || vulkan && !capabilities.contains(CAPABILITY_VULKAN_MEMORY)) {
            throw damaged(
                    "addressing model %d and memory model %d at word %d need a capability that is not declared",
                    addressing, memory, at);
        }
        hasMemoryModel = true;
    }

    private void entryPoint(int at, int count) {
        requireOutside(ENTRY_POINT, at);
        int function = id(ENTRY_POINT, at, count, 2);
        String name = string(ENTRY_POINT, at, at + 3, at + count);
        if (word(at + 1) != MODEL_COMPUTE) {
            return; // other stages are allowed, but cannot be run here
        }
        if (entries.size() == ENTRY_POINTS_LIMIT) {
            throw IreeException.of(
                    StatusCode.RESOURCE_EXHAUSTED,
                    "SPIR-V module has more than %d entry points".formatted(ENTRY_POINTS_LIMIT));
        }
        entries.add(new Entry(name, function, at));
    }

    private void executionMode(int op, int at, int count) {
        requireOutside(op, at);
        int function = id(op, at, count, 1);
        int mode = operand(op, at, count, 2);
        if (mode == MODE_LOCAL_SIZE || mode == MODE_LOCAL_SIZE_ID) {
            int[] size = {operand(op, at, count, 3), operand(op, at, count, 4), operand(op, at, count, 5)};
            if (sizes.put(function, new Size(size, mode == MODE_LOCAL_SIZE_ID)) != null) {
                throw damaged(
                        "the size of workgroups of function %d is declared twice, again at word %d", function, at);
            }
        }
    }

    private void decorate(int at, int count) {
        int target = id(DECORATE, at, count, 1);
        int decoration = operand(DECORATE, at, count, 2);
        switch (decoration) {
            case DECORATION_DESCRIPTOR_SET -> sets.put(target, operand(DECORATE, at, count, 3));
            case DECORATION_BINDING -> bindings.put(target, operand(DECORATE, at, count, 3));
            case DECORATION_BUILT_IN -> {
                if (operand(DECORATE, at, count, 3) == BUILT_IN_WORKGROUP_SIZE) {
                    sizeConstant = target;
                }
            }
            case DECORATION_SPEC_ID, DECORATION_ARRAY_STRIDE ->
                types.decorate(target, decoration, operand(DECORATE, at, count, 3));
            case DECORATION_BUFFER_BLOCK -> types.decorate(target, decoration, 0);
            default -> {
                // unrelated to the use of resources
            }
        }
    }

    private void beginFunction(int at, int count) {
        requireOutside(FUNCTION, at);
        operand(FUNCTION, at, count, 4);
        int id = id(FUNCTION, at, count, 2);
        Function function = new Function();
        if (functions.put(id, function) != null) {
            throw damaged("function %d is declared twice, again at word %d", id, at);
        }
        open = function;
    }

    private void variable(int at, int count) {
        int type = id(VARIABLE, at, count, 1);
        int id = id(VARIABLE, at, count, 2);
        int storage = operand(VARIABLE, at, count, 3);
        if (open != null) {
            if (storage != STORAGE_FUNCTION) {
                throw damaged("variable %d at word %d is in a function, but not of its storage", id, at);
            }
            return;
        }
        variables.put(id, new Variable(types.pointee(type, at), storage));
        if (storage == STORAGE_BUFFER || storage == STORAGE_UNIFORM) {
            writes.define(id);
        } else if (storage == STORAGE_PUSH_CONSTANT) {
            addresses.definePushed(id);
        }
    }

    /** Records variables and functions referred to by an instruction of a body, where the grammar of the instruction has identifiers. */
    private void reference(Function function, int op, int at, int count) {
        switch (op) {
            case FUNCTION_CALL -> {
                function.calls.add(id(op, at, count, 3));
                referAll(function, at, 4, count);
            }
            case LOAD, ACCESS_CHAIN, IN_BOUNDS_ACCESS_CHAIN, PTR_ACCESS_CHAIN, IN_BOUNDS_PTR_ACCESS_CHAIN ->
                refer(function, id(op, at, count, 3));
            case ARRAY_LENGTH, COPY_OBJECT, IMAGE_TEXEL_POINTER, COOPERATIVE_MATRIX_LOAD ->
                refer(function, id(op, at, count, 3));
            case STORE, COOPERATIVE_MATRIX_STORE, ATOMIC_STORE -> refer(function, id(op, at, count, 1));
            case COPY_MEMORY, COPY_MEMORY_SIZED -> {
                refer(function, id(op, at, count, 1));
                refer(function, id(op, at, count, 2));
            }
            case SELECT, PHI -> referAll(function, at, 3, count);
            default -> {
                if (op >= ATOMIC_LOAD && op <= ATOMIC_XOR) {
                    refer(function, id(op, at, count, 3));
                } else if (op > COOPERATIVE_MATRIX_STORE) {
                    // An instruction of an extension: atomics on floats and the like. A literal may be taken for an
                    // identifier, without harm.
                    referAll(function, at, 3, count);
                }
            }
        }
    }

    private void refer(Function function, int id) {
        if (variables.containsKey(id)) {
            function.variables.add(id);
        }
    }

    private void referAll(Function function, int at, int from, int count) {
        for (int i = from; i < count; i++) {
            refer(function, word(at + i));
        }
    }

    private SpirvEntryPoint describe(Entry entry) {
        if (!functions.containsKey(entry.function())) {
            throw damaged(
                    "entry point '%s' at word %d is function %d, which does not exist",
                    printable(entry.name()), entry.at(), entry.function());
        }
        long workgroupBytes = 0;
        long pushConstants = 0;
        String foreign = null;
        Map<Long, SpirvResource> resources = new HashMap<>();
        for (int id : reachable(entry)) {
            Variable variable = variables.get(id);
            if (variable == null) {
                continue;
            }
            switch (variable.storage()) {
                case STORAGE_WORKGROUP -> workgroupBytes += types.size(variable.pointee());
                case STORAGE_PUSH_CONSTANT -> pushConstants = Math.max(pushConstants, types.size(variable.pointee()));
                case STORAGE_UNIFORM, STORAGE_BUFFER -> {
                    SpirvResource resource = resource(id, variable);
                    long place = (long) resource.set() << 32 | resource.binding();
                    SpirvResource other = resources.putIfAbsent(place, resource);
                    if (other != null && other.type() != resource.type()) {
                        throw damaged(
                                "binding %d of set %d is a storage buffer and a uniform buffer",
                                resource.binding(), resource.set());
                    }
                    if (other != null && resource.isWritten()) {
                        resources.put(place, resource); // the same memory, viewed as elements of another type
                    }
                }
                case STORAGE_UNIFORM_CONSTANT, STORAGE_IMAGE -> foreign = "an image or sampler";
                case STORAGE_ATOMIC_COUNTER -> foreign = "an atomic counter";
                default -> {
                    // built-in inputs, private variables
                }
            }
        }
        int[] size = workgroupSize(entry);
        return new SpirvEntryPoint(
                entry.name(),
                size[0],
                size[1],
                size[2],
                sizes.get(entry.function()) instanceof Size declared && declared.areIds(),
                workgroupBytes,
                (int) Math.min(pushConstants, Integer.MAX_VALUE),
                resources.values().stream().sorted(SpirvResource.ORDER).toList(),
                foreign);
    }

    private Set<Integer> reachable(Entry entry) {
        Set<Integer> used = new TreeSet<>();
        Set<Integer> seen = new HashSet<>(Set.of(entry.function()));
        ArrayDeque<Integer> pending = new ArrayDeque<>(seen);
        while (!pending.isEmpty()) {
            int id = pending.remove();
            Function function = functions.get(id);
            if (function == null) {
                throw damaged("function %d is called but does not exist", id);
            }
            used.addAll(function.variables);
            for (int callee : function.calls) {
                if (seen.add(callee)) {
                    pending.add(callee);
                }
            }
        }
        return used;
    }

    private SpirvResource resource(int id, Variable variable) {
        Integer set = sets.get(id);
        Integer binding = bindings.get(id);
        if (set == null || binding == null || set < 0 || binding < 0) {
            throw damaged("buffer %d has no descriptor set or no binding", id);
        }
        int block = types.element(variable.pointee());
        long count = types.count(variable.pointee());
        if (count <= 0 || count > Integer.MAX_VALUE) {
            throw damaged("binding %d of set %d is an array of %d buffers", binding, set, count);
        }
        boolean storage = variable.storage() == STORAGE_BUFFER || types.isBufferBlock(block);
        return new SpirvResource(
                set,
                binding,
                storage ? SpirvResource.STORAGE_BUFFER : SpirvResource.UNIFORM_BUFFER,
                (int) count,
                writes.contains(id));
    }

    private int[] workgroupSize(Entry entry) {
        // The constant decorated as the size of workgroups takes precedence over the execution mode.
        int[] size = sizeConstant >= 0 ? types.components(sizeConstant) : null;
        Size declared = sizes.get(entry.function());
        if (size == null && declared != null) {
            size = declared.values().clone();
            for (int i = 0; declared.areIds() && i < size.length; i++) {
                long value = types.value(size[i]);
                size[i] = value < 0 || value > Integer.MAX_VALUE ? 0 : (int) value;
            }
        }
        if (size == null || size.length != 3 || size[0] <= 0 || size[1] <= 0 || size[2] <= 0) {
            throw damaged(
                    "entry point '%s' declares %s",
                    printable(entry.name()),
                    size == null ? "no workgroup size" : "workgroups of " + Arrays.toString(size));
        }
        return size;
    }
}
