package io.github.iree4j.vm.bytecode;

import static io.github.iree4j.vm.bytecode.FunctionGraph.D;
import static java.lang.constant.ConstantDescs.CD_Double;
import static java.lang.constant.ConstantDescs.CD_Float;
import static java.lang.constant.ConstantDescs.CD_Integer;
import static java.lang.constant.ConstantDescs.CD_Long;
import static java.lang.constant.ConstantDescs.CD_boolean;
import static java.lang.constant.ConstantDescs.CD_double;
import static java.lang.constant.ConstantDescs.CD_float;
import static java.lang.constant.ConstantDescs.CD_int;
import static java.lang.constant.ConstantDescs.CD_long;

import io.github.iree4j.vm.bytecode.FunctionGraph.Node;
import io.github.iree4j.vm.isa.Op;
import java.lang.classfile.CodeBuilder;
import java.lang.classfile.Opcode;
import java.lang.constant.MethodTypeDesc;

/** Emits comparisons, as jumps taken when the comparison is true. */
final class ComparisonEmitter {
    private final CodeBuilder code;
    private final RegisterLocals locals;

    ComparisonEmitter(CodeBuilder code, RegisterLocals locals) {
        this.code = code;
        this.locals = locals;
    }

    static boolean isComparison(int op) {
        return op >= Op.CMP_EQ_I32 && op <= Op.CMP_NZ_REF
                || op >= Op.CMP_EQ_F32_O && op <= Op.CMP_NAN_F32
                || op >= Op.CMP_EQ_F64_O && op <= Op.CMP_NAN_F64;
    }

    /** Pushes the operands of a comparison, and returns the jump taken when the comparison is true. */
    Opcode condition(Node node) {
        for (int i = 0; i < node.uses.length; i++) {
            locals.load(node.useKinds[i], node.uses[i]);
        }
        return switch (node.op) {
            case Op.CMP_EQ_I32 -> Opcode.IF_ICMPEQ;
            case Op.CMP_NE_I32 -> Opcode.IF_ICMPNE;
            case Op.CMP_LT_I32_S -> Opcode.IF_ICMPLT;
            case Op.CMP_LT_I32_U -> {
                code.invokestatic(CD_Integer, "compareUnsigned", MethodTypeDesc.of(CD_int, CD_int, CD_int));
                yield Opcode.IFLT;
            }
            case Op.CMP_NZ_I32 -> Opcode.IFNE;
            case Op.CMP_EQ_I64 -> {
                code.lcmp();
                yield Opcode.IFEQ;
            }
            case Op.CMP_NE_I64 -> {
                code.lcmp();
                yield Opcode.IFNE;
            }
            case Op.CMP_LT_I64_S -> {
                code.lcmp();
                yield Opcode.IFLT;
            }
            case Op.CMP_LT_I64_U -> {
                code.invokestatic(CD_Long, "compareUnsigned", MethodTypeDesc.of(CD_int, CD_long, CD_long));
                yield Opcode.IFLT;
            }
            case Op.CMP_NZ_I64 -> {
                code.lconst_0().lcmp();
                yield Opcode.IFNE;
            }
            case Op.CMP_EQ_REF -> Opcode.IF_ACMPEQ;
            case Op.CMP_NE_REF -> Opcode.IF_ACMPNE;
            case Op.CMP_NZ_REF -> Opcode.IFNONNULL;
            case Op.CMP_NAN_F32 -> {
                code.invokestatic(CD_Float, "isNaN", MethodTypeDesc.of(CD_boolean, CD_float));
                yield Opcode.IFNE;
            }
            case Op.CMP_NAN_F64 -> {
                code.invokestatic(CD_Double, "isNaN", MethodTypeDesc.of(CD_boolean, CD_double));
                yield Opcode.IFNE;
            }
            default -> floatCondition(node);
        };
    }

    private Opcode floatCondition(Node node) {
        boolean wide = node.useKinds[0] == D;
        // The comparison instruction's result for NaN distinguishes ordered from unordered comparisons.
        return switch (node.op) {
            case Op.CMP_EQ_F32_O, Op.CMP_EQ_F64_O -> compare(wide, false, Opcode.IFEQ);
            case Op.CMP_NE_F32_O, Op.CMP_NE_F32_U, Op.CMP_NE_F64_O, Op.CMP_NE_F64_U ->
                compare(wide, false, Opcode.IFNE);
            case Op.CMP_LT_F32_O, Op.CMP_LT_F64_O -> compare(wide, true, Opcode.IFLT);
            case Op.CMP_LT_F32_U, Op.CMP_LT_F64_U -> compare(wide, false, Opcode.IFLT);
            case Op.CMP_LTE_F32_O, Op.CMP_LTE_F64_O -> compare(wide, true, Opcode.IFLE);
            case Op.CMP_LTE_F32_U, Op.CMP_LTE_F64_U -> compare(wide, false, Opcode.IFLE);
            case Op.CMP_EQ_F32_U -> {
                code.invokestatic(
                        OperationEmitter.OPERATIONS,
                        "areEqualOrUnordered",
                        MethodTypeDesc.of(CD_boolean, CD_float, CD_float));
                yield Opcode.IFNE;
            }
            case Op.CMP_EQ_F64_U -> {
                code.invokestatic(
                        OperationEmitter.OPERATIONS,
                        "areEqualOrUnordered",
                        MethodTypeDesc.of(CD_boolean, CD_double, CD_double));
                yield Opcode.IFNE;
            }
            default -> throw new NotCompiledException("operation " + node.op);
        };
    }

    private Opcode compare(boolean wide, boolean greaterIfNaN, Opcode jump) {
        if (wide) {
            code.with(
                    java.lang.classfile.instruction.OperatorInstruction.of(greaterIfNaN ? Opcode.DCMPG : Opcode.DCMPL));
        } else {
            code.with(
                    java.lang.classfile.instruction.OperatorInstruction.of(greaterIfNaN ? Opcode.FCMPG : Opcode.FCMPL));
        }
        return jump;
    }
}
