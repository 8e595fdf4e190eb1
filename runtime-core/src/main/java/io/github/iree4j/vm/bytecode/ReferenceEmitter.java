package io.github.iree4j.vm.bytecode;

import static io.github.iree4j.vm.bytecode.FunctionGraph.I;
import static io.github.iree4j.vm.bytecode.FunctionGraph.L;
import static io.github.iree4j.vm.bytecode.FunctionGraph.R;
import static java.lang.constant.ConstantDescs.CD_Object;
import static java.lang.constant.ConstantDescs.CD_int;
import static java.lang.constant.ConstantDescs.CD_long;
import static java.lang.constant.ConstantDescs.CD_void;

import io.github.iree4j.vm.bytecode.FunctionGraph.Node;
import io.github.iree4j.vm.isa.Op;
import java.lang.classfile.CodeBuilder;
import java.lang.classfile.Label;
import java.lang.classfile.instruction.SwitchCase;
import java.lang.constant.MethodTypeDesc;
import java.util.ArrayList;
import java.util.List;

/** Emits the operations on references: moving, retaining or releasing a reference, and creating objects. */
final class ReferenceEmitter {
    private final CodeBuilder code;
    private final RegisterLocals locals;
    private final int stateSlot;

    ReferenceEmitter(CodeBuilder code, RegisterLocals locals, int stateSlot) {
        this.code = code;
        this.locals = locals;
        this.stateSlot = stateSlot;
    }

    /** Emits an operation on references; returns false, having emitted nothing, for other operations. */
    boolean emit(Node node) {
        int op = node.op;
        switch (op) {
            case Op.GLOBAL_LOAD_REF, Op.GLOBAL_LOAD_INDIRECT_REF -> {
                code.aload(stateSlot);
                globalOrdinal(node);
                code.loadConstant(node.numbers[node.numbers.length - 1]);
                code.loadConstant(node.defs[0] & Code.MOVE);
                code.invokestatic(
                        OperationEmitter.OPERATIONS,
                        "loadGlobal",
                        MethodTypeDesc.of(CD_Object, OperationEmitter.STATE, CD_int, CD_int, CD_int));
                locals.putRef(node.defs[0] & ~Code.MOVE);
            }
            case Op.GLOBAL_STORE_REF, Op.GLOBAL_STORE_INDIRECT_REF -> {
                int value = node.uses[node.uses.length - 1];
                code.aload(stateSlot);
                globalOrdinal(node);
                check(value, node.numbers[node.numbers.length - 1]);
                locals.take(value);
                code.invokestatic(
                        OperationEmitter.OPERATIONS,
                        "storeGlobal",
                        MethodTypeDesc.of(CD_void, OperationEmitter.STATE, CD_int, CD_Object));
            }
            case Op.CONST_REF_ZERO -> locals.clearRef(node.defs[0] & ~Code.MOVE);
            case Op.CONST_REF_RODATA -> {
                code.aload(stateSlot).loadConstant(node.numbers[0]);
                code.invokestatic(
                        OperationEmitter.OPERATIONS,
                        "rodata",
                        MethodTypeDesc.of(CD_Object, OperationEmitter.STATE, CD_int));
                locals.putRef(node.defs[0] & ~Code.MOVE);
            }
            case Op.ASSIGN_REF -> {
                locals.take(node.uses[0]);
                locals.putRef(node.defs[0] & ~Code.MOVE);
            }
            case Op.CAST_ANY_REF -> {
                check(node.uses[0], node.numbers[0]);
                locals.take(node.uses[0]);
                locals.putRef(node.defs[0] & ~Code.MOVE);
            }
            case Op.SELECT_REF -> selectRef(node);
            case Op.SWITCH_REF -> switchRef(node);
            case Op.LIST_ALLOC -> {
                locals.load(I, node.uses[0]);
                code.aload(stateSlot).loadConstant(node.numbers[0]);
                code.invokestatic(
                        OperationEmitter.OPERATIONS,
                        "allocateList",
                        MethodTypeDesc.of(CD_Object, CD_int, OperationEmitter.STATE, CD_int));
                locals.putRef(node.defs[0] & ~Code.MOVE);
            }
            case Op.LIST_GET_REF -> {
                locals.load(R, node.uses[0]);
                locals.load(I, node.uses[1]);
                code.aload(stateSlot).loadConstant(node.numbers[0]).loadConstant(node.defs[0] & Code.MOVE);
                code.invokestatic(
                        OperationEmitter.OPERATIONS,
                        "getRef",
                        MethodTypeDesc.of(CD_Object, CD_Object, CD_int, OperationEmitter.STATE, CD_int, CD_int));
                locals.putRef(node.defs[0] & ~Code.MOVE);
            }
            case Op.LIST_SET_REF -> {
                int value = node.uses[2];
                locals.load(R, node.uses[0]);
                locals.load(I, node.uses[1]);
                code.aload(locals.refSlot(value)).loadConstant(value & Code.MOVE);
                code.invokestatic(
                        OperationEmitter.OPERATIONS,
                        "setRef",
                        MethodTypeDesc.of(CD_void, CD_Object, CD_int, CD_Object, CD_int));
                if ((value & Code.MOVE) != 0) {
                    code.aconst_null().astore(locals.refSlot(value));
                }
            }
            case Op.BUFFER_ALLOC -> {
                locals.load(L, node.uses[0]);
                locals.load(I, node.uses[1]);
                code.aload(stateSlot);
                code.invokestatic(
                        OperationEmitter.OPERATIONS,
                        "allocateBuffer",
                        MethodTypeDesc.of(CD_Object, CD_long, CD_int, OperationEmitter.STATE));
                locals.putRef(node.defs[0] & ~Code.MOVE);
            }
            case Op.BUFFER_CLONE -> {
                for (int i = 0; i < node.uses.length; i++) {
                    locals.load(node.useKinds[i], node.uses[i]);
                }
                code.aload(stateSlot);
                code.invokestatic(
                        OperationEmitter.OPERATIONS,
                        "copyBuffer",
                        MethodTypeDesc.of(CD_Object, CD_Object, CD_long, CD_long, CD_int, OperationEmitter.STATE));
                locals.putRef(node.defs[0] & ~Code.MOVE);
            }
            default -> {
                return false;
            }
        }
        return true;
    }

    private void globalOrdinal(Node node) {
        if (node.op == Op.GLOBAL_LOAD_REF || node.op == Op.GLOBAL_STORE_REF) {
            code.loadConstant(node.numbers[0]);
        } else {
            code.aload(stateSlot);
            locals.load(I, node.uses[0]);
            code.invokestatic(
                    OperationEmitter.OPERATIONS,
                    "globalOrdinal",
                    MethodTypeDesc.of(CD_int, OperationEmitter.STATE, CD_int));
        }
    }

    private void check(int operand, int type) {
        code.aload(stateSlot).aload(locals.refSlot(operand)).loadConstant(type);
        code.invokestatic(
                OperationEmitter.OPERATIONS,
                "check",
                MethodTypeDesc.of(CD_void, OperationEmitter.STATE, CD_Object, CD_int));
    }

    private void selectRef(Node node) {
        Label yes = code.newLabel();
        Label end = code.newLabel();
        locals.load(I, node.uses[0]);
        code.ifne(yes);
        selectOne(node, node.uses[2], node.uses[1]);
        code.goto_(end).labelBinding(yes);
        selectOne(node, node.uses[1], node.uses[2]);
        code.labelBinding(end);
    }

    private void selectOne(Node node, int picked, int other) {
        check(picked, node.numbers[0]);
        check(other, node.numbers[0]);
        locals.take(picked);
        if ((other & Code.MOVE) != 0) {
            locals.clearRef(other & ~Code.MOVE);
        }
        locals.putRef(node.defs[0] & ~Code.MOVE);
    }

    /** Emits a switch. Uses are the index, the default and the values; unselected references with the MOVE bit are released as well. */
    private void switchRef(Node node) {
        Label end = code.newLabel();
        locals.load(I, node.uses[0]);
        List<Label> labels = cases(code, node.uses.length - 1);
        for (int i = 0; i < labels.size(); i++) {
            code.labelBinding(labels.get(i));
            check(node.uses[1 + i], node.numbers[0]);
            locals.take(node.uses[1 + i]);
            code.goto_(end);
        }
        code.labelBinding(end);
        for (int i = 1; i < node.uses.length; i++) {
            if ((node.uses[i] & Code.MOVE) != 0) {
                locals.clearRef(node.uses[i] & ~Code.MOVE);
            }
        }
        locals.putRef(node.defs[0] & ~Code.MOVE);
    }

    /** Pops an index and jumps: to the first label by default, else to label index + 1. */
    static List<Label> cases(CodeBuilder code, int count) {
        List<Label> labels = new ArrayList<>(count);
        List<SwitchCase> cases = new ArrayList<>(count);
        for (int i = 0; i < count; i++) {
            labels.add(code.newLabel());
            if (i > 0) {
                cases.add(SwitchCase.of(i - 1, labels.get(i)));
            }
        }
        if (cases.isEmpty()) {
            code.pop().goto_(labels.getFirst());
        } else {
            code.tableswitch(0, count - 2, labels.getFirst(), cases);
        }
        return labels;
    }
}
