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

/** Emits the code for cancelling loops: counters of backward jumps, and the limits of {@link CountedLoops}. */
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

    /** Returns the label for entering a loop and computing the next limit; null when the block does not head a counted loop. */
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

    /** Whether an edge is the backward jump of a counted loop. */
    boolean isJumpBack(int block, int target) {
        Loop loop = loops.headedBy(target);
        return loop != null && loop.last() == block;
    }

    /** Emits, before a block, the limit of the loop headed by the block. The registers are in their state at the start of the block. */
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
        code.labelBinding(target).nop(); // paths merge before the loop, giving the loop a single entry
    }

    /** Pushes the limit to be compared with the counter in place of the bound. */
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
     * Adds a no-op to a loop that sums up a buffer. HotSpot 25 considers vectorising a loop of one load and one
     * addition not profitable. With one more operation HotSpot vectorises the loop, ten times as fast. The operation
     * must be opaque to HotSpot.
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

    /** Jumps if a loop does not approach a limit, and so must check in each iteration. */
    void jumpIfUnlimited(Loop loop, Label target) {
        loadLimit(loop);
        if (loop.kind() == L) {
            code.loadConstant(Long.MIN_VALUE).lcmp().ifeq(target);
        } else {
            code.loadConstant(Integer.MIN_VALUE).if_icmpeq(target);
        }
    }

    /** Emits the accounting of a backward jump. */
    void countJump(int pc) {
        Label target = code.newLabel();
        code.iinc(method.jumps, -1);
        look(target, pc);
        code.labelBinding(target);
    }

    /** Emits a backward jump of any other loop. */
    void jumpBack(Label target, int pc) {
        code.iinc(method.jumps, -1);
        look(target, pc);
        code.goto_(target);
    }

    /** Checks for cancellation, if due. */
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
