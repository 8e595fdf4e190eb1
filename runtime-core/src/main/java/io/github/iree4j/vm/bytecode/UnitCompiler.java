package io.github.iree4j.vm.bytecode;

import static io.github.iree4j.vm.bytecode.FunctionGraph.R;
import static java.lang.constant.ConstantDescs.CD_Object;
import static java.lang.constant.ConstantDescs.CD_boolean;
import static java.lang.constant.ConstantDescs.CD_int;
import static java.lang.constant.ConstantDescs.CD_void;

import io.github.iree4j.vm.VmCall;
import io.github.iree4j.vm.isa.Isa;
import io.github.iree4j.vm.isa.Op;
import java.lang.classfile.Attributes;
import java.lang.classfile.ClassBuilder;
import java.lang.classfile.ClassFile;
import java.lang.classfile.CodeBuilder;
import java.lang.classfile.Label;
import java.lang.classfile.MethodModel;
import java.lang.classfile.TypeKind;
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
import java.util.TreeMap;

/**
 * Compiles functions of a module into one hidden class: a static method per function, and two per function by which it is called from
 * outside and from interpreted frames. The class goes when the module does.
 */
final class UnitCompiler {
    /** HotSpot compiles no method above this many bytes of bytecode (-XX:HugeMethodLimit). */
    private static final int MAX_METHOD = 8000;

    /** No method of fewer longs than this becomes longer than that. */
    private static final int MAX_LONGS = 2500;

    /** Lists of operands are not in those longs. */
    private static final int MAX_BYTES = 64 << 10;

    private static final int MAX_ARGUMENTS = 120;
    private static final int MAX_REFS = 200;
    private static final ClassDesc CALL = ClassDesc.of(VmCall.class.getName());
    private static final ClassDesc UNIT = ClassDesc.of(CompiledUnit.class.getName());
    private static final ClassDesc OPERATIONS = OperationEmitter.OPERATIONS;
    private static final ClassDesc STATE = OperationEmitter.STATE;
    private static final ClassDesc FRAME = FunctionEmitter.FRAME;
    private static final ClassDesc EXECUTION = FunctionEmitter.EXECUTION;
    private static final ClassDesc SITE = FunctionEmitter.SITE;
    private static final MethodTypeDesc ENTER = MethodTypeDesc.of(CD_boolean, EXECUTION, STATE, CALL, FRAME);
    private static final MethodTypeDesc CALLED = MethodTypeDesc.of(CD_boolean, EXECUTION, STATE, FRAME, SITE);

    private final FunctionCode[] functions;
    private final Isa isa;
    private final ModuleDef def;
    private final Map<Integer, RegisterPlan> plans = new TreeMap<>();

    /** Why functions are not compiled, by ordinal. */
    private final Map<Integer, String> refused = new TreeMap<>();

    UnitCompiler(FunctionCode[] functions, Isa isa, ModuleDef def) {
        this.functions = functions;
        this.isa = isa;
        this.def = def;
    }

    /** Returns why functions were not compiled, by ordinal. */
    Map<Integer, String> refused() {
        return refused;
    }

    /** Compiles functions, those that can be, and lets them be called from now on. */
    void compile(List<FunctionCode> wanted) {
        for (FunctionCode function : wanted) {
            try {
                prepare(function);
            } catch (NotCompiledException e) {
                refuse(function.ordinal, String.valueOf(e.getMessage()));
            }
        }
        while (!plans.isEmpty()) {
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

    private void refuse(int ordinal, String reason) {
        plans.remove(ordinal);
        refused.put(ordinal, reason);
    }

    private void prepare(FunctionCode function) {
        if (function.code.length > MAX_LONGS) {
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
        byte[] body = Arrays.copyOfRange(def.bytecode(), described.offset(), described.offset() + described.length());
        FunctionGraph graph = new FunctionGraph(function, isa, body);
        RegisterPlan plan = new RegisterPlan(graph);
        plans.put(function.ordinal, plan);
    }

    /** Finds the functions that may defer: that yield, call imports, or call what may defer. */
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

    /** Returns the class file; empty when a function turned out not to be for compiling, and was taken out. */
    private byte[] emit(UnitLayout layout) {
        List<Integer> ordinals = new ArrayList<>(plans.keySet());
        int[] current = {-1};
        try {
            return ClassFile.of().build(layout.self(), type -> {
                type.withSuperclass(UNIT).withFlags(ClassFile.ACC_FINAL);
                constructor(type);
                for (int ordinal : ordinals) {
                    current[0] = ordinal;
                    method(type, layout, ordinal);
                }
                current[0] = -1;
                dispatch(type, layout, ordinals, "enter", "e", ENTER);
                dispatch(type, layout, ordinals, "call", "c", CALLED);
            });
        } catch (NotCompiledException | IllegalArgumentException e) {
            if (current[0] < 0) {
                throw e;
            }
            refuse(current[0], String.valueOf(e.getMessage()));
            return new byte[0];
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
        type.withMethodBody("e" + ordinal, ENTER, ClassFile.ACC_STATIC, code -> enter(code, layout, function));
        type.withMethodBody("c" + ordinal, CALLED, ClassFile.ACC_STATIC, code -> called(code, layout, function));
    }

    /** Locals: stack, state, call, frame. */
    private static void enter(CodeBuilder code, UnitLayout layout, FunctionCode function) {
        code.aload(0).aload(3).aload(1);
        String letters = function.convention.arguments();
        for (int i = 0; i < letters.length(); i++) {
            byte kind = FunctionGraph.kindOf(letters.charAt(i));
            code.aload(2);
            if (kind == R) {
                code.invokestatic(OPERATIONS, "argument", MethodTypeDesc.of(CD_Object, CALL));
            } else {
                String name = switch (letters.charAt(i)) {
                    case 'i' -> "i32";
                    case 'f' -> "f32";
                    case 'I' -> "i64";
                    default -> "f64";
                };
                code.invokevirtual(CALL, name, MethodTypeDesc.of(OperationEmitter.descOf(kind)));
            }
        }
        invoke(code, layout, function, 0, 4);
        ClassDesc result = FunctionEmitter.resultOf(function);
        if (function.convention.results().length() == 1) {
            code.loadLocal(TypeKind.from(result), 4).aload(2);
            code.invokestatic(OPERATIONS, "giveResult", MethodTypeDesc.of(CD_void, result, CALL));
        } else if (!function.convention.results().isEmpty()) {
            code.aload(0).aload(2).loadConstant(layout.constant(function, FunctionEmitter.FUNCTION));
            code.invokestatic(
                    OPERATIONS, "giveResults", MethodTypeDesc.of(CD_void, EXECUTION, CALL, FunctionEmitter.FUNCTION));
        }
        code.iconst_1().ireturn();
    }

    /** Locals: stack, state, caller's frame, site. */
    private static void called(CodeBuilder code, UnitLayout layout, FunctionCode function) {
        code.aload(0);
        code.aload(0)
                .aload(2)
                .loadConstant(layout.constant(function, FunctionEmitter.FUNCTION))
                .aload(1);
        code.invokevirtual(EXECUTION, "push", MethodTypeDesc.of(FRAME, FRAME, FunctionEmitter.FUNCTION, STATE));
        code.aload(1);
        String letters = function.convention.arguments();
        int word = 0;
        int ref = 0;
        for (int i = 0; i < letters.length(); i++) {
            byte kind = FunctionGraph.kindOf(letters.charAt(i));
            code.aload(2).aload(3);
            if (kind == R) {
                code.loadConstant(ref++);
                code.invokestatic(OPERATIONS, "ref", MethodTypeDesc.of(CD_Object, FRAME, SITE, CD_int));
            } else {
                boolean wide = RegisterPlan.isWide(kind);
                code.loadConstant(word);
                word += wide ? 2 : 1;
                code.invokestatic(
                        OPERATIONS,
                        wide ? "wide" : "word",
                        MethodTypeDesc.of(wide ? ConstantDescs.CD_long : CD_int, FRAME, SITE, CD_int));
                OperationEmitter.unbits(code, kind);
            }
        }
        invoke(code, layout, function, 0, 4);
        ClassDesc result = FunctionEmitter.resultOf(function);
        if (function.convention.results().length() == 1) {
            code.loadLocal(TypeKind.from(result), 4).aload(2).aload(3);
            code.invokestatic(OPERATIONS, "setResult", MethodTypeDesc.of(CD_void, result, FRAME, SITE));
        } else if (!function.convention.results().isEmpty()) {
            code.aload(0).aload(2).aload(3);
            code.invokestatic(OPERATIONS, "setResults", MethodTypeDesc.of(CD_void, EXECUTION, FRAME, SITE));
        }
        code.iconst_1().ireturn();
    }

    /** Calls the function with what is on the stack; comes back at once if it has deferred, else with its result in a local. */
    private static void invoke(CodeBuilder code, UnitLayout layout, FunctionCode function, int x, int result) {
        code.invokestatic(layout.self(), layout.methodOf(function.ordinal), FunctionEmitter.typeOf(function));
        TypeKind kind = TypeKind.from(FunctionEmitter.resultOf(function));
        if (kind != TypeKind.VOID) {
            code.storeLocal(kind, result);
        }
        if (layout.mayDefer(function.ordinal)) {
            Label done = code.newLabel();
            code.aload(x).getfield(EXECUTION, "deferred", CD_boolean).ifeq(done);
            code.iconst_0().ireturn().labelBinding(done);
        }
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

    private boolean allFit(byte[] file) {
        boolean fit = true;
        for (MethodModel method : ClassFile.of().parse(file).methods()) {
            String name = method.methodName().stringValue();
            int length = method.findAttribute(Attributes.code())
                    .map(CodeAttribute::codeLength)
                    .orElse(0);
            if (length > MAX_METHOD && name.startsWith("f")) {
                refuse(Integer.parseInt(name.substring(1)), "%d bytes of Java bytecode".formatted(length));
                fit = false;
            }
        }
        return fit;
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
    }
}
