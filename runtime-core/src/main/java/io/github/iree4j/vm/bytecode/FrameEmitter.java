package io.github.iree4j.vm.bytecode;

import static io.github.iree4j.vm.bytecode.FunctionGraph.D;
import static io.github.iree4j.vm.bytecode.FunctionGraph.F;
import static io.github.iree4j.vm.bytecode.FunctionGraph.I;
import static io.github.iree4j.vm.bytecode.FunctionGraph.L;
import static io.github.iree4j.vm.bytecode.FunctionGraph.R;
import static java.lang.constant.ConstantDescs.CD_Object;
import static java.lang.constant.ConstantDescs.CD_int;
import static java.lang.constant.ConstantDescs.CD_void;

import java.lang.classfile.CodeBuilder;
import java.lang.constant.MethodTypeDesc;

/** Emits code moving registers between locals and the frame, for the interpreter and for imports. */
final class FrameEmitter {
    private final CodeBuilder code;
    private final RegisterLocals locals;
    private final int frameSlot;

    FrameEmitter(CodeBuilder code, RegisterLocals locals, int frameSlot) {
        this.code = code;
        this.locals = locals;
        this.frameSlot = frameSlot;
    }

    void spill(byte kind, int operand) {
        if (kind == R) {
            spillRef(operand & ~Code.MOVE);
            return;
        }
        locals.load(kind, operand);
        code.aload(frameSlot).loadConstant(operand);
        code.invokestatic(
                OperationEmitter.OPERATIONS,
                "spill",
                MethodTypeDesc.of(CD_void, OperationEmitter.descOf(kind), MethodContext.FRAME, CD_int));
    }

    void spillRef(int register) {
        int slot = locals.refSlot(register);
        code.aload(slot).aconst_null().astore(slot);
        code.aload(frameSlot).loadConstant(register);
        code.invokestatic(
                OperationEmitter.OPERATIONS,
                "spill",
                MethodTypeDesc.of(CD_void, CD_Object, MethodContext.FRAME, CD_int));
    }

    /** Fills a local from the frame. May be done twice to a register: the second fill finds the value in the local. */
    void fillRef(int register) {
        int slot = locals.refSlot(register);
        code.aload(slot).aload(frameSlot).loadConstant(register);
        code.invokestatic(
                OperationEmitter.OPERATIONS,
                "fillRef",
                MethodTypeDesc.of(CD_Object, CD_Object, MethodContext.FRAME, CD_int));
        code.astore(slot);
    }

    void spillWords(byte[] live) {
        for (int w = 0; w < live.length; w++) {
            if (live[w] == 0) {
                continue;
            }
            byte pair = locals.state.pairs[w >> 1];
            if (pair != 0 && locals.state.words[w] == 0 && (w & 1) == 0) {
                spill((pair & L) != 0 ? L : D, w);
                w++;
            } else if (locals.state.has(w)) {
                spill(locals.state.formOf(w), w);
            }
        }
    }

    /** Pushes a word or pair from the frame. */
    void fill(byte kind, int register) {
        code.aload(frameSlot).loadConstant(register);
        code.invokestatic(
                OperationEmitter.OPERATIONS,
                switch (kind) {
                    case I -> "fillI32";
                    case F -> "fillF32";
                    case L -> "fillI64";
                    default -> "fillF64";
                },
                MethodTypeDesc.of(OperationEmitter.descOf(kind), MethodContext.FRAME, CD_int));
    }
}
