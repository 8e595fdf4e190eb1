package io.github.iree4j.vm.bytecode;

import io.github.iree4j.vm.asm.VmAssembler;
import io.github.iree4j.vm.isa.Field;
import io.github.iree4j.vm.isa.Isa;
import io.github.iree4j.vm.isa.Op;
import io.github.iree4j.vm.isa.Opcode;
import io.github.iree4j.vm.isa.OpcodeSet;
import io.github.iree4j.vm.isa.RegisterType;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentHashMap;

/**
 * A module of random functions acceptable to the verifier: every operation, registers reused as other types, branches
 * in any direction, calls of each other and of imports, yields.
 *
 * <p>The functions terminate: each backward jump burns fuel, a global filled by the caller, and functions call only
 * later functions. NaN results of float arithmetic are replaced by a fixed NaN, since the processor picks the NaN by
 * the order of operands.
 */
final class RandomProgram {
    static final int FUNCTIONS = 4;
    static final int GLOBAL_BYTES = 64;
    static final int GLOBAL_REFS = 5;
    static final int FUEL_OFFSET = 64;

    /** Arguments and results of the functions. */
    static final List<String> SIGNATURES = List.of("0iIfFrr_iIfFr", "0iI_I", "0rfi_r", "0v_v", "0Fi_f", "0irI_rr");

    private static final int WORDS = 14;
    private static final int SCRATCH = WORDS;
    private static final int ALL_WORDS = WORDS + 10;
    private static final int REFS = 9;
    private static final int PLACEHOLDER = 700;

    private static final String HEAD = """
            vm.module @m version 0
            vm.type i32
            vm.type i64
            vm.type f32
            vm.type i8
            vm.type !vm.opaque
            vm.type !vm.buffer
            vm.type !vm.list<i32>
            vm.type !test.counted
            vm.import @host.add cconv "0ii_i"
            vm.import @host.mixed cconv "0iIfFr_FfIir"
            vm.import @host.sum cconv "0CiDI_I"
            vm.import @host.yield_n cconv "0ii_i"
            vm.import @host.fail cconv "0i_v"
            vm.import @host.counted cconv "0v_r"
            vm.import @host.keep cconv "0r_r"
            vm.import optional @host.missing cconv "0v_v"
            vm.rodata[0] = 000102030405060708090A0B0C0D0E0F101112131415161718191A1B1C1D1E1F
            vm.rodata[1] = FF
            vm.state bytes 68 refs 5
            """;

    private static final String TAIL = """
            vm.export @poke
            vm.func @poke(%i0: i32, %i1: i32) -> () {
            ^bb0:
              vm.global.store.indirect.i32 %i0, %i1
              vm.return
            }
            vm.export @peek
            vm.func @peek(%i0: i32) -> (i32) {
            ^bb0:
              %i1 = vm.global.load.indirect.i32 %i0
              vm.return %i1
            }
            vm.export @peek_ref
            vm.func @peek_ref(%i0: i32) -> (!vm.opaque) {
            ^bb0:
              %r0 = vm.global.load.indirect.ref %i0 : !vm.opaque
              vm.return %r0
            }
            """;

    /**
     * Templates by the signatures of the functions. Assembling a program takes longer than everything done with a
     * program.
     */
    private static final Map<List<String>, Template> TEMPLATES = new ConcurrentHashMap<>();

    private final SplittableRandom random;
    private final Isa isa = Isa.V17_0;
    private final List<String> signatures = new ArrayList<>();
    private final List<Opcode> plain = new ArrayList<>();
    private Body body = new Body();
    private int function;

    /** Branch targets to be filled in, with their places. */
    private final List<int[]> targets = new ArrayList<>();

    private int blocks;
    private int current;
    private final List<Integer> guards = new ArrayList<>();

    RandomProgram(long seed) {
        random = new SplittableRandom(seed);
        for (Opcode opcode : isa.opcodes()) {
            if (!opcode.isTerminator()
                    && !opcode.isBlock()
                    && opcode.op() != Op.CALL
                    && opcode.op() != Op.CALL_VARIADIC) {
                plain.add(opcode);
            }
        }
    }

    List<String> signatures() {
        return signatures;
    }

    /** Creates the module's file. */
    byte[] toFile() {
        for (int i = 0; i < FUNCTIONS; i++) {
            signatures.add(SIGNATURES.get(i == 0 ? 0 : random.nextInt(SIGNATURES.size())));
        }
        Template template = TEMPLATES.computeIfAbsent(List.copyOf(signatures), Template::of);
        byte[] file = template.file.clone();
        ByteBuffer out = ByteBuffer.wrap(file).order(ByteOrder.LITTLE_ENDIAN);
        for (function = 0; function < FUNCTIONS; function++) {
            byte[] bytes = function();
            if (bytes.length > template.room[function]) {
                throw new IllegalStateException("a body of %d bytes".formatted(bytes.length));
            }
            int descriptor = template.descriptors[function];
            out.put(template.bodies[function], bytes);
            out.putInt(descriptor + 4, bytes.length);
            out.putInt(descriptor + 8, 7);
            out.putShort(descriptor + 14, (short) blocks);
            out.putShort(descriptor + 16, (short) ALL_WORDS);
            out.putShort(descriptor + 18, (short) REFS);
        }
        return file;
    }

    /**
     * A module with room for random function bodies, with their places.
     *
     * @param room bytes for the body of each function
     * @param bodies where each begins in the file
     * @param descriptors where the descriptor of each begins
     */
    private record Template(byte[] file, int[] room, int[] bodies, int[] descriptors) {
        static Template of(List<String> signatures) {
            StringBuilder text = new StringBuilder(HEAD);
            for (int i = 0; i < FUNCTIONS; i++) { // exports come before functions
                text.append("vm.export @f").append(i).append('\n');
            }
            TAIL.lines()
                    .filter(line -> line.startsWith("vm.export"))
                    .forEach(line -> text.append(line).append('\n'));
            for (int i = 0; i < FUNCTIONS; i++) {
                placeholder(text, i, signatures.get(i));
            }
            TAIL.lines()
                    .filter(line -> !line.startsWith("vm.export"))
                    .forEach(line -> text.append(line).append('\n'));
            byte[] file = VmAssembler.assemble(text.toString());
            ModuleDef def = ModuleDef.read(MemorySegment.ofArray(file), ModuleLimits.DEFAULTS);
            int code = Body.find(file, def.bytecode());
            Template template = new Template(file, new int[FUNCTIONS], new int[FUNCTIONS], new int[FUNCTIONS]);
            for (int i = 0; i < FUNCTIONS; i++) {
                ModuleDef.Function described = def.functions().get(i);
                template.room[i] = described.length();
                template.bodies[i] = code + described.offset();
                template.descriptors[i] = Body.find(file, Body.descriptor(described));
            }
            return template;
        }
    }

    private static void placeholder(StringBuilder text, int index, String signature) {
        text.append("vm.func @f").append(index).append("() -> () {\n");
        text.append("  vm.cconv \"").append(signature).append("\"\n  vm.requires EXT_F32|EXT_F64|YIELD\n");
        text.append("^bb0:\n");
        // Different lengths, for different descriptors.
        for (int i = 0; i < PLACEHOLDER + index; i++) {
            text.append("  %i0:1 = vm.const.i64 1\n");
        }
        text.append("  %i0 = vm.const.i32 1\n  vm.fail %i0, \"\"\n}\n");
    }

    private byte[] function() {
        for (int size = 12; ; size--) {
            body = new Body();
            targets.clear();
            guards.clear();
            int ordinary = 1 + random.nextInt(7);
            List<Integer> starts = new ArrayList<>();
            for (current = 0; current < ordinary; current++) {
                starts.add(body.size());
                body.block();
                if (current == 0) {
                    prologue();
                }
                int count = random.nextInt(size + 1);
                for (int i = 0; i < count; i++) {
                    instruction();
                }
                terminator(ordinary);
            }
            // Backward jumps pass through these; without fuel they end in the last block.
            for (int i = 0; i < guards.size(); i++) {
                starts.add(body.size());
                guard(guards.get(i), ordinary + guards.size());
            }
            starts.add(body.size());
            body.block();
            if (random.nextInt(3) == 0) {
                body.op("const.i32").u32(8).u16(SCRATCH).op("fail").u16(SCRATCH).u16(0);
            } else {
                results();
            }
            blocks = ordinary + guards.size() + 1;
            byte[] bytes = body.toByteArray();
            ByteBuffer patched = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
            for (int[] target : targets) {
                int block = target[1] < 0 ? ordinary + ~target[1] : target[1];
                patched.putInt(target[0], starts.get(block));
            }
            if (bytes.length <= 14 * PLACEHOLDER - 16 || size == 1) {
                return bytes;
            }
        }
    }

    /** Sets up objects for references, and a NaN to replace others by. */
    private void prologue() {
        body.op("const.f32").u32(0x7FC00000).u16(SCRATCH + 1);
        body.op("const.f64").u32(0).u32(0x7FF80000).u16(SCRATCH + 2);
        if (random.nextInt(8) == 0) {
            return;
        }
        body.op("const.i64").u32(48).u32(0).u16(SCRATCH + 4);
        body.op("const.i32").u32(8).u16(SCRATCH);
        body.op("buffer.alloc").u16(SCRATCH + 4).u16(SCRATCH).u16(Body.REF | REFS - 1);
        body.op("list.alloc").u32(0).u16(SCRATCH).u16(Body.REF | REFS - 2);
        body.op("list.resize").u16(Body.REF | REFS - 2).u16(SCRATCH);
        body.op("list.alloc").u32(4).u16(SCRATCH).u16(Body.REF | REFS - 3);
        body.op("list.resize").u16(Body.REF | REFS - 3).u16(SCRATCH);
        body.op("const.ref.rodata").u32(0).u16(Body.REF | REFS - 4);
    }

    private void guard(int target, int exit) {
        body.block();
        body.op("global.load.i32").u32(FUEL_OFFSET).u16(SCRATCH);
        body.op("const.i32").u32(1).u16(SCRATCH + 6);
        body.op("sub.i32").u16(SCRATCH, SCRATCH + 6, SCRATCH);
        body.op("global.store.i32").u32(FUEL_OFFSET).u16(SCRATCH);
        body.op("const.i32").u32(0).u16(SCRATCH + 6);
        body.op("cmp.lt.i32.s").u16(SCRATCH + 6, SCRATCH, SCRATCH);
        body.op("cond_br").u16(SCRATCH);
        target(target);
        remap(random.nextInt(3));
        target(exit);
        body.list();
    }

    /** Writes a target to be filled in later; a backward jump goes through a guard. */
    private void target(int block) {
        targets.add(new int[] {body.size(), block});
        body.u32(0);
    }

    private int jumpTo(int ordinary) {
        int block = random.nextInt(ordinary);
        if (block > current) {
            return block;
        }
        guards.add(block);
        return ~(guards.size() - 1);
    }

    private void terminator(int ordinary) {
        switch (random.nextInt(12)) {
            case 0, 1 -> {
                body.op(random.nextBoolean() ? "br" : "break");
                edge(ordinary);
            }
            case 2, 3, 4, 5 -> {
                if (random.nextBoolean()) {
                    int condition = narrow();
                    String comparison = List.of("cmp.lt.i32.s", "cmp.eq.i32", "cmp.ne.i32", "cmp.lt.i32.u")
                            .get(random.nextInt(4));
                    body.op(comparison).u16(narrow(), narrow(), condition);
                    body.op("cond_br").u16(condition);
                } else {
                    body.op("cond_br").u16(narrow());
                }
                edge(ordinary);
                edge(ordinary);
            }
            case 6 -> {
                body.op("br_table").u16(narrow());
                edge(ordinary);
                int cases = random.nextInt(4);
                body.u16(cases);
                for (int i = 0; i < cases; i++) {
                    edge(ordinary);
                }
            }
            case 7 -> {
                body.op("yield");
                edge(ordinary);
            }
            case 8 -> {
                body.op("const.i32").u32(random.nextInt(3)).u16(SCRATCH + 7);
                body.op("call.yieldable").u32(Body.IMPORT | 3).list(narrow(), SCRATCH + 7);
                target(jumpTo(ordinary));
                body.list(narrow());
            }
            case 9 -> {
                if (random.nextInt(4) == 0) {
                    body.op("fail").u16(narrow()).u16(2).u8('n').u8('o');
                } else {
                    results();
                }
            }
            default -> results();
        }
    }

    private void results() {
        String letters =
                signatures.get(function).substring(signatures.get(function).indexOf('_') + 1);
        body.op("return").list(registers(letters, true));
    }

    private void edge(int ordinary) {
        target(jumpTo(ordinary));
        remap(random.nextInt(4));
    }

    private void remap(int count) {
        List<Integer> pairs = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            switch (random.nextInt(3)) {
                case 0 -> {
                    pairs.add(movable());
                    pairs.add(ref());
                }
                case 1 -> {
                    pairs.add(narrow());
                    pairs.add(narrow());
                }
                default -> {
                    int from = wide();
                    int to = wide();
                    pairs.addAll(List.of(from, to, from + 1, to + 1));
                }
            }
        }
        body.remap(pairs.stream().mapToInt(i -> i).toArray());
    }

    private int[] registers(String letters, boolean movable) {
        if (letters.equals("v")) {
            return new int[0];
        }
        int[] registers = new int[letters.length()];
        for (int i = 0; i < registers.length; i++) {
            registers[i] = switch (letters.charAt(i)) {
                case 'i', 'f' -> narrow();
                case 'I', 'F' -> wide();
                default -> movable ? movable() : ref();
            };
        }
        return registers;
    }

    private int narrow() {
        return random.nextInt(WORDS);
    }

    private int wide() {
        return 2 * random.nextInt(WORDS / 2);
    }

    private int ref() {
        return Body.REF | random.nextInt(REFS);
    }

    private int movable() {
        return random.nextInt(3) == 0 ? Body.MOVE | random.nextInt(REFS) : ref();
    }

    private void instruction() {
        int kind = random.nextInt(20);
        if (kind == 0 && function + 1 < FUNCTIONS) {
            int callee = function + 1 + random.nextInt(FUNCTIONS - function - 1);
            String[] parts = signatures.get(callee).substring(1).split("_");
            body.op("call").u32(callee).list(registers(parts[0], true));
            body.list(registers(parts[1], false));
        } else if (kind == 1) {
            importCall();
        } else if (kind < 5) {
            constant();
        } else {
            operation(plain.get(random.nextInt(plain.size())));
        }
    }

    private void importCall() {
        switch (random.nextInt(8)) {
            case 0, 1 ->
                body.op("call").u32(Body.IMPORT).list(narrow(), narrow()).list(narrow());
            case 2 ->
                body.op("call")
                        .u32(Body.IMPORT | 1)
                        .list(registers("iIfFr", true))
                        .list(registers("FfIir", false));
            case 3 ->
                body.op("call.variadic")
                        .u32(Body.IMPORT | 2)
                        .list(2, 0xFFFF)
                        .list(narrow(), narrow(), wide())
                        .list(wide());
            case 4 -> {
                body.op("const.i32").u32(random.nextInt(3)).u16(SCRATCH + 7);
                body.op("call").u32(Body.IMPORT | 3).list(narrow(), SCRATCH + 7).list(narrow());
            }
            case 5 -> body.op("call").u32(Body.IMPORT | 5).list().list(ref());
            case 6 -> body.op("call").u32(Body.IMPORT | 6).list(movable()).list(ref());
            default -> {
                int callee = random.nextInt(6) == 0 ? 4 : 0;
                if (callee == 4) {
                    body.op("call").u32(Body.IMPORT | 4).list(narrow()).list();
                } else {
                    body.op("import.resolved").u32(Body.IMPORT | 7).u16(narrow());
                }
            }
        }
    }

    private void constant() {
        int[] values = {0, 1, 2, 3, 4, 5, 7, 8, 31, 32, 40, -1, 255, 65536, Integer.MIN_VALUE, Integer.MAX_VALUE};
        int value = values[random.nextInt(values.length)];
        switch (random.nextInt(4)) {
            case 0 -> body.op("const.i32").u32(value).u16(narrow());
            case 1 -> body.op("const.i64").u32(value).u32(value >> 31).u16(wide());
            case 2 ->
                body.op("const.f32").u32(Float.floatToRawIntBits(value / 2f)).u16(narrow());
            default -> {
                long bits = Double.doubleToRawLongBits(value / 2.0);
                body.op("const.f64").u32((int) bits).u32((int) (bits >>> 32)).u16(wide());
            }
        }
    }

    /** Puts a small number where the operation takes an index, an offset or a divisor; -1 if none is taken. */
    private int index(Opcode opcode) {
        int register = SCRATCH + 8;
        String name = opcode.mnemonic();
        if (name.startsWith("buffer.")) {
            body.op("const.i64").u32(random.nextInt(5)).u32(0).u16(register);
        } else if (name.matches("(div|rem)\\.i64.*")) {
            body.op("const.i64").u32(1 + random.nextInt(9)).u32(0).u16(register);
        } else if (name.startsWith("list.") || name.contains(".indirect.ref")) {
            body.op("const.i32").u32(random.nextInt(GLOBAL_REFS)).u16(register);
        } else if (name.contains(".indirect.")) {
            body.op("const.i32").u32(random.nextInt(GLOBAL_BYTES - 8)).u16(register);
        } else if (name.matches("(div|rem)\\.i32.*")) {
            body.op("const.i32").u32(1 + random.nextInt(9)).u16(register);
        } else {
            return -1;
        }
        return register;
    }

    /** A reference register, usually set by the prologue as needed by the operation. */
    private int reference(Opcode opcode, Field field, int position) {
        String name = opcode.mnemonic();
        int which = random.nextInt(REFS - 4);
        if (random.nextInt(12) == 0) {
            which = random.nextInt(REFS);
        } else if (name.startsWith("buffer.") && !field.result()) {
            boolean writes = name.contains("store") || name.contains("fill") || name.contains("copy");
            which = REFS - (writes || random.nextBoolean() ? 1 : 4);
        } else if (name.startsWith("list.") && position == 0 && !field.result()) {
            which = REFS - (name.endsWith(".ref") ? 3 : 2);
        }
        return (field.movable() && random.nextInt(5) == 0 ? Body.MOVE : Body.REF) | which;
    }

    /** Any operation with any operands of the right bank, but usually without a failure. */
    private void operation(Opcode opcode) {
        int index = random.nextInt(8) == 0 ? -1 : index(opcode);
        RegisterType indexType =
                opcode.mnemonic().startsWith("buffer.") || opcode.mnemonic().contains(".i64.")
                        ? RegisterType.I64
                        : RegisterType.I32;
        int result = -1;
        RegisterType resultType = RegisterType.ANY;
        body.op(opcode.mnemonic());
        List<Field> fields = opcode.fields();
        for (int i = 0; i < fields.size(); i++) {
            Field field = fields.get(i);
            switch (field.kind()) {
                case REGISTER -> {
                    int register;
                    if (field.type() == RegisterType.REF) {
                        register = reference(opcode, field, i);
                    } else if (index >= 0 && !field.result() && field.type() == indexType) {
                        register = index;
                    } else {
                        register = field.type().isWide() ? wide() : narrow();
                    }
                    if (field.result()) {
                        result = register;
                        resultType = field.type();
                    }
                    body.u16(register);
                }
                case CONST_I32, CONST_F32 -> body.u32(random.nextInt(100));
                case CONST_I64, CONST_F64 -> body.u32(random.nextInt(100)).u32(0);
                case GLOBAL_OFFSET ->
                    body.u32(random.nextInt(GLOBAL_BYTES - (fields.get(1).type().isWide() ? 8 : 4) + 1));
                case GLOBAL_REF -> body.u32(random.nextInt(GLOBAL_REFS));
                case RODATA -> body.u32(random.nextInt(2));
                case FUNCTION -> body.u32(Body.IMPORT | random.nextInt(8));
                case TYPE -> body.u32(random.nextInt(4) == 0 ? random.nextInt(8) : 4);
                case STRING -> body.u16(2).u8('h').u8('i');
                case OPERANDS -> {
                    int[] registers = new int[random.nextInt(4)];
                    for (int k = 0; k < registers.length; k++) {
                        registers[k] = switch (field.type()) {
                            case REF -> movable();
                            case ANY -> random.nextBoolean() ? movable() : narrow();
                            default -> field.type().isWide() ? wide() : narrow();
                        };
                    }
                    body.list(registers);
                }
                default -> throw new IllegalStateException(field.toString());
            }
        }
        if (opcode.set() != OpcodeSet.CORE && result >= 0) {
            if (resultType == RegisterType.F32) {
                body.op("cmp.nan.f32").u16(result, SCRATCH);
                body.op("select.f32").u16(SCRATCH, SCRATCH + 1, result, result);
            } else if (resultType == RegisterType.F64) {
                body.op("cmp.nan.f64").u16(result, SCRATCH);
                body.op("select.f64").u16(SCRATCH, SCRATCH + 2, result, result);
            }
        }
    }
}
