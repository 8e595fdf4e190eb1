package io.github.iree4j.vm.bytecode;

import static java.lang.constant.ConstantDescs.CD_Object;

import io.github.iree4j.vm.bytecode.FunctionCode.CallSite;
import java.lang.classfile.CodeBuilder;
import java.lang.classfile.Label;
import java.lang.classfile.TypeKind;
import java.lang.constant.ClassDesc;
import java.util.ArrayList;
import java.util.List;

/** State shared by the emitters of a Java method. */
final class MethodContext {
    static final ClassDesc EXECUTION = ClassDesc.of(Execution.class.getName());
    static final ClassDesc FRAME = ClassDesc.of(Frame.class.getName());
    static final ClassDesc SITE = ClassDesc.of(CallSite.class.getName());
    static final ClassDesc FUNCTION = ClassDesc.of(FunctionCode.class.getName());
    static final ClassDesc STATE = OperationEmitter.STATE;

    // Locals of the first parameters of each method.
    static final int X = 0;
    static final int FRAME_SLOT = 1;
    static final int STATE_SLOT = 2;
    static final int FIRST_ARGUMENT = 3;

    final CodeBuilder code;
    final FunctionGraph graph;
    final RegisterPlan plan;
    final UnitLayout unit;
    final RegisterLocals locals;
    final FrameEmitter frames;

    /** Code emitted after all blocks: rarely taken paths. */
    private final List<Runnable> later = new ArrayList<>();

    /** Jump target after deferring, with words in the frame and references in locals. */
    final Label suspended;

    /** Whether {@link #suspended} is used. */
    boolean suspends;

    /** Local with the current position, for failures. */
    private int at;

    private int lastAt = -1;

    /** Local with the backward jumps until the next cancellation check. */
    int jumps;

    /** First of two locals with the return value. */
    int result;

    MethodContext(CodeBuilder code, RegisterPlan plan, UnitLayout unit) {
        this.code = code;
        this.plan = plan;
        this.unit = unit;
        graph = plan.graph;
        locals = new RegisterLocals(code, graph, FIRST_ARGUMENT);
        frames = new FrameEmitter(code, locals, FRAME_SLOT);
        suspended = code.newLabel();
    }

    /** Allocates the locals that are not registers, after the locals of the parameters. */
    void takeLocals() {
        at = locals.local(1);
        jumps = locals.local(1);
        result = locals.local(2);
        code.iconst_0().istore(at);
        code.loadConstant(Execution.JUMPS).istore(jumps);
    }

    /** Records the position for failures. */
    void at(int pc) {
        if (pc != lastAt) {
            code.loadConstant(pc).istore(at);
            lastAt = pc;
        }
    }

    /** Forgets the recorded position, since the predecessors of the next instruction may have recorded others. */
    void forgetAt() {
        lastAt = -1;
    }

    /** Records the position on a path emitted out of order. */
    void atLate(int pc) {
        code.loadConstant(pc).istore(at);
    }

    void loadAt() {
        code.iload(at);
    }

    /** Pushes the arguments of most methods of {@link Execution}. */
    void loadFrameFunctionState() {
        code.aload(FRAME_SLOT).loadConstant(unit.constant(graph.code, FUNCTION)).aload(STATE_SLOT);
    }

    void later(Runnable emission) {
        later.add(emission);
    }

    void emitLater() {
        for (int i = 0; i < later.size(); i++) {
            later.get(i).run();
        }
    }

    /** Returns the Java type of a kind of result. */
    static TypeKind typeKindOf(byte kind) {
        ClassDesc type = OperationEmitter.descOf(kind);
        return type.equals(CD_Object) ? TypeKind.REFERENCE : TypeKind.from(type);
    }
}
