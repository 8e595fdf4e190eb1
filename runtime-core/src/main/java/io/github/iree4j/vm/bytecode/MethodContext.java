package io.github.iree4j.vm.bytecode;

import static java.lang.constant.ConstantDescs.CD_Object;

import io.github.iree4j.vm.bytecode.FunctionCode.CallSite;
import java.lang.classfile.CodeBuilder;
import java.lang.classfile.Label;
import java.lang.classfile.TypeKind;
import java.lang.constant.ClassDesc;
import java.util.ArrayList;
import java.util.List;

/** What those who emit one Java method share. */
final class MethodContext {
    static final ClassDesc EXECUTION = ClassDesc.of(Execution.class.getName());
    static final ClassDesc FRAME = ClassDesc.of(Frame.class.getName());
    static final ClassDesc SITE = ClassDesc.of(CallSite.class.getName());
    static final ClassDesc FUNCTION = ClassDesc.of(FunctionCode.class.getName());
    static final ClassDesc STATE = OperationEmitter.STATE;

    // The first parameters of each method.
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

    /** What comes after all blocks: ways that are taken rarely. */
    private final List<Runnable> later = new ArrayList<>();

    /** Jumped to with words in the frame and references in locals, when something has deferred. */
    final Label suspended;

    /** Whether anything jumps there. */
    boolean suspends;

    /** Where the function is, for when it fails. */
    private int at;

    private int lastAt = -1;

    /** Jumps back until the next look at whether the call is cancelled. */
    int jumps;

    /** What is returned: two locals. */
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

    /** Takes the locals that are no registers, after those of the parameters. */
    void takeLocals() {
        at = locals.local(1);
        jumps = locals.local(1);
        result = locals.local(2);
        code.iconst_0().istore(at);
        code.loadConstant(Execution.JUMPS).istore(jumps);
    }

    /** Notes where a failure would be. */
    void at(int pc) {
        if (pc != lastAt) {
            code.loadConstant(pc).istore(at);
            lastAt = pc;
        }
    }

    /** Where the next instruction comes from is not known: what has been noted may not be so. */
    void forgetAt() {
        lastAt = -1;
    }

    /** Notes it on a way that is emitted out of order. */
    void atLate(int pc) {
        code.loadConstant(pc).istore(at);
    }

    void loadAt() {
        code.iload(at);
    }

    /** Pushes what most methods of {@link Execution} want. */
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

    /** Returns the type that a kind of result has in a method. */
    static TypeKind typeKindOf(byte kind) {
        ClassDesc type = OperationEmitter.descOf(kind);
        return type.equals(CD_Object) ? TypeKind.REFERENCE : TypeKind.from(type);
    }
}
