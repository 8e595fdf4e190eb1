package io.github.iree4j.vm.bytecode;

import static io.github.iree4j.vm.bytecode.FunctionGraph.I;
import static io.github.iree4j.vm.bytecode.FunctionGraph.L;
import static java.lang.constant.ConstantDescs.CD_int;
import static java.lang.constant.ConstantDescs.CD_long;

import io.github.iree4j.vm.bytecode.CountedLoops.Loop;
import io.github.iree4j.vm.bytecode.CountedLoops.Operand;
import io.github.iree4j.vm.bytecode.FunctionGraph.Node;
import java.lang.classfile.CodeBuilder;
import java.lang.classfile.Label;
import java.lang.constant.ClassDesc;
import java.lang.constant.MethodTypeDesc;
import org.jspecify.annotations.Nullable;

/** Emits what loops need so that they can be cancelled: counting jumps back, and the limits of {@link CountedLoops}. */
final class LoopEmitter {
    private static final ClassDesc OPERATIONS = OperationEmitter.OPERATIONS;

    private final MethodContext method;
    private final CodeBuilder code;
    private final RegisterLocals locals;
    private final CountedLoops loops;
    private final @Nullable Label[] before;
    private final int[] limits;

    LoopEmitter(MethodContext method, CountedLoops loops) {
        this.method = method;
        this.loops = loops;
        code = method.code;
        locals = method.locals;
        before = new Label[method.graph.blocks.size()];
        limits = new int[before.length];
    }

    @Nullable
    Loop testedBy(int block) {
        return loops.testedBy(block);
    }

    /** Returns where a loop is entered, and where it gets its next limit; null when a block heads no loop that counts. */
    @Nullable
    Label before(int block) {
        if (loops.headedBy(block) == null) {
            return null;
        }
        Label label = before[block];
        if (label == null) {
            label = code.newLabel();
            before[block] = label;
        }
        return label;
    }

    /** Whether a way is the one that jumps back in a loop that counts. */
    boolean isJumpBack(int block, int target) {
        Loop loop = loops.headedBy(target);
        return loop != null && loop.last() == block;
    }

    /** Emits, before a block, the limit of the loop that it heads. The registers are as they are where the block begins. */
    void begin(int block) {
        Loop loop = loops.headedBy(block);
        Label label = before(block);
        if (loop == null || label == null) {
            return;
        }
        ClassDesc type = loop.kind() == L ? CD_long : CD_int;
        code.labelBinding(label);
        locals.load(loop.kind(), loop.counter());
        load(loop, loop.bound());
        load(loop, loop.step());
        code.invokestatic(OPERATIONS, "limitOf", MethodTypeDesc.of(type, type, type, type));
        int limit = limitSlot(loop);
        storeLimit(loop, limit);
        code.iload(method.jumps);
        locals.load(loop.kind(), loop.counter());
        loadLimit(loop, limit);
        code.invokestatic(OPERATIONS, "jumpsLeft", MethodTypeDesc.of(CD_int, CD_int, type, type));
        code.istore(method.jumps);
        Label target = code.newLabel();
        look(target, method.graph.blocks.get(block).pc() + 1);
        code.labelBinding(target).nop(); // ways meet before the loop, so that it has one entry
    }

    /** Pushes what the counter is compared with in place of the bound. */
    void loadLimit(Loop loop) {
        loadLimit(loop, limitSlot(loop));
    }

    private int limitSlot(Loop loop) {
        if (limits[loop.header()] == 0) {
            limits[loop.header()] = locals.local(loop.kind() == L ? 2 : 1);
        }
        return limits[loop.header()];
    }

    private void storeLimit(Loop loop, int slot) {
        if (loop.kind() == L) {
            code.lstore(slot);
        } else {
            code.istore(slot);
        }
    }

    private void loadLimit(Loop loop, int slot) {
        if (loop.kind() == L) {
            code.lload(slot);
        } else {
            code.iload(slot);
        }
    }

    private void load(Loop loop, Operand operand) {
        if (operand.register() >= 0) {
            locals.load(loop.kind(), operand.register());
        } else if (loop.kind() == L) {
            code.loadConstant(operand.literal());
        } else {
            code.loadConstant((int) operand.literal());
        }
    }

    /**
     * Gives a loop that adds up a buffer some more to do: HotSpot 25 has no use for vectors in a loop of one load and one addition, and
     * leaves it alone; with another operation they pay, and it is ten times as fast. What that does HotSpot must not know.
     */
    void pad(Node node, int block) {
        if (loops.isSummed(block, node)) {
            locals.load(I, node.defs[0]);
            code.aload(MethodContext.X)
                    .getfield(MethodContext.EXECUTION, "zero", CD_int)
                    .ixor();
            locals.store(I, node.defs[0], node.keepsOther[0]);
        }
    }

    /** Jumps if a loop has no limit that it comes nearer to, and so must be looked at in each iteration. */
    void jumpIfUnlimited(Loop loop, Label target) {
        loadLimit(loop);
        if (loop.kind() == L) {
            code.loadConstant(Long.MIN_VALUE).lcmp().ifeq(target);
        } else {
            code.loadConstant(Integer.MIN_VALUE).if_icmpeq(target);
        }
    }

    /** Emits what a jump back does besides jumping. */
    void countJump(int pc) {
        Label target = code.newLabel();
        code.iinc(method.jumps, -1);
        look(target, pc);
        code.labelBinding(target);
    }

    /** Emits a jump back of any other loop. */
    void jumpBack(Label target, int pc) {
        code.iinc(method.jumps, -1);
        look(target, pc);
        code.goto_(target);
    }

    /** Looks whether the call is cancelled, if it is time. */
    private void look(Label target, int pc) {
        Label look = code.newLabel();
        code.iload(method.jumps).ifle(look);
        method.later(() -> {
            code.labelBinding(look);
            method.atLate(pc);
            code.aload(MethodContext.X)
                    .invokevirtual(MethodContext.EXECUTION, "look", MethodTypeDesc.of(CD_int))
                    .istore(method.jumps);
            code.goto_(target);
        });
    }
}
