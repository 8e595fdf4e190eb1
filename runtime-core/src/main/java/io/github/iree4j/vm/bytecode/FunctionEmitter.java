package io.github.iree4j.vm.bytecode;

import static io.github.iree4j.vm.bytecode.FunctionGraph.I;
import static io.github.iree4j.vm.bytecode.FunctionGraph.L;
import static io.github.iree4j.vm.bytecode.FunctionGraph.R;
import static io.github.iree4j.vm.bytecode.MethodContext.EXECUTION;
import static io.github.iree4j.vm.bytecode.MethodContext.FRAME;
import static io.github.iree4j.vm.bytecode.MethodContext.FRAME_SLOT;
import static io.github.iree4j.vm.bytecode.MethodContext.FUNCTION;
import static io.github.iree4j.vm.bytecode.MethodContext.STATE;
import static io.github.iree4j.vm.bytecode.MethodContext.X;
import static java.lang.constant.ConstantDescs.CD_boolean;
import static java.lang.constant.ConstantDescs.CD_int;
import static java.lang.constant.ConstantDescs.CD_void;

import io.github.iree4j.vm.bytecode.CountedLoops.Loop;
import io.github.iree4j.vm.bytecode.FunctionGraph.Block;
import io.github.iree4j.vm.bytecode.FunctionGraph.Edge;
import io.github.iree4j.vm.bytecode.FunctionGraph.Move;
import io.github.iree4j.vm.bytecode.FunctionGraph.Node;
import io.github.iree4j.vm.isa.Op;
import java.lang.classfile.CodeBuilder;
import java.lang.classfile.Label;
import java.lang.classfile.Opcode;
import java.lang.constant.ClassDesc;
import java.lang.constant.MethodTypeDesc;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Emits the Java method of a function. The parameters are the stack, the function's frame, the module's state and the
 * arguments. The method of a {@link Part} takes the number of the entry in place of the arguments. Such a method loads
 * registers from the frame, stores the registers back at the end, and returns the index in the code to continue at,
 * {@link #DEFERRED}, or {@link #RETURNS} minus the number of a return site.
 *
 * <p>References are owned by their locals. On failure, a handler around the method records the position in the frame
 * and then releases the references. A deferring method stores all live registers into the frame and returns with
 * {@link Execution#deferred} set; the interpreter continues from there.
 */
final class FunctionEmitter {
    /** Return value of a part that has deferred. */
    static final int DEFERRED = -1;

    /** Return value of a part when the function has reached return site 0; 1 less for each further site. */
    static final int RETURNS = -2;

    static final MethodTypeDesc PART = MethodTypeDesc.of(CD_int, EXECUTION, FRAME, STATE, CD_int);

    /** Limits the frames on the thread's stack. */
    private static final int MAX_LOCALS = 500;

    private final MethodContext method;
    private final CodeBuilder code;
    private final FunctionGraph graph;
    private final RegisterPlan plan;
    private final @Nullable Part part;
    private final RegisterLocals locals;
    private final OperationEmitter operations;
    private final ComparisonEmitter comparisons;
    private final FrameEmitter frames;
    private final CallEmitter calls;
    private final LoopEmitter loops;
    private final ReturnEmitter returns;
    private final Label[] labels;

    /** Jump target, with the result in a local, that releases all references. */
    private final Label released;

    /** Jump target to leave a part, with words in the frame and the index to continue at as result. */
    private final Label left;

    private boolean hasReturn;
    private boolean leaves;

    private FunctionEmitter(CodeBuilder code, RegisterPlan plan, UnitLayout unit) {
        this.code = code;
        graph = plan.graph;
        this.plan = plan;
        part = plan.part;
        method = new MethodContext(code, plan, unit);
        locals = method.locals;
        frames = method.frames;
        operations = new OperationEmitter(code, locals, MethodContext.STATE_SLOT);
        comparisons = new ComparisonEmitter(code, locals);
        calls = new CallEmitter(method);
        returns = new ReturnEmitter(method);
        loops = new LoopEmitter(method, new CountedLoops(graph, part));
        labels = new Label[graph.blocks.size()];
        released = code.newLabel();
        left = code.newLabel();
    }

    static void emit(CodeBuilder code, RegisterPlan plan, UnitLayout unit) {
        new FunctionEmitter(code, plan, unit).emit();
    }

    /** Returns the type of the method of a function. */
    static MethodTypeDesc typeOf(FunctionCode function) {
        List<ClassDesc> parameters = new ArrayList<>(List.of(EXECUTION, FRAME, STATE));
        String letters = function.convention.arguments();
        for (int i = 0; i < letters.length(); i++) {
            parameters.add(OperationEmitter.descOf(FunctionGraph.kindOf(letters.charAt(i))));
        }
        return MethodTypeDesc.of(resultOf(function), parameters);
    }

    /** Returns the type of the only result; void if there is none or there are several. */
    static ClassDesc resultOf(FunctionCode function) {
        String results = function.convention.results();
        return results.length() == 1 ? OperationEmitter.descOf(FunctionGraph.kindOf(results.charAt(0))) : CD_void;
    }

    private void emit() {
        if (part == null) {
            parameters();
        } else {
            locals.local(1);
        }
        method.takeLocals();
        for (int i = 0; i < graph.refs; i++) {
            if (isOurs(i) && !locals.isParameter(i)) {
                code.aconst_null().astore(locals.refSlot(i));
            }
        }
        Label deep = code.newLabel();
        boolean calling = part == null && makesCalls();
        if (calling) {
            code.aload(X).aload(FRAME_SLOT);
            code.invokevirtual(EXECUTION, "isTooDeep", MethodTypeDesc.of(CD_boolean, FRAME))
                    .ifne(deep);
        }
        for (int w = 0; w < graph.words; w++) {
            if (plan.isZeroAtStart(w)) {
                code.iconst_0();
                locals.store(I, w, true);
            }
        }
        for (int b = 0; b < labels.length; b++) {
            labels[b] = code.newLabel();
        }
        Label start = code.newBoundLabel();
        if (part == null) {
            locals.convert(plan.entry(0));
            code.goto_(entryOf(0));
        } else {
            enterPart(part);
        }
        for (int b = 0; b < labels.length; b++) {
            if (plan.isReachable(b)) {
                block(b);
            }
        }
        if (hasReturn) {
            code.labelBinding(released);
            releaseAll();
            returns.giveBack();
        }
        method.emitLater();
        if (method.suspends) {
            code.labelBinding(method.suspended);
            spillRefs();
            returns.giveNothing();
        }
        if (leaves) {
            code.labelBinding(left);
            spillRefs();
            code.iload(method.result).ireturn();
        }
        Label end = code.newBoundLabel();
        handler(start, end);
        if (calling) {
            code.labelBinding(deep);
            returns.deep();
        }
        if (locals.count() > MAX_LOCALS) {
            throw new NotCompiledException(locals.count() + " locals");
        }
    }

    /** Whether a reference is in a local; other references stay in the frame of a part. */
    private boolean isOurs(int ref) {
        return part == null || part.refs[ref];
    }

    private void releaseAll() {
        for (int i = 0; i < graph.refs; i++) {
            if (isOurs(i)) {
                locals.releaseRef(i);
            }
        }
    }

    private void spillRefs() {
        for (int i = 0; i < graph.refs; i++) {
            if (isOurs(i)) {
                frames.spillRef(i);
            }
        }
    }

    private void parameters() {
        String letters = graph.code.convention.arguments();
        int word = 0;
        int ref = 0;
        for (int i = 0; i < letters.length(); i++) {
            byte kind = FunctionGraph.kindOf(letters.charAt(i));
            if (kind == R) {
                locals.parameter(R, ref++);
            } else {
                int register = graph.code.argumentWords[word];
                locals.parameter(kind, register);
                locals.state.set(kind, register, true);
                word += RegisterPlan.isWide(kind) ? 2 : 1;
            }
        }
    }

    /** Loads the registers used by the entered block from the frame, and jumps to the block. */
    private void enterPart(Part entered) {
        for (int i = 0; i < graph.refs; i++) {
            if (isOurs(i)) {
                frames.fillRef(i);
            }
        }
        code.iload(MethodContext.FIRST_ARGUMENT);
        // The first case is never taken.
        List<Label> cases = ReferenceEmitter.cases(code, entered.entries.length + 1);
        code.labelBinding(cases.getFirst());
        for (int i = 0; i < entered.entries.length; i++) {
            int block = entered.entries[i];
            code.labelBinding(cases.get(i + 1));
            locals.fill(plan.filled(block), frames);
            locals.convert(plan.entry(block));
            code.goto_(entryOf(block));
        }
    }

    private boolean makesCalls() {
        for (Block block : graph.blocks) {
            for (Node node : block.nodes()) {
                if (node.site != null && !node.site.isImport) {
                    return true;
                }
            }
        }
        return false;
    }

    /** Returns the label for entering a block from outside of the loop headed by the block. */
    private Label entryOf(int block) {
        Label before = loops.before(block);
        return before != null ? before : labels[block];
    }

    private void block(int index) {
        Block block = graph.blocks.get(index);
        locals.state = new WordState(plan.entry(index));
        loops.begin(index);
        code.labelBinding(labels[index]);
        method.forgetAt();
        List<Node> nodes = block.nodes();
        for (int i = 0; i < nodes.size(); i++) {
            Node node = nodes.get(i);
            if (ComparisonEmitter.isComparison(node.op)
                    && i + 2 == nodes.size()
                    && block.last().op == Op.COND_BR
                    && block.last().uses[0] == node.defs[0]) {
                compareAndBranch(node, block.last(), index);
                return;
            }
            node(node, index);
        }
    }

    private void node(Node node, int block) {
        switch (node.op) {
            case Op.BR, Op.BREAK, Op.COND_BREAK -> edge(node.edges.getFirst(), block, node);
            case Op.COND_BR -> {
                locals.load(I, node.uses[0]);
                branch(Opcode.IFNE, node, block, null);
            }
            case Op.BR_TABLE -> {
                locals.load(I, node.uses[0]);
                List<Label> cases = ReferenceEmitter.cases(code, node.edges.size());
                WordState state = locals.state;
                for (int i = 0; i < cases.size(); i++) {
                    code.labelBinding(cases.get(i));
                    locals.state = new WordState(state);
                    edge(node.edges.get(i), block, node);
                }
            }
            case Op.YIELD -> calls.yieldTo(node);
            case Op.RETURN -> {
                hasReturn = true;
                method.at(node.pc + 1);
                returns.emit(node, released);
            }
            case Op.CALL, Op.CALL_VARIADIC, Op.CALL_YIELDABLE, Op.CALL_VARIADIC_YIELDABLE -> {
                method.at(node.pc + 1);
                calls.call(node);
                if (!node.edges.isEmpty()) {
                    edge(node.edges.getFirst(), block, node);
                }
            }
            default -> {
                if (OperationEmitter.canFail(node.op)) {
                    method.at(node.pc + 1);
                }
                operations.emit(node);
                loops.pad(node, block);
            }
        }
    }

    private void compareAndBranch(Node comparison, Node branch, int block) {
        Loop loop = loops.testedBy(block);
        if (loop != null) {
            compareAndLoop(loop, comparison, branch, block);
            return;
        }
        Opcode jump = comparisons.condition(comparison);
        branch(jump, branch, block, comparison);
    }

    /** Continues up to the limit, then leaves the loop or goes back for the next limit. */
    private void compareAndLoop(Loop loop, Node comparison, Node branch, int block) {
        byte kind = loop.kind();
        if (!loop.testsFirst() && isMovedEarly(branch, comparison.uses[0], kind)) {
            // The backward jump must be the conditional jump: HotSpot does not recognize a counted loop with a separate
            // jump.
            locals.load(kind, comparison.uses[0]);
            loops.loadLimit(loop);
            WordState state = locals.state;
            locals.state = new WordState(state);
            result(0, branch, comparison);
            move(branch.edges.getFirst(), branch);
            locals.convert(plan.entry(loop.header()));
            jumpIfLess(kind, labels[loop.header()]);
            locals.state = new WordState(state);
            locals.load(kind, comparison.uses[0]);
            locals.load(kind, comparison.uses[1]);
            jumpIfLess(kind, entryOf(loop.header()));
            way(1, branch, block, comparison);
            return;
        }
        Label below = code.newLabel();
        Label again = code.newLabel();
        for (Label target : List.of(below, again)) {
            locals.load(kind, comparison.uses[0]);
            if (target == below) {
                loops.loadLimit(loop);
            } else {
                locals.load(kind, comparison.uses[1]);
            }
            jumpIfLess(kind, target);
        }
        WordState state = locals.state;
        locals.state = new WordState(state);
        way(1, branch, block, comparison);
        code.labelBinding(again);
        locals.state = new WordState(state);
        if (loop.testsFirst()) {
            Label unlimited = code.newLabel();
            loops.jumpIfUnlimited(loop, unlimited);
            locals.convert(plan.entry(loop.header()));
            code.goto_(entryOf(loop.header()));
            code.labelBinding(unlimited);
            locals.state = new WordState(state);
            result(0, branch, comparison);
            loops.countJump(branch.pc + 1);
            edge(branch.edges.getFirst(), block, branch);
        } else {
            result(0, branch, comparison);
            go(branch.edges.getFirst(), branch, entryOf(loop.header()));
        }
        code.labelBinding(below);
        locals.state = new WordState(state);
        result(0, branch, comparison);
        if (loop.testsFirst()) {
            edge(branch.edges.getFirst(), block, branch);
        } else {
            go(branch.edges.getFirst(), branch, labels[loop.header()]);
        }
    }

    private void jumpIfLess(byte kind, Label target) {
        if (kind == L) {
            code.lcmp().iflt(target);
        } else {
            code.if_icmplt(target);
        }
    }

    /** Returns whether the copies of the back edge may also be made on the exit, because nothing reads the targets of the copies there. */
    private boolean isMovedEarly(Node branch, int compared, byte kind) {
        Edge out = branch.edges.get(1);
        for (Move move : branch.edges.getFirst().moves()) {
            int last = move.to + (move.wide ? 1 : 0);
            if (move.ref
                    || move.to < compared + (kind == L ? 2 : 1) && compared <= last
                    || isWanted(move.to, out)
                    || isWanted(last, out)) {
                return false;
            }
        }
        return true;
    }

    /** Emits a branch on the operands on the stack. */
    private void branch(Opcode jump, Node node, int block, @Nullable Node comparison) {
        Label yes = code.newLabel();
        code.branch(jump, yes);
        WordState state = locals.state;
        locals.state = new WordState(state);
        way(1, node, block, comparison);
        code.labelBinding(yes);
        locals.state = new WordState(state);
        way(0, node, block, comparison);
    }

    /** Emits either way of a branch: 0 is taken when the condition is true. */
    private void way(int way, Node node, int block, @Nullable Node comparison) {
        if (comparison != null) {
            result(way, node, comparison);
        }
        edge(node.edges.get(way), block, node);
    }

    /** Sets the result of a comparison fused with the jump. The result is known on each way, and usually unused. */
    private void result(int way, Node node, Node comparison) {
        int flag = comparison.defs[0];
        if (isWanted(flag, node.edges.get(way))) {
            code.loadConstant(way == 0 ? 1 : 0);
            locals.store(I, flag, comparison.keepsOther[0]);
        } else if (locals.state.splits(flag, comparison.keepsOther[0])) {
            code.iconst_0();
            locals.store(I, flag, true);
        } else {
            locals.state.forget(flag, false);
        }
    }

    private boolean isWanted(int word, Edge edge) {
        if (plan.liveIn[edge.target()][word] != 0) {
            return true;
        }
        for (Move move : edge.moves()) {
            if (!move.ref && (move.from == word || move.wide && move.from + 1 == word)) {
                return true;
            }
        }
        return false;
    }

    private void edge(Edge edge, int block, Node node) {
        int target = edge.target();
        if (part != null && !part.members[target]) {
            move(edge, node);
            leaves = true;
            frames.spillWords(plan.liveIn[target]);
            code.loadConstant(graph.blocks.get(target).pc()).istore(method.result);
            code.goto_(left);
        } else if (loops.before(target) != null) {
            go(edge, node, loops.isJumpBack(block, target) ? labels[target] : entryOf(target));
        } else {
            move(edge, node);
            locals.convert(plan.entry(target));
            if (target > block) {
                code.goto_(labels[target]);
            } else {
                loops.jumpBack(labels[target], node.pc + 1);
            }
        }
    }

    private void go(Edge edge, Node node, Label label) {
        move(edge, node);
        locals.convert(plan.entry(edge.target()));
        code.goto_(label);
    }

    private void move(Edge edge, Node node) {
        for (Move move : edge.moves()) {
            if (move.ref) {
                method.at(node.pc + 1);
            }
            locals.move(move);
        }
        method.forgetAt();
    }

    private void handler(Label start, Label end) {
        Label handler = code.newBoundLabel();
        int failure = locals.local(1);
        code.astore(failure);
        code.aload(X);
        method.loadFrameFunctionState();
        method.loadAt();
        code.invokevirtual(EXECUTION, "failing", MethodTypeDesc.of(CD_void, FRAME, FUNCTION, STATE, CD_int));
        releaseAll();
        code.aload(failure).athrow();
        code.exceptionCatchAll(start, end, handler);
    }
}
