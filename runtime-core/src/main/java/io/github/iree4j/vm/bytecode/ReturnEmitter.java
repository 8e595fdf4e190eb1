package io.github.iree4j.vm.bytecode;

import static io.github.iree4j.vm.bytecode.FunctionGraph.D;
import static io.github.iree4j.vm.bytecode.FunctionGraph.F;
import static io.github.iree4j.vm.bytecode.FunctionGraph.I;
import static io.github.iree4j.vm.bytecode.FunctionGraph.L;
import static io.github.iree4j.vm.bytecode.FunctionGraph.R;
import static io.github.iree4j.vm.bytecode.MethodContext.EXECUTION;
import static io.github.iree4j.vm.bytecode.MethodContext.FRAME;
import static io.github.iree4j.vm.bytecode.MethodContext.FRAME_SLOT;
import static io.github.iree4j.vm.bytecode.MethodContext.FUNCTION;
import static io.github.iree4j.vm.bytecode.MethodContext.STATE;
import static io.github.iree4j.vm.bytecode.MethodContext.X;
import static java.lang.constant.ConstantDescs.CD_Object;
import static java.lang.constant.ConstantDescs.CD_boolean;
import static java.lang.constant.ConstantDescs.CD_int;
import static java.lang.constant.ConstantDescs.CD_long;
import static java.lang.constant.ConstantDescs.CD_void;

import io.github.iree4j.vm.bytecode.FunctionGraph.Node;
import java.lang.classfile.CodeBuilder;
import java.lang.classfile.Label;
import java.lang.classfile.TypeKind;
import java.lang.constant.MethodTypeDesc;
import org.jspecify.annotations.Nullable;

/** Emits the exits of a method: with results, deferred without results, and through the interpreter. */
final class ReturnEmitter {
    private final MethodContext method;
    private final CodeBuilder code;
    private final FunctionGraph graph;
    private final @Nullable Part part;
    private final RegisterLocals locals;
    private final FrameEmitter frames;

    ReturnEmitter(MethodContext method) {
        this.method = method;
        code = method.code;
        graph = method.graph;
        part = method.plan.part;
        locals = method.locals;
        frames = method.frames;
    }

    /** Stores the results for the return, and jumps to the release of references. */
    void emit(Node node, Label released) {
        if (part == null) {
            results(node);
        } else {
            resultsOfPart(node);
        }
        code.goto_(released);
    }

    private void results(Node node) {
        int count = node.uses.length;
        if (count > 1) {
            code.aload(X).loadConstant(count);
            code.invokevirtual(EXECUTION, "reserveResults", MethodTypeDesc.of(CD_void, CD_int));
        }
        for (int i = 0; i < count; i++) {
            byte kind = node.useKinds[i];
            if (count > 1) {
                if (kind == R) {
                    code.aload(X);
                    locals.take(node.uses[i]);
                    code.loadConstant(i);
                    code.invokevirtual(EXECUTION, "giveResult", MethodTypeDesc.of(CD_void, CD_Object, CD_int));
                } else {
                    code.aload(X).getfield(EXECUTION, "wordResults", CD_long.arrayType());
                    code.loadConstant(i);
                    byte bits = kind == F || kind == I ? I : L;
                    locals.load(bits, node.uses[i]);
                    if (bits == I) {
                        code.i2l();
                    }
                    code.lastore();
                }
            } else if (kind == R) {
                locals.take(node.uses[i]);
                code.astore(method.result);
            } else {
                locals.load(kind, node.uses[i]);
                code.storeLocal(MethodContext.typeKindOf(kind), method.result);
            }
        }
    }

    /** Leaves the results in the frame, for the interpreter's return. */
    private void resultsOfPart(Node node) {
        for (int i = 0; i < node.uses.length; i++) {
            frames.spill(node.useKinds[i], node.uses[i]);
        }
        int site = (int) (graph.code.code[node.pc] >>> Integer.SIZE);
        code.loadConstant(FunctionEmitter.RETURNS - site).istore(method.result);
    }

    /** Returns the result. */
    void giveBack() {
        TypeKind kind = part != null ? TypeKind.INT : TypeKind.from(FunctionEmitter.resultOf(graph.code));
        if (kind != TypeKind.VOID) {
            code.loadLocal(kind, method.result);
        }
        code.return_(kind);
    }

    /** Returns to a caller. The caller detects that this method has deferred. */
    void giveNothing() {
        if (part != null) {
            code.loadConstant(FunctionEmitter.DEFERRED).ireturn();
            return;
        }
        TypeKind kind = TypeKind.from(FunctionEmitter.resultOf(graph.code));
        switch (kind) {
            case INT -> code.iconst_0();
            case LONG -> code.lconst_0();
            case FLOAT -> code.fconst_0();
            case DOUBLE -> code.dconst_0();
            case REFERENCE -> code.aconst_null();
            default -> {}
        }
        code.return_(kind);
    }

    /** Emits the interpretation of a function called too deep on the thread's stack. */
    void deep() {
        code.aload(X);
        method.loadFrameFunctionState();
        code.invokevirtual(EXECUTION, "prepare", MethodTypeDesc.of(CD_void, FRAME, FUNCTION, STATE));
        locals.state = new WordState(graph.words);
        String letters = graph.code.convention.arguments();
        int word = 0;
        int ref = 0;
        for (int i = 0; i < letters.length(); i++) {
            byte kind = FunctionGraph.kindOf(letters.charAt(i));
            if (kind == R) {
                frames.spillRef(ref++);
            } else {
                int register = graph.code.argumentWords[word];
                locals.state.set(kind, register, true);
                frames.spill(kind, register);
                word += RegisterPlan.isWide(kind) ? 2 : 1;
            }
        }
        code.aload(X).aload(FRAME_SLOT);
        code.invokevirtual(EXECUTION, "interpretDeep", MethodTypeDesc.of(CD_boolean, FRAME));
        Label done = code.newLabel();
        code.ifne(done);
        giveNothing();
        code.labelBinding(done);
        if (graph.code.convention.results().length() == 1) {
            byte kind = FunctionGraph.kindOf(graph.code.convention.results().charAt(0));
            if (kind == R) {
                code.aload(X).iconst_0();
                code.invokevirtual(EXECUTION, "takeResult", MethodTypeDesc.of(CD_Object, CD_int));
            } else {
                code.aload(X).getfield(EXECUTION, "wordResults", CD_long.arrayType());
                code.iconst_0().laload();
                if (kind == I || kind == F) {
                    code.l2i();
                }
                if (kind == F || kind == D) {
                    OperationEmitter.unbits(code, kind);
                }
            }
        }
        code.return_(TypeKind.from(FunctionEmitter.resultOf(graph.code)));
    }
}
