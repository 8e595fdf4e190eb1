package io.github.iree4j.vm.bytecode;

import static io.github.iree4j.vm.bytecode.FunctionGraph.D;
import static io.github.iree4j.vm.bytecode.FunctionGraph.F;
import static io.github.iree4j.vm.bytecode.FunctionGraph.I;
import static io.github.iree4j.vm.bytecode.FunctionGraph.L;
import static java.lang.constant.ConstantDescs.CD_Double;
import static java.lang.constant.ConstantDescs.CD_Float;
import static java.lang.constant.ConstantDescs.CD_Integer;
import static java.lang.constant.ConstantDescs.CD_Long;
import static java.lang.constant.ConstantDescs.CD_Object;
import static java.lang.constant.ConstantDescs.CD_boolean;
import static java.lang.constant.ConstantDescs.CD_double;
import static java.lang.constant.ConstantDescs.CD_float;
import static java.lang.constant.ConstantDescs.CD_int;
import static java.lang.constant.ConstantDescs.CD_long;
import static java.lang.constant.ConstantDescs.CD_void;

import io.github.iree4j.vm.bytecode.FunctionGraph.Node;
import io.github.iree4j.vm.isa.Op;
import java.lang.classfile.CodeBuilder;
import java.lang.classfile.Label;
import java.lang.classfile.Opcode;
import java.lang.constant.ClassDesc;
import java.lang.constant.MethodTypeDesc;
import java.util.List;

/** Emits the instructions that neither jump nor call. Operations without a Java instruction call the same method as the interpreter. */
final class OperationEmitter {
    static final ClassDesc STATE = ClassDesc.of(BytecodeState.class.getName());
    static final ClassDesc OPERATIONS = ClassDesc.of(CompiledOperations.class.getName());
    private static final ClassDesc BUFFERS = ClassDesc.of(Buffers.class.getName());
    private static final ClassDesc FLOATS = ClassDesc.of(Floats.class.getName());
    private static final ClassDesc MATH = ClassDesc.of("java.lang.Math");
    private static final int BYTE_MASK = 0xFF;
    private static final int SHORT_MASK = 0xFFFF;

    private final CodeBuilder code;
    private final RegisterLocals locals;
    private final int stateSlot;
    private final ComparisonEmitter comparisons;
    private final ReferenceEmitter references;

    OperationEmitter(CodeBuilder code, RegisterLocals locals, int stateSlot) {
        comparisons = new ComparisonEmitter(code, locals);
        references = new ReferenceEmitter(code, locals, stateSlot);
        this.code = code;
        this.locals = locals;
        this.stateSlot = stateSlot;
    }

    /** Returns whether an operation can fail and so must record the position. */
    static boolean canFail(int op) {
        return switch (op) {
            case Op.DIV_I32_S,
                    Op.DIV_I32_U,
                    Op.REM_I32_S,
                    Op.REM_I32_U,
                    Op.DIV_I64_S,
                    Op.DIV_I64_U,
                    Op.REM_I64_S,
                    Op.REM_I64_U,
                    Op.LIST_GET_F32,
                    Op.LIST_SET_F32,
                    Op.LIST_GET_F64,
                    Op.LIST_SET_F64,
                    Op.BUFFER_LOAD_F32,
                    Op.BUFFER_STORE_F32,
                    Op.BUFFER_FILL_F32,
                    Op.BUFFER_LOAD_F64,
                    Op.BUFFER_STORE_F64,
                    Op.BUFFER_FILL_F64,
                    Op.GLOBAL_LOAD_INDIRECT_F32,
                    Op.GLOBAL_STORE_INDIRECT_F32,
                    Op.GLOBAL_LOAD_INDIRECT_F64,
                    Op.GLOBAL_STORE_INDIRECT_F64,
                    Op.GLOBAL_LOAD_INDIRECT_I32,
                    Op.GLOBAL_STORE_INDIRECT_I32,
                    Op.GLOBAL_LOAD_INDIRECT_I64,
                    Op.GLOBAL_STORE_INDIRECT_I64,
                    Op.GLOBAL_LOAD_REF,
                    Op.GLOBAL_STORE_REF,
                    Op.GLOBAL_LOAD_INDIRECT_REF,
                    Op.GLOBAL_STORE_INDIRECT_REF,
                    Op.CONST_REF_ZERO,
                    Op.CONST_REF_RODATA,
                    Op.SELECT_REF,
                    Op.SWITCH_REF,
                    Op.CAST_ANY_REF,
                    Op.ASSIGN_REF,
                    Op.FAIL -> true;
            default ->
                op >= Op.LIST_ALLOC && op <= Op.LIST_SET_REF
                        || op >= Op.BUFFER_LOAD_I8_U && op <= Op.BUFFER_FILL_I64
                        || op == Op.BUFFER_HASH;
        };
    }

    /** Emits an instruction. */
    void emit(Node node) {
        if (ComparisonEmitter.isComparison(node.op)) {
            Opcode jump = comparisons.condition(node);
            Label yes = code.newLabel();
            Label end = code.newLabel();
            code.branch(jump, yes)
                    .iconst_0()
                    .goto_(end)
                    .labelBinding(yes)
                    .iconst_1()
                    .labelBinding(end);
        } else if (!references.emit(node)) {
            for (int i = 0; i < node.uses.length && !isSwitch(node.op); i++) {
                locals.load(node.useKinds[i], node.uses[i]);
            }
            value(node);
        } else {
            return;
        }
        if (node.defs.length != 0) {
            locals.store(node.defKinds[0], node.defs[0], node.keepsOther[0]);
        }
    }

    private static boolean isSwitch(int op) {
        return op == Op.SWITCH_I32
                || op == Op.SWITCH_I64
                || op == Op.SWITCH_F32
                || op == Op.SWITCH_F64
                || op == Op.SELECT_I32
                || op == Op.SELECT_I64
                || op == Op.SELECT_F32
                || op == Op.SELECT_F64;
    }

    /** Emits an operation with operands taken from the stack in order and the result left on the stack. */
    private void value(Node node) {
        int op = node.op;
        switch (op) {
            case Op.CONST_I32_ZERO -> code.iconst_0();
            case Op.CONST_I32 -> code.loadConstant((int) node.literal);
            case Op.CONST_I64_ZERO -> code.lconst_0();
            case Op.CONST_I64 -> code.loadConstant(node.literal);
            case Op.CONST_F32_ZERO -> code.fconst_0();
            case Op.CONST_F32 -> floatConstant((int) node.literal);
            case Op.CONST_F64_ZERO -> code.dconst_0();
            case Op.CONST_F64 -> doubleConstant(node.literal);
            case Op.ADD_I32 -> code.iadd();
            case Op.SUB_I32 -> code.isub();
            case Op.MUL_I32 -> code.imul();
            case Op.AND_I32 -> code.iand();
            case Op.OR_I32 -> code.ior();
            case Op.XOR_I32 -> code.ixor();
            case Op.SHL_I32 -> code.ishl();
            case Op.SHR_I32_S -> code.ishr();
            case Op.SHR_I32_U -> code.iushr();
            case Op.NOT_I32 -> code.iconst_m1().ixor();
            case Op.TRUNC_I32_I8, Op.EXT_I8_I32_U ->
                code.loadConstant(BYTE_MASK).iand();
            case Op.TRUNC_I32_I16, Op.EXT_I16_I32_U ->
                code.loadConstant(SHORT_MASK).iand();
            case Op.EXT_I8_I32_S -> code.i2b();
            case Op.EXT_I16_I32_S -> code.i2s();
            case Op.TRUNC_I64_I32 -> code.l2i();
            case Op.EXT_I32_I64_S -> code.i2l();
            case Op.EXT_I32_I64_U -> code.i2l().loadConstant(0xFFFF_FFFFL).land();
            case Op.ADD_I64 -> code.ladd();
            case Op.SUB_I64 -> code.lsub();
            case Op.MUL_I64 -> code.lmul();
            case Op.AND_I64 -> code.land();
            case Op.OR_I64 -> code.lor();
            case Op.XOR_I64 -> code.lxor();
            case Op.SHL_I64 -> code.lshl();
            case Op.SHR_I64_S -> code.lshr();
            case Op.SHR_I64_U -> code.lushr();
            case Op.NOT_I64 -> code.loadConstant(-1L).lxor();
            case Op.FMA_I32 -> operation(node, "multiplyAdd");
            case Op.FMA_I64 -> operation(node, "multiplyAdd");
            case Op.FMA_F32, Op.FMA_F64 -> operation(node, "multiplyAdd");
            case Op.DIV_I32_S, Op.DIV_I64_S -> operation(node, "divide");
            case Op.DIV_I32_U, Op.DIV_I64_U -> operation(node, "divideUnsigned");
            case Op.REM_I32_S, Op.REM_I64_S -> operation(node, "remainder");
            case Op.REM_I32_U, Op.REM_I64_U -> operation(node, "remainderUnsigned");
            case Op.MIN_I32_S, Op.MIN_I64_S -> method(MATH, "min", node);
            case Op.MAX_I32_S, Op.MAX_I64_S -> method(MATH, "max", node);
            case Op.MIN_I32_U, Op.MIN_I64_U -> operation(node, "minUnsigned");
            case Op.MAX_I32_U, Op.MAX_I64_U -> operation(node, "maxUnsigned");
            case Op.ABS_I32, Op.ABS_I64 -> method(MATH, "abs", node);
            case Op.CTLZ_I32 -> method(CD_Integer, "numberOfLeadingZeros", node);
            case Op.CTLZ_I64 ->
                code.invokestatic(CD_Long, "numberOfLeadingZeros", MethodTypeDesc.of(CD_int, CD_long))
                        .i2l();
            case Op.ADD_F32 -> code.fadd();
            case Op.SUB_F32 -> code.fsub();
            case Op.MUL_F32 -> code.fmul();
            case Op.DIV_F32 -> code.fdiv();
            case Op.ADD_F64 -> code.dadd();
            case Op.SUB_F64 -> code.dsub();
            case Op.MUL_F64 -> code.dmul();
            case Op.DIV_F64 -> code.ddiv();
            case Op.MIN_F32, Op.MIN_F64 -> operation(node, "lesser");
            case Op.MAX_F32, Op.MAX_F64 -> operation(node, "greater");
            case Op.ABS_F32, Op.ABS_F64 -> operation(node, "magnitude");
            case Op.NEG_F32, Op.NEG_F64 -> operation(node, "negated");
            case Op.SQRT_F32, Op.SQRT_F64 -> operation(node, "squareRoot");
            case Op.RSQRT_F32, Op.RSQRT_F64 -> operation(node, "inverseSquareRoot");
            case Op.BITCAST_I32_F32 -> method(CD_Float, "intBitsToFloat", node);
            case Op.BITCAST_F32_I32 -> method(CD_Float, "floatToRawIntBits", node);
            case Op.BITCAST_I64_F64 -> method(CD_Double, "longBitsToDouble", node);
            case Op.BITCAST_F64_I64 -> method(CD_Double, "doubleToRawLongBits", node);
            case Op.CAST_SI32_F32 -> code.i2f();
            case Op.CAST_UI32_F32 ->
                code.i2l().loadConstant(0xFFFF_FFFFL).land().l2f();
            case Op.CAST_SI64_F32 -> code.l2f();
            case Op.CAST_UI64_F32 -> method(FLOATS, "unsignedToFloat", node);
            case Op.CAST_SI32_F64 -> code.i2d();
            case Op.CAST_UI32_F64 ->
                code.i2l().loadConstant(0xFFFF_FFFFL).land().l2d();
            case Op.CAST_SI64_F64 -> code.l2d();
            case Op.CAST_UI64_F64 -> method(FLOATS, "unsignedToDouble", node);
            case Op.CAST_F32_SI32, Op.CAST_F32_UI32 -> toInteger("toSigned", true, true);
            case Op.CAST_F32_SI64 -> toInteger("toSigned", true, false);
            case Op.CAST_F32_UI64 -> toInteger("toUnsigned", true, false);
            case Op.CAST_F64_SI32, Op.CAST_F64_UI32 -> toInteger("toSigned", false, true);
            case Op.CAST_F64_SI64 -> toInteger("toSigned", false, false);
            case Op.CAST_F64_UI64 -> toInteger("toUnsigned", false, false);
            case Op.TRUNC_F64_F32 -> code.d2f();
            case Op.EXT_F32_F64 -> code.f2d();
            case Op.SELECT_I32, Op.SELECT_I64, Op.SELECT_F32, Op.SELECT_F64 -> select(node);
            case Op.SWITCH_I32, Op.SWITCH_I64, Op.SWITCH_F32, Op.SWITCH_F64 -> pick(node);
            case Op.REM_F32, Op.ATAN2_F32, Op.POW_F32 -> {
                code.loadConstant(FloatInstructions.doubleOp(op));
                code.invokestatic(OPERATIONS, "binary", MethodTypeDesc.of(CD_float, CD_float, CD_float, CD_int));
            }
            case Op.FPOWI_F32, Op.FPOWI_F64 -> method(FLOATS, "power", node);
            case Op.REM_F64, Op.ATAN2_F64, Op.POW_F64 -> {
                code.loadConstant(op);
                code.invokestatic(OPERATIONS, "binary", MethodTypeDesc.of(CD_double, CD_double, CD_double, CD_int));
            }
            default -> memory(node);
        }
    }

    /** Emits operations on globals, buffers and lists, and functions of a float. */
    private void memory(Node node) {
        switch (node.op) {
            case Op.GLOBAL_LOAD_I32, Op.GLOBAL_LOAD_F32, Op.GLOBAL_LOAD_I64, Op.GLOBAL_LOAD_F64 -> {
                globals().loadConstant(node.numbers[0]);
                loadGlobal(node, "loadI32", "loadI64");
            }
            case Op.GLOBAL_STORE_I32, Op.GLOBAL_STORE_F32, Op.GLOBAL_STORE_I64, Op.GLOBAL_STORE_F64 -> {
                globals().loadConstant(node.numbers[0]);
                storeGlobal(node.useKinds[0]);
            }
            case Op.GLOBAL_LOAD_INDIRECT_I32,
                    Op.GLOBAL_LOAD_INDIRECT_F32,
                    Op.GLOBAL_LOAD_INDIRECT_I64,
                    Op.GLOBAL_LOAD_INDIRECT_F64 -> {
                globals().swap();
                loadGlobal(node, "loadIndirectI32", "loadIndirectI64");
            }
            case Op.GLOBAL_STORE_INDIRECT_I32,
                    Op.GLOBAL_STORE_INDIRECT_F32,
                    Op.GLOBAL_STORE_INDIRECT_I64,
                    Op.GLOBAL_STORE_INDIRECT_F64 -> {
                byte kind = bits(node.useKinds[1]);
                globals();
                code.invokestatic(
                        OPERATIONS,
                        kind == I ? "storeIndirectI32" : "storeIndirectI64",
                        MethodTypeDesc.of(CD_void, CD_int, descOf(kind), CD_byteArray()));
            }
            case Op.IMPORT_RESOLVED -> {
                code.aload(stateSlot).loadConstant(node.numbers[0] & Integer.MAX_VALUE);
                code.invokestatic(OPERATIONS, "isResolved", MethodTypeDesc.of(CD_int, STATE, CD_int));
            }
            case Op.BUFFER_LOAD_I8_U -> {
                buffer("loadI8", CD_int, CD_long);
                code.loadConstant(BYTE_MASK).iand();
            }
            case Op.BUFFER_LOAD_I8_S -> buffer("loadI8", CD_int, CD_long);
            case Op.BUFFER_LOAD_I16_U -> {
                buffer("loadI16", CD_int, CD_long);
                code.loadConstant(SHORT_MASK).iand();
            }
            case Op.BUFFER_LOAD_I16_S -> buffer("loadI16", CD_int, CD_long);
            case Op.BUFFER_LOAD_I32, Op.BUFFER_LOAD_F32 -> {
                buffer("loadI32", CD_int, CD_long);
                unbits(node.defKinds[0]);
            }
            case Op.BUFFER_LOAD_I64, Op.BUFFER_LOAD_F64 -> {
                buffer("loadI64", CD_long, CD_long);
                unbits(node.defKinds[0]);
            }
            case Op.BUFFER_STORE_I8 -> buffer("storeI8", CD_void, CD_long, CD_int);
            case Op.BUFFER_STORE_I16 -> buffer("storeI16", CD_void, CD_long, CD_int);
            case Op.BUFFER_STORE_I32, Op.BUFFER_STORE_F32 -> {
                bits(node.useKinds[2]);
                buffer("storeI32", CD_void, CD_long, CD_int);
            }
            case Op.BUFFER_STORE_I64, Op.BUFFER_STORE_F64 -> {
                bits(node.useKinds[2]);
                buffer("storeI64", CD_void, CD_long, CD_long);
            }
            case Op.BUFFER_FILL_I8 -> fill(node, 0);
            case Op.BUFFER_FILL_I16 -> fill(node, 1);
            case Op.BUFFER_FILL_I32, Op.BUFFER_FILL_F32 -> fill(node, 2);
            case Op.BUFFER_FILL_I64, Op.BUFFER_FILL_F64 -> fill(node, 3);
            case Op.BUFFER_LENGTH -> operation(node, "lengthOf");
            case Op.BUFFER_COPY -> buffer("copy", CD_void, CD_long, CD_Object, CD_long, CD_long);
            case Op.BUFFER_COMPARE -> buffer("areEqual", CD_boolean, CD_long, CD_Object, CD_long, CD_long);
            case Op.BUFFER_HASH -> buffer("hash", CD_long, CD_long, CD_long);
            case Op.LIST_RESERVE -> operation(node, "reserve");
            case Op.LIST_SIZE -> operation(node, "sizeOf");
            case Op.LIST_RESIZE -> operation(node, "resize");
            case Op.LIST_GET_I32 -> operation(node, "getI32");
            case Op.LIST_GET_I64 -> operation(node, "getI64");
            case Op.LIST_GET_F32 -> operation(node, "getF32");
            case Op.LIST_GET_F64 -> operation(node, "getF64");
            case Op.LIST_SET_I32, Op.LIST_SET_I64, Op.LIST_SET_F32, Op.LIST_SET_F64 -> operation(node, "set");
            case Op.FAIL -> {
                code.loadConstant(node.text.length() > MAX_TEXT ? "" : node.text);
                if (node.text.length() > MAX_TEXT) {
                    throw new NotCompiledException("a message of " + node.text.length() + " characters");
                }
                code.invokestatic(
                        ClassDesc.of(Interpreter.class.getName()),
                        "failure",
                        MethodTypeDesc.of(
                                ClassDesc.of("io.github.iree4j.status.IreeException"),
                                CD_int,
                                java.lang.constant.ConstantDescs.CD_String));
                code.athrow();
            }
            default -> unary(node);
        }
    }

    /** Length of text that certainly fits a class file constant. */
    private static final int MAX_TEXT = 10_000;

    private void unary(Node node) {
        if (node.uses.length != 1 || node.defs.length != 1 || node.op < Op.FIRST_F32) {
            throw new NotCompiledException("operation " + node.op);
        }
        boolean narrow = node.useKinds[0] == F;
        code.loadConstant(narrow ? FloatInstructions.doubleOp(node.op) : node.op);
        ClassDesc type = narrow ? CD_float : CD_double;
        code.invokestatic(OPERATIONS, "unary", MethodTypeDesc.of(type, type, CD_int));
    }

    private void pick(Node node) {
        Label end = code.newLabel();
        locals.load(I, node.uses[0]);
        List<Label> labels = ReferenceEmitter.cases(code, node.uses.length - 1);
        for (int i = 0; i < labels.size(); i++) {
            code.labelBinding(labels.get(i));
            locals.load(node.useKinds[1 + i], node.uses[1 + i]);
            code.goto_(end);
        }
        code.labelBinding(end);
    }

    private void select(Node node) {
        Label yes = code.newLabel();
        Label end = code.newLabel();
        locals.load(I, node.uses[0]);
        code.ifne(yes);
        locals.load(node.useKinds[2], node.uses[2]);
        code.goto_(end).labelBinding(yes);
        locals.load(node.useKinds[1], node.uses[1]);
        code.labelBinding(end);
    }

    private CodeBuilder globals() {
        return code.aload(stateSlot).getfield(STATE, "globals", CD_byteArray());
    }

    private static ClassDesc CD_byteArray() {
        return java.lang.constant.ConstantDescs.CD_byte.arrayType();
    }

    private void loadGlobal(Node node, String narrow, String wide) {
        boolean isWide = RegisterPlan.isWide(node.defKinds[0]);
        code.invokestatic(
                OPERATIONS,
                isWide ? wide : narrow,
                MethodTypeDesc.of(isWide ? CD_long : CD_int, CD_byteArray(), CD_int));
        unbits(node.defKinds[0]);
    }

    /** Emits a store; on the stack: value, array, offset. */
    private void storeGlobal(byte kind) {
        code.invokestatic(
                OPERATIONS,
                RegisterPlan.isWide(kind) ? "storeI64" : "storeI32",
                MethodTypeDesc.of(CD_void, descOf(kind), CD_byteArray(), CD_int));
    }

    private void toInteger(String method, boolean narrowOperand, boolean narrowResult) {
        if (narrowOperand) {
            code.f2d();
        }
        code.invokestatic(FLOATS, method, MethodTypeDesc.of(CD_long, CD_double));
        if (narrowResult) {
            code.l2i();
        }
    }

    private void fill(Node node, int shift) {
        if (!RegisterPlan.isWide(node.useKinds[3])) {
            bits(node.useKinds[3]);
            code.i2l();
        } else {
            bits(node.useKinds[3]);
        }
        code.loadConstant(shift);
        buffer("fill", CD_void, CD_long, CD_long, CD_long, CD_int);
    }

    private void buffer(String name, ClassDesc result, ClassDesc... operandsAfterBuffer) {
        code.invokestatic(
                BUFFERS, name, MethodTypeDesc.of(result, operandsAfterBuffer).insertParameterTypes(0, CD_Object));
    }

    /** Converts a float on the stack to bits. */
    private byte bits(byte kind) {
        if (kind == F) {
            code.invokestatic(CD_Float, "floatToRawIntBits", MethodTypeDesc.of(CD_int, CD_float));
            return I;
        }
        if (kind == D) {
            code.invokestatic(CD_Double, "doubleToRawLongBits", MethodTypeDesc.of(CD_long, CD_double));
            return L;
        }
        return kind;
    }

    /** Converts bits on the stack to a float, if the kind is a float. */
    void unbits(byte kind) {
        unbits(code, kind);
    }

    static void unbits(CodeBuilder code, byte kind) {
        if (kind == F) {
            code.invokestatic(CD_Float, "intBitsToFloat", MethodTypeDesc.of(CD_float, CD_int));
        } else if (kind == D) {
            code.invokestatic(CD_Double, "longBitsToDouble", MethodTypeDesc.of(CD_double, CD_long));
        }
    }

    private void floatConstant(int bits) {
        float value = Float.intBitsToFloat(bits);
        if (!Float.isNaN(value)) {
            code.loadConstant(value);
        } else {
            // Class files need not preserve NaN payloads.
            code.loadConstant(bits);
            unbits(F);
        }
    }

    private void doubleConstant(long bits) {
        double value = Double.longBitsToDouble(bits);
        if (!Double.isNaN(value)) {
            code.loadConstant(value);
        } else {
            code.loadConstant(bits);
            unbits(D);
        }
    }

    private void operation(Node node, String name) {
        method(OPERATIONS, name, node);
    }

    private void method(ClassDesc owner, String name, Node node) {
        ClassDesc[] operands = new ClassDesc[node.uses.length];
        for (int i = 0; i < operands.length; i++) {
            operands[i] = descOf(node.useKinds[i]);
        }
        code.invokestatic(
                owner, name, MethodTypeDesc.of(node.defs.length == 0 ? CD_void : descOf(node.defKinds[0]), operands));
    }

    static ClassDesc descOf(byte kind) {
        return switch (kind) {
            case I -> CD_int;
            case F -> CD_float;
            case L -> CD_long;
            case D -> CD_double;
            default -> CD_Object;
        };
    }
}
