package io.github.iree4j.vm.bytecode;

import static io.github.iree4j.vm.bytecode.FunctionGraph.D;
import static io.github.iree4j.vm.bytecode.FunctionGraph.F;
import static io.github.iree4j.vm.bytecode.FunctionGraph.I;
import static io.github.iree4j.vm.bytecode.FunctionGraph.L;
import static io.github.iree4j.vm.bytecode.FunctionGraph.R;
import static java.lang.constant.ConstantDescs.CD_Object;
import static java.lang.constant.ConstantDescs.CD_boolean;
import static java.lang.constant.ConstantDescs.CD_int;
import static java.lang.constant.ConstantDescs.CD_long;
import static java.lang.constant.ConstantDescs.CD_void;

import io.github.iree4j.vm.bytecode.FunctionCode.CallSite;
import io.github.iree4j.vm.bytecode.FunctionGraph.Block;
import io.github.iree4j.vm.bytecode.FunctionGraph.Edge;
import io.github.iree4j.vm.bytecode.FunctionGraph.Move;
import io.github.iree4j.vm.bytecode.FunctionGraph.Node;
import io.github.iree4j.vm.isa.Op;
import java.lang.classfile.CodeBuilder;
import java.lang.classfile.Label;
import java.lang.classfile.Opcode;
import java.lang.classfile.TypeKind;
import java.lang.constant.ClassDesc;
import java.lang.constant.MethodTypeDesc;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Emits the Java method of one function: its parameters are the stack, the function's frame, the module's state and the arguments.
 *
 * <p>References are owned by the locals they are in; a handler around all of it releases them when something fails, after it has noted in
 * the frame where that was. What defers puts all that is still needed into the frame and comes back with {@link Execution#deferred} set;
 * the interpreter goes on from there.
 */
final class FunctionEmitter {
    static final ClassDesc EXECUTION = ClassDesc.of(Execution.class.getName());
    static final ClassDesc FRAME = ClassDesc.of(Frame.class.getName());
    static final ClassDesc SITE = ClassDesc.of(CallSite.class.getName());
    static final ClassDesc FUNCTION = ClassDesc.of(FunctionCode.class.getName());
    private static final ClassDesc STATE = OperationEmitter.STATE;

    private static final int X = 0;
    private static final int FRAME_SLOT = 1;
    private static final int STATE_SLOT = 2;
    private static final int FIRST_ARGUMENT = 3;

    /** More would make frames on the thread's stack too large. */
    private static final int MAX_LOCALS = 500;

    private final CodeBuilder code;
    private final FunctionGraph graph;
    private final RegisterPlan plan;
    private final UnitLayout unit;
    private final RegisterLocals locals;
    private final OperationEmitter operations;
    private final ComparisonEmitter comparisons;
    private final FrameEmitter frames;
    private final Label[] labels;
    private final List<Runnable> later = new ArrayList<>();
    private final Label suspended;
    private final Label released;
    private int at;
    private int jumps;
    private int result;
    private boolean suspends;
    private boolean returns;
    private int lastAt = -1;

    private FunctionEmitter(CodeBuilder code, RegisterPlan plan, UnitLayout unit) {
        this.code = code;
        graph = plan.graph;
        this.plan = plan;
        this.unit = unit;
        locals = new RegisterLocals(code, graph, FIRST_ARGUMENT);
        operations = new OperationEmitter(code, locals, STATE_SLOT);
        comparisons = new ComparisonEmitter(code, locals);
        frames = new FrameEmitter(code, locals, FRAME_SLOT);
        labels = new Label[graph.blocks.size()];
        suspended = code.newLabel();
        released = code.newLabel();
    }

    static void emit(CodeBuilder code, RegisterPlan plan, UnitLayout unit) {
        new FunctionEmitter(code, plan, unit).emit();
    }

    /** Returns the type of a function's method. */
    static MethodTypeDesc typeOf(FunctionCode function) {
        List<ClassDesc> parameters = new ArrayList<>(List.of(EXECUTION, FRAME, STATE));
        String letters = function.convention.arguments();
        for (int i = 0; i < letters.length(); i++) {
            parameters.add(OperationEmitter.descOf(FunctionGraph.kindOf(letters.charAt(i))));
        }
        return MethodTypeDesc.of(resultOf(function), parameters);
    }

    /** Returns the type of the one result; void if there is none, and if there are several. */
    static ClassDesc resultOf(FunctionCode function) {
        String results = function.convention.results();
        return results.length() == 1 ? OperationEmitter.descOf(FunctionGraph.kindOf(results.charAt(0))) : CD_void;
    }

    private void emit() {
        parameters();
        at = locals.local(1);
        jumps = locals.local(1);
        result = locals.local(2);
        code.iconst_0().istore(at);
        code.loadConstant(Execution.JUMPS).istore(jumps);
        for (int i = 0; i < graph.refs; i++) {
            if (!locals.isParameter(i)) {
                code.aconst_null().astore(locals.refSlot(i));
            }
        }
        Label deep = code.newLabel();
        boolean calls = makesCalls();
        if (calls) {
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
        Label start = code.newBoundLabel();
        for (int b = 0; b < labels.length; b++) {
            labels[b] = code.newLabel();
        }
        locals.convert(plan.entry(0));
        code.goto_(labels[0]);
        for (int b = 0; b < labels.length; b++) {
            if (plan.isReachable(b)) {
                block(b);
            }
        }
        if (returns) {
            code.labelBinding(released);
            for (int i = 0; i < graph.refs; i++) {
                locals.releaseRef(i);
            }
            giveBack();
        }
        for (int i = 0; i < later.size(); i++) {
            later.get(i).run();
        }
        if (suspends) {
            code.labelBinding(suspended);
            for (int i = 0; i < graph.refs; i++) {
                frames.spillRef(i);
            }
            giveNothing();
        }
        Label end = code.newBoundLabel();
        handler(start, end);
        if (calls) {
            code.labelBinding(deep);
            deep();
        }
        if (locals.count() > MAX_LOCALS) {
            throw new NotCompiledException(locals.count() + " locals");
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

    private void block(int index) {
        Block block = graph.blocks.get(index);
        code.labelBinding(labels[index]);
        locals.state = new WordState(plan.entry(index));
        lastAt = -1;
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
            case Op.YIELD -> yieldTo(node);
            case Op.RETURN -> returnFrom(node);
            case Op.CALL, Op.CALL_VARIADIC, Op.CALL_YIELDABLE, Op.CALL_VARIADIC_YIELDABLE -> {
                at(node.pc + 1);
                CallSite site = Objects.requireNonNull(node.site);
                if (!site.isImport && unit.contains(site.callee)) {
                    callDirectly(node, site);
                } else {
                    callThroughFrame(node, site);
                }
                if (!node.edges.isEmpty()) {
                    edge(node.edges.getFirst(), block, node);
                }
            }
            default -> {
                if (OperationEmitter.canFail(node.op)) {
                    at(node.pc + 1);
                }
                operations.emit(node);
            }
        }
    }

    /** Notes where a failure would be. */
    private void at(int pc) {
        if (pc != lastAt) {
            code.loadConstant(pc).istore(at);
            lastAt = pc;
        }
    }

    private void compareAndBranch(Node comparison, Node branch, int block) {
        Opcode jump = comparisons.condition(comparison);
        branch(jump, branch, block, comparison);
    }

    /** Jumps if what is on the stack says so. The result of a comparison that is joined with the jump is known on each way. */
    private void branch(Opcode jump, Node node, int block, @Nullable Node comparison) {
        Label yes = code.newLabel();
        code.branch(jump, yes);
        WordState state = locals.state;
        for (int way = 1; way >= 0; way--) {
            Edge edge = node.edges.get(way);
            locals.state = new WordState(state);
            if (way == 0) {
                code.labelBinding(yes);
            }
            if (comparison != null) {
                int flag = comparison.defs[0];
                if (isWanted(flag, edge)) {
                    code.loadConstant(way == 0 ? 1 : 0);
                    locals.store(I, flag, comparison.keepsOther[0]);
                } else if (locals.state.splits(flag, comparison.keepsOther[0])) {
                    code.iconst_0();
                    locals.store(I, flag, true);
                } else {
                    locals.state.forget(flag, false);
                }
            }
            edge(edge, block, node);
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
        for (Move move : edge.moves()) {
            if (move.ref) {
                at(node.pc + 1);
            }
            locals.move(move);
        }
        lastAt = -1;
        WordState wanted = plan.entry(edge.target());
        locals.convert(wanted);
        Label target = labels[edge.target()];
        if (edge.target() > block) {
            code.goto_(target);
            return;
        }
        Label look = code.newLabel();
        code.iinc(jumps, -1).iload(jumps).ifle(look).goto_(target);
        int pc = node.pc + 1;
        later.add(() -> {
            code.labelBinding(look);
            code.loadConstant(pc).istore(at);
            code.aload(X)
                    .invokevirtual(EXECUTION, "look", MethodTypeDesc.of(CD_int))
                    .istore(jumps);
            code.goto_(target);
        });
    }

    private void returnFrom(Node node) {
        returns = true;
        at(node.pc + 1);
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
                code.astore(result);
            } else {
                locals.load(kind, node.uses[i]);
                code.storeLocal(typeKindOf(kind), result);
            }
        }
        code.goto_(released);
    }

    private void giveBack() {
        ClassDesc type = resultOf(graph.code);
        TypeKind kind = TypeKind.from(type);
        if (kind != TypeKind.VOID) {
            code.loadLocal(kind, result);
        }
        code.return_(kind);
    }

    /** Returns to a caller that sees that this has deferred. */
    private void giveNothing() {
        TypeKind kind = TypeKind.from(resultOf(graph.code));
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

    private static TypeKind typeKindOf(byte kind) {
        return TypeKind.from(OperationEmitter.descOf(kind));
    }

    /** Calls a function of the same class. */
    private void callDirectly(Node node, CallSite site) {
        FunctionCode callee = unit.function(site.callee);
        code.aload(X);
        code.aload(X)
                .aload(FRAME_SLOT)
                .loadConstant(unit.constant(callee, FUNCTION))
                .aload(STATE_SLOT);
        code.invokevirtual(EXECUTION, "push", MethodTypeDesc.of(FRAME, FRAME, FUNCTION, STATE));
        code.aload(STATE_SLOT);
        for (int i = 0; i < node.uses.length; i++) {
            if (node.useKinds[i] == R) {
                locals.take(node.uses[i]);
            } else {
                locals.load(node.useKinds[i], node.uses[i]);
            }
        }
        code.invokestatic(unit.self(), unit.methodOf(site.callee), typeOf(callee));
        TypeKind kind = TypeKind.from(resultOf(callee));
        if (unit.mayDefer(site.callee)) {
            if (kind != TypeKind.VOID) {
                code.storeLocal(kind, result);
            }
            Label out = code.newLabel();
            code.aload(X).getfield(EXECUTION, "deferred", CD_boolean).ifne(out);
            suspendAtCall(out, node, site);
            if (kind != TypeKind.VOID) {
                code.loadLocal(kind, result);
            }
        }
        if (kind != TypeKind.VOID) {
            if (node.defKinds[0] == R) {
                locals.putRef(node.defs[0] & ~Code.MOVE);
            } else {
                locals.store(node.defKinds[0], node.defs[0], node.keepsOther[0]);
            }
            return;
        }
        for (int i = 0; i < node.defs.length; i++) {
            byte defined = node.defKinds[i];
            if (defined == R) {
                code.aload(X).loadConstant(i);
                code.invokevirtual(EXECUTION, "takeResult", MethodTypeDesc.of(CD_Object, CD_int));
                locals.putRef(node.defs[i] & ~Code.MOVE);
                continue;
            }
            code.aload(X).getfield(EXECUTION, "wordResults", CD_long.arrayType());
            code.loadConstant(i).laload();
            if (!RegisterPlan.isWide(defined)) {
                code.l2i();
            }
            operations.unbits(defined);
            locals.store(defined, node.defs[i], node.keepsOther[i]);
        }
    }

    /** Calls an import, or a function of another class: arguments and results go through the frame's arrays. */
    private void callThroughFrame(Node node, CallSite site) {
        for (int i = 0; i < node.uses.length; i++) {
            frames.spill(node.useKinds[i], node.uses[i]);
        }
        for (int i = 0; i < node.defs.length; i++) {
            if (node.defKinds[i] == R) {
                frames.spillRef(node.defs[i] & ~Code.MOVE);
            }
        }
        code.aload(X);
        if (site.isImport) {
            code.aload(STATE_SLOT).loadConstant(unit.constant(site, SITE)).aload(FRAME_SLOT);
            code.invokevirtual(EXECUTION, "callImport", MethodTypeDesc.of(CD_boolean, STATE, SITE, FRAME));
        } else {
            code.loadConstant(unit.constant(unit.function(site.callee), FUNCTION));
            code.aload(STATE_SLOT).loadConstant(unit.constant(site, SITE)).aload(FRAME_SLOT);
            code.invokevirtual(EXECUTION, "callFunction", MethodTypeDesc.of(CD_boolean, FUNCTION, STATE, SITE, FRAME));
        }
        Label out = code.newLabel();
        code.ifeq(out);
        suspendAtCall(out, node, site);
        for (int i = 0; i < node.uses.length; i++) {
            if (node.useKinds[i] == R) {
                frames.fillRef(node.uses[i] & ~Code.MOVE);
            }
        }
        for (int i = 0; i < node.defs.length; i++) {
            byte kind = node.defKinds[i];
            int register = node.defs[i] & ~Code.MOVE;
            if (kind == R) {
                frames.fillRef(register);
            } else {
                frames.fill(kind, register);
                locals.store(kind, register, node.keepsOther[i]);
            }
        }
    }

    private void suspendAtCall(Label out, Node node, CallSite site) {
        suspends = true;
        WordState state = new WordState(locals.state);
        later.add(() -> {
            code.labelBinding(out);
            locals.state = state;
            frames.spillWords(node.liveAfter);
            code.aload(X)
                    .aload(FRAME_SLOT)
                    .loadConstant(unit.constant(graph.code, FUNCTION))
                    .aload(STATE_SLOT);
            code.loadConstant(unit.constant(site, SITE)).loadConstant(node.pc);
            code.invokevirtual(
                    EXECUTION, "suspendAtCall", MethodTypeDesc.of(CD_void, FRAME, FUNCTION, STATE, SITE, CD_int));
            code.goto_(suspended);
        });
    }

    private void yieldTo(Node node) {
        suspends = true;
        Edge edge = node.edges.getFirst();
        for (Move move : edge.moves()) {
            at(node.pc + 1);
            locals.move(move);
        }
        frames.spillWords(plan.liveIn[edge.target()]);
        code.aload(X)
                .aload(FRAME_SLOT)
                .loadConstant(unit.constant(graph.code, FUNCTION))
                .aload(STATE_SLOT);
        code.loadConstant(graph.blocks.get(edge.target()).pc());
        code.invokevirtual(EXECUTION, "suspend", MethodTypeDesc.of(CD_void, FRAME, FUNCTION, STATE, CD_int));
        code.aload(X).aload(FRAME_SLOT);
        code.invokevirtual(EXECUTION, "yielding", MethodTypeDesc.of(CD_void, FRAME));
        code.goto_(suspended);
    }

    private void handler(Label start, Label end) {
        Label handler = code.newBoundLabel();
        int failure = locals.local(1);
        code.astore(failure);
        code.aload(X)
                .aload(FRAME_SLOT)
                .loadConstant(unit.constant(graph.code, FUNCTION))
                .aload(STATE_SLOT);
        code.iload(at);
        code.invokevirtual(EXECUTION, "failing", MethodTypeDesc.of(CD_void, FRAME, FUNCTION, STATE, CD_int));
        for (int i = 0; i < graph.refs; i++) {
            locals.releaseRef(i);
        }
        code.aload(failure).athrow();
        code.exceptionCatchAll(start, end, handler);
    }

    private void deep() {
        code.aload(X)
                .aload(FRAME_SLOT)
                .loadConstant(unit.constant(graph.code, FUNCTION))
                .aload(STATE_SLOT);
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
                    operations.unbits(kind);
                }
            }
        }
        code.return_(TypeKind.from(resultOf(graph.code)));
    }
}
