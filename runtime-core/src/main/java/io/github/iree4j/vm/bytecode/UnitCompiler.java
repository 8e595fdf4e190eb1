package io.github.iree4j.vm.bytecode;

import static java.lang.constant.ConstantDescs.CD_int;

import io.github.iree4j.vm.isa.Isa;
import io.github.iree4j.vm.isa.Op;
import java.lang.classfile.Attributes;
import java.lang.classfile.ClassBuilder;
import java.lang.classfile.ClassFile;
import java.lang.classfile.MethodModel;
import java.lang.classfile.attribute.CodeAttribute;
import java.lang.classfile.instruction.SwitchCase;
import java.lang.constant.ClassDesc;
import java.lang.constant.ConstantDescs;
import java.lang.constant.MethodTypeDesc;
import java.lang.invoke.MethodHandles;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Compiles functions of a module into one hidden class: a static method per function, and two more for calls from
 * outside and from interpreted frames. Functions that are too large are split into several methods, see {@link Part}.
 * The class is unloaded with the module.
 */
final class UnitCompiler {
    /** Bytes of bytecode above which HotSpot does not compile a method (-XX:HugeMethodLimit). */
    private static final int MAX_METHOD = 8000;

    /** Longs of code certain to exceed {@link #MAX_METHOD}. */
    private static final int MAX_LONGS = 2500;

    /** Longest function to split: more code would not fit the constants of a class. */
    private static final int MAX_SPLIT = 60_000;

    /** Instructions of a part, usually about 6000 bytes. */
    private static final int PART_NODES = 400;

    /**
     * The divisor of block sizes: blocks of a split function are limited to this fraction of a part, or, when a block
     * does not fit, to this fraction of the previous limit.
     */
    private static final int PIECES = 4;

    /** Longest code of a function in the file, in bytes; also limits operand lists, which are not counted in the longs. */
    private static final int MAX_BYTES = 1 << 20;

    private static final int MAX_ARGUMENTS = 120;
    private static final int MAX_REFS = 200;
    private static final ClassDesc UNIT = ClassDesc.of(CompiledUnit.class.getName());
    private static final ClassDesc STATE = OperationEmitter.STATE;
    private static final ClassDesc FRAME = MethodContext.FRAME;
    private static final ClassDesc EXECUTION = MethodContext.EXECUTION;

    private final FunctionCode[] functions;
    private final Isa isa;
    private final ModuleDef def;
    private final Map<Integer, RegisterPlan> plans = new TreeMap<>();

    /** Methods of parts, in the order of their numbers. */
    private List<PartPlan> parts = new ArrayList<>();

    /** For each split function by ordinal, {@code PIECES} times the limit on the instructions of a block. */
    private final Map<Integer, Integer> pieces = new TreeMap<>();

    /** Reasons why functions are not compiled, by ordinal. */
    private final Map<Integer, String> refused = new TreeMap<>();

    /**
     * The planned method of a part.
     *
     * @param ordinal the function
     * @param splitter splits the part again if the method is too large
     * @param uses the uses in the function
     * @param plan the plan of the part
     */
    private record PartPlan(int ordinal, Splitter splitter, RegisterPlan uses, RegisterPlan plan) {
        static PartPlan of(int ordinal, Splitter splitter, RegisterPlan uses, Part part) {
            return new PartPlan(ordinal, splitter, uses, uses.forPart(part));
        }

        Part part() {
            return Objects.requireNonNull(plan.part);
        }
    }

    /** Most longs of code of a function that is not split. */
    private final int maxWhole;

    /** Instructions of a part. */
    private final int partNodes;

    UnitCompiler(FunctionCode[] functions, Isa isa, ModuleDef def) {
        this(functions, isa, def, MAX_LONGS, PART_NODES);
    }

    UnitCompiler(FunctionCode[] functions, Isa isa, ModuleDef def, int maxWhole, int partNodes) {
        this.functions = functions;
        this.isa = isa;
        this.def = def;
        this.maxWhole = maxWhole;
        this.partNodes = partNodes;
    }

    /** Returns the reasons why functions were not compiled, by ordinal. */
    Map<Integer, String> refused() {
        return refused;
    }

    /**
     * Compiles as many of the functions as possible, and publishes the compiled functions to callers.
     *
     * @param wanted the functions
     * @param looping a function with threads in a loop, to move the threads out of the interpreter; null if there is
     *     none
     * @param pc an index in the loop
     */
    void compile(List<FunctionCode> wanted, @Nullable FunctionCode looping, int pc) {
        for (FunctionCode function : wanted) {
            prepare(function);
        }
        if (looping != null && !isSplit(looping.ordinal)) {
            prepareLoop(looping, pc);
        }
        while (!plans.isEmpty() || !parts.isEmpty()) {
            boolean[] contained = new boolean[functions.length];
            plans.keySet().forEach(ordinal -> contained[ordinal] = true);
            UnitLayout layout = new UnitLayout(functions, contained, deferring(contained));
            byte[] file = emit(layout);
            if (file.length != 0 && allFit(file)) {
                define(file, layout);
                return;
            }
        }
    }

    private boolean isSplit(int ordinal) {
        return parts.stream().anyMatch(part -> part.ordinal == ordinal);
    }

    private void prepare(FunctionCode function) {
        try {
            checkLimits(function);
            if (function.code.length > maxWhole) {
                split(function.ordinal);
            } else {
                plans.put(function.ordinal, RegisterPlan.of(graphOf(function, Integer.MAX_VALUE)));
            }
        } catch (NotCompiledException e) {
            refused.put(function.ordinal, String.valueOf(e.getMessage()));
        }
    }

    private void checkLimits(FunctionCode function) {
        if (function.code.length > MAX_SPLIT) {
            throw new NotCompiledException("%d instruction words".formatted(function.code.length));
        }
        if (function.convention.arguments().length() > MAX_ARGUMENTS) {
            throw new NotCompiledException(
                    "%d arguments".formatted(function.convention.arguments().length()));
        }
        if (function.refs > MAX_REFS) {
            throw new NotCompiledException("%d reference registers".formatted(function.refs));
        }
        ModuleDef.Function described = def.functions().get(function.ordinal);
        if (described.length() > MAX_BYTES) {
            throw new NotCompiledException("%d bytes of code".formatted(described.length()));
        }
    }

    private FunctionGraph graphOf(FunctionCode function, int maxNodes) {
        ModuleDef.Function described = def.functions().get(function.ordinal);
        byte[] body = Arrays.copyOfRange(def.bytecode(), described.offset(), described.offset() + described.length());
        return new FunctionGraph(function, isa, body, maxNodes);
    }

    /** Splits a function too large for a method; on repetition, into blocks of fewer instructions. */
    private void split(int ordinal) {
        int piece = pieces.merge(ordinal, partNodes, (before, all) -> before / PIECES);
        FunctionGraph graph = graphOf(functions[ordinal], Math.max(1, piece / PIECES));
        RegisterPlan uses = RegisterPlan.usesOf(graph);
        Splitter splitter = new Splitter(graph);
        for (Part part : splitter.parts(partNodes)) {
            parts.add(PartPlan.of(ordinal, splitter, uses, part));
        }
    }

    /** Creates a part of the blocks reachable from the innermost loop around an instruction. */
    private void prepareLoop(FunctionCode function, int pc) {
        try {
            checkLimits(function);
            FunctionGraph graph = graphOf(function, Integer.MAX_VALUE);
            int header = graph.innermostLoopAt(pc);
            if (header >= 0) {
                RegisterPlan uses = RegisterPlan.usesOf(graph);
                parts.add(PartPlan.of(function.ordinal, new Splitter(graph), uses, Part.from(graph, header)));
            }
        } catch (NotCompiledException e) {
            refused.put(function.ordinal, String.valueOf(e.getMessage()));
        }
    }

    /** Splits a function too large for a method. */
    private void retreat(int ordinal, String reason) {
        plans.remove(ordinal);
        try {
            if (isSplit(ordinal)) {
                throw new NotCompiledException(reason); // a loop of the function is a part already
            }
            split(ordinal);
        } catch (NotCompiledException e) {
            refused.put(ordinal, reason);
        }
    }

    /** Splits parts too large for a method further. */
    private void retreat(Map<Integer, String> tooLarge) {
        List<PartPlan> kept = new ArrayList<>();
        Set<Integer> smaller = new TreeSet<>(); // functions with a block too large for a method
        for (int i = 0; i < parts.size(); i++) {
            PartPlan part = parts.get(i);
            String reason = tooLarge.get(i);
            if (reason == null) {
                kept.add(part);
                continue;
            }
            List<Part> halves = part.splitter.halves(part.part());
            if (halves.isEmpty()) {
                if (pieces.getOrDefault(part.ordinal, 0) > PIECES) {
                    smaller.add(part.ordinal);
                } else {
                    refused.put(part.ordinal, "a block: " + reason);
                }
            }
            for (Part half : halves) {
                kept.add(PartPlan.of(part.ordinal, part.splitter, part.uses, half));
            }
        }
        kept.removeIf(part -> smaller.contains(part.ordinal));
        parts = kept;
        smaller.forEach(this::split);
    }

    /** Finds the functions that may defer by yielding, calling imports, or calling functions that may defer. */
    private boolean[] deferring(boolean[] contained) {
        boolean[] deferring = new boolean[functions.length];
        boolean changed = true;
        while (changed) {
            changed = false;
            for (Map.Entry<Integer, RegisterPlan> entry : plans.entrySet()) {
                int ordinal = entry.getKey();
                if (!deferring[ordinal] && mayDefer(entry.getValue().graph, contained, deferring)) {
                    deferring[ordinal] = true;
                    changed = true;
                }
            }
        }
        return deferring;
    }

    private static boolean mayDefer(FunctionGraph graph, boolean[] contained, boolean[] deferring) {
        for (FunctionGraph.Block block : graph.blocks) {
            for (FunctionGraph.Node node : block.nodes()) {
                if (node.op == Op.YIELD
                        || node.site != null
                                && (node.site.isImport
                                        || !contained[node.site.callee]
                                        || deferring[node.site.callee])) {
                    return true;
                }
            }
        }
        return false;
    }

    /** Returns the class file; empty when a function could not be compiled and was removed. */
    private byte[] emit(UnitLayout layout) {
        List<Integer> ordinals = new ArrayList<>(plans.keySet());
        int[] current = {-1};
        int[] currentPart = {-1};
        try {
            return ClassFile.of().build(layout.self(), type -> {
                type.withSuperclass(UNIT).withFlags(ClassFile.ACC_FINAL);
                constructor(type);
                for (int ordinal : ordinals) {
                    current[0] = ordinal;
                    method(type, layout, ordinal);
                }
                current[0] = -1;
                for (int i = 0; i < parts.size(); i++) {
                    currentPart[0] = i;
                    RegisterPlan plan = parts.get(i).plan;
                    type.withMethodBody(
                            "p" + i,
                            FunctionEmitter.PART,
                            ClassFile.ACC_STATIC,
                            code -> FunctionEmitter.emit(code, plan, layout));
                }
                currentPart[0] = -1;
                dispatchParts(type, layout);
                dispatch(type, layout, ordinals, "enter", "e", EntryEmitter.ENTER);
                dispatch(type, layout, ordinals, "call", "c", EntryEmitter.CALLED);
            });
        } catch (NotCompiledException | IllegalArgumentException e) {
            if (currentPart[0] >= 0) {
                retreat(Map.of(currentPart[0], String.valueOf(e.getMessage())));
            } else if (current[0] >= 0) {
                retreat(current[0], String.valueOf(e.getMessage()));
            } else if (!retreatFromHuge(layout, ordinals)) {
                throw e;
            }
            return new byte[0];
        }
    }

    /**
     * Handles methods above 64 KiB. After receiving all methods, the JDK refuses the class without naming the methods.
     *
     * @return whether there were such methods
     */
    private boolean retreatFromHuge(UnitLayout layout, List<Integer> ordinals) {
        Map<Integer, String> tooLarge = new TreeMap<>();
        for (int i = 0; i < parts.size(); i++) {
            RegisterPlan plan = parts.get(i).plan;
            String reason = refusal(
                    layout,
                    type -> type.withMethodBody(
                            "p",
                            FunctionEmitter.PART,
                            ClassFile.ACC_STATIC,
                            code -> FunctionEmitter.emit(code, plan, layout)));
            if (reason != null) {
                tooLarge.put(i, reason);
            }
        }
        boolean found = !tooLarge.isEmpty();
        retreat(tooLarge); // before functions add parts
        for (int ordinal : ordinals) {
            String reason = refusal(layout, type -> method(type, layout, ordinal));
            if (reason != null) {
                retreat(ordinal, reason);
                found = true;
            }
        }
        return found;
    }

    /**
     * Returns why the method of a function or part is too large; null if not. The class for the answer is not used. Its
     * method is shorter than the method of the unit, as instructions are shorter where the class has few constants, so a
     * method above {@link #MAX_METHOD} is too large even where the JDK accepts the method alone.
     */
    private static @Nullable String refusal(UnitLayout layout, Consumer<ClassBuilder> method) {
        try {
            byte[] file = ClassFile.of().build(layout.self(), method);
            return ClassFile.of().parse(file).methods().stream()
                    .filter(each -> codeLength(each) > MAX_METHOD)
                    .findFirst()
                    .map(UnitCompiler::tooLarge)
                    .orElse(null);
        } catch (IllegalArgumentException e) {
            return String.valueOf(e.getMessage());
        }
    }

    private static void constructor(ClassBuilder type) {
        type.withMethodBody(
                ConstantDescs.INIT_NAME,
                ConstantDescs.MTD_void,
                0,
                code -> code.aload(0)
                        .invokespecial(UNIT, ConstantDescs.INIT_NAME, ConstantDescs.MTD_void)
                        .return_());
    }

    private void method(ClassBuilder type, UnitLayout layout, int ordinal) {
        FunctionCode function = functions[ordinal];
        RegisterPlan plan = Objects.requireNonNull(plans.get(ordinal));
        type.withMethodBody(
                layout.methodOf(ordinal),
                FunctionEmitter.typeOf(function),
                ClassFile.ACC_STATIC,
                code -> FunctionEmitter.emit(code, plan, layout));
        type.withMethodBody(
                "e" + ordinal,
                EntryEmitter.ENTER,
                ClassFile.ACC_STATIC,
                code -> EntryEmitter.enter(code, layout, function));
        type.withMethodBody(
                "c" + ordinal,
                EntryEmitter.CALLED,
                ClassFile.ACC_STATIC,
                code -> EntryEmitter.called(code, layout, function));
    }

    private static void dispatch(
            ClassBuilder type,
            UnitLayout layout,
            List<Integer> ordinals,
            String name,
            String prefix,
            MethodTypeDesc target) {
        MethodTypeDesc own = target.insertParameterTypes(0, CD_int);
        type.withMethodBody(name, own, 0, code -> {
            if (ordinals.isEmpty()) {
                code.iconst_0().ireturn(); // a class of parts
                return;
            }
            for (int i = 0; i < target.parameterCount(); i++) {
                code.aload(2 + i);
            }
            List<SwitchCase> cases = new ArrayList<>();
            for (int i = 0; i < ordinals.size(); i++) {
                cases.add(SwitchCase.of(i, code.newLabel()));
            }
            code.iload(1);
            code.tableswitch(0, cases.size() - 1, cases.getLast().target(), cases);
            for (int i = 0; i < ordinals.size(); i++) {
                code.labelBinding(cases.get(i).target());
                code.invokestatic(layout.self(), prefix + ordinals.get(i), target)
                        .ireturn();
            }
        });
    }

    /** Emits the dispatch to parts, with a number for each entry of all parts. */
    private void dispatchParts(ClassBuilder type, UnitLayout layout) {
        MethodTypeDesc own = MethodTypeDesc.of(CD_int, CD_int, EXECUTION, FRAME, STATE);
        type.withMethodBody("part", own, 0, code -> {
            List<SwitchCase> cases = new ArrayList<>();
            for (PartPlan part : parts) {
                for (int i = 0; i < part.part().entries.length; i++) {
                    cases.add(SwitchCase.of(cases.size(), code.newLabel()));
                }
            }
            if (cases.isEmpty()) {
                code.iconst_0().ireturn(); // a class of functions
                return;
            }
            code.aload(2).aload(3).aload(4);
            code.iload(1);
            code.tableswitch(0, cases.size() - 1, cases.getLast().target(), cases);
            int next = 0;
            for (int p = 0; p < parts.size(); p++) {
                for (int i = 0; i < parts.get(p).part().entries.length; i++) {
                    code.labelBinding(cases.get(next++).target());
                    code.loadConstant(i).invokestatic(layout.self(), "p" + p, FunctionEmitter.PART);
                    code.ireturn();
                }
            }
        });
    }

    private boolean allFit(byte[] file) {
        boolean fit = true;
        Map<Integer, String> tooLarge = new TreeMap<>();
        for (MethodModel method : ClassFile.of().parse(file).methods()) {
            String name = method.methodName().stringValue();
            if (codeLength(method) <= MAX_METHOD || !name.matches("[fp][0-9]+")) {
                continue;
            }
            fit = false;
            int number = Integer.parseInt(name.substring(1));
            String reason = tooLarge(method);
            if (name.startsWith("f")) {
                retreat(number, reason);
            } else {
                tooLarge.put(number, reason);
            }
        }
        if (!tooLarge.isEmpty()) {
            retreat(tooLarge);
        }
        return fit;
    }

    private static int codeLength(MethodModel method) {
        return method.findAttribute(Attributes.code())
                .map(CodeAttribute::codeLength)
                .orElse(0);
    }

    private static String tooLarge(MethodModel method) {
        return "%d bytes of Java bytecode".formatted(codeLength(method));
    }

    private void define(byte[] file, UnitLayout layout) {
        CompiledUnit unit;
        try {
            Class<?> type = MethodHandles.lookup()
                    .defineHiddenClassWithClassData(file, List.copyOf(layout.constants()), true)
                    .lookupClass();
            unit = (CompiledUnit) type.getDeclaredConstructor().newInstance();
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
        int index = 0;
        for (int ordinal : plans.keySet()) {
            functions[ordinal].setCompiled(new CompiledUnit.Entry(unit, index++));
        }
        index = 0;
        for (PartPlan part : parts) {
            int[] entries = part.part().entries;
            int[] pcs = new int[entries.length];
            int[] indices = new int[entries.length];
            for (int i = 0; i < entries.length; i++) {
                pcs[i] = part.plan.graph.blocks.get(entries[i]).pc();
                indices[i] = index++;
            }
            FunctionCode function = functions[part.ordinal];
            function.setParts(CompiledParts.add(function, function.parts(), pcs, unit, indices));
        }
    }
}
