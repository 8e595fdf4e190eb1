package io.github.iree4j.vm.bytecode;

import static io.github.iree4j.vm.bytecode.FunctionGraph.R;
import static io.github.iree4j.vm.bytecode.MethodContext.EXECUTION;
import static io.github.iree4j.vm.bytecode.MethodContext.FRAME;
import static io.github.iree4j.vm.bytecode.MethodContext.FRAME_SLOT;
import static io.github.iree4j.vm.bytecode.MethodContext.FUNCTION;
import static io.github.iree4j.vm.bytecode.MethodContext.SITE;
import static io.github.iree4j.vm.bytecode.MethodContext.STATE;
import static io.github.iree4j.vm.bytecode.MethodContext.STATE_SLOT;
import static io.github.iree4j.vm.bytecode.MethodContext.X;
import static java.lang.constant.ConstantDescs.CD_Object;
import static java.lang.constant.ConstantDescs.CD_boolean;
import static java.lang.constant.ConstantDescs.CD_int;
import static java.lang.constant.ConstantDescs.CD_long;
import static java.lang.constant.ConstantDescs.CD_void;

import io.github.iree4j.vm.bytecode.FunctionCode.CallSite;
import io.github.iree4j.vm.bytecode.FunctionGraph.Edge;
import io.github.iree4j.vm.bytecode.FunctionGraph.Move;
import io.github.iree4j.vm.bytecode.FunctionGraph.Node;
import java.lang.classfile.CodeBuilder;
import java.lang.classfile.Label;
import java.lang.classfile.TypeKind;
import java.lang.constant.ClassDesc;
import java.lang.constant.ConstantDescs;
import java.lang.constant.DirectMethodHandleDesc;
import java.lang.constant.DynamicCallSiteDesc;
import java.lang.constant.MethodHandleDesc;
import java.lang.constant.MethodTypeDesc;
import java.lang.invoke.MethodHandles;
import java.util.Objects;

/** Emits calls and yields: operations that involve another frame. */
final class CallEmitter {
    private static final MethodTypeDesc CALL_IMPORT = MethodTypeDesc.of(CD_boolean, EXECUTION, STATE, SITE, FRAME);
    private static final DirectMethodHandleDesc BIND_IMPORT = MethodHandleDesc.ofMethod(
            DirectMethodHandleDesc.Kind.STATIC,
            ClassDesc.of(ImportSite.class.getName()),
            "bind",
            MethodTypeDesc.of(
                    ConstantDescs.CD_CallSite,
                    ClassDesc.ofDescriptor(MethodHandles.Lookup.class.descriptorString()),
                    ConstantDescs.CD_String,
                    ConstantDescs.CD_MethodType,
                    SITE));

    /**
     * The largest number of import calls in a method for binding them as constants. HotSpot inlines only so much, and a
     * constant target not inlined is slower than an ordinary call.
     */
    private static final int MAX_CONSTANT_CALLS = 8;

    private final MethodContext method;
    private final CodeBuilder code;
    private final UnitLayout unit;
    private final RegisterLocals locals;
    private final FrameEmitter frames;
    private final boolean isConstant;

    CallEmitter(MethodContext method) {
        this.method = method;
        code = method.code;
        unit = method.unit;
        locals = method.locals;
        frames = method.frames;
        isConstant = importCalls(method.graph) <= MAX_CONSTANT_CALLS;
    }

    private static int importCalls(FunctionGraph graph) {
        int count = 0;
        for (FunctionGraph.Block block : graph.blocks) {
            for (Node node : block.nodes()) {
                count += node.site != null && node.site.isImport ? 1 : 0;
            }
        }
        return count;
    }

    void call(Node node) {
        CallSite site = Objects.requireNonNull(node.site);
        if (!site.isImport && unit.contains(site.callee)) {
            callDirectly(node, site);
        } else {
            callThroughFrame(node, site);
        }
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
        code.invokestatic(unit.self(), unit.methodOf(site.callee), FunctionEmitter.typeOf(callee));
        TypeKind kind = TypeKind.from(FunctionEmitter.resultOf(callee));
        if (unit.mayDefer(site.callee)) {
            if (kind != TypeKind.VOID) {
                code.storeLocal(kind, method.result);
            }
            Label out = code.newLabel();
            code.aload(X).getfield(EXECUTION, "deferred", CD_boolean).ifne(out);
            suspendAtCall(out, node, site);
            if (kind != TypeKind.VOID) {
                code.loadLocal(kind, method.result);
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
            OperationEmitter.unbits(code, defined);
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
            if (isConstant) {
                code.invokedynamic(
                        DynamicCallSiteDesc.of(BIND_IMPORT, "callImport", CALL_IMPORT, unit.constant(site, SITE)));
            } else {
                code.invokevirtual(EXECUTION, "callImport", CALL_IMPORT.dropParameterTypes(0, 1));
            }
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
        method.suspends = true;
        WordState state = new WordState(locals.state);
        method.later(() -> {
            code.labelBinding(out);
            locals.state = state;
            frames.spillWords(node.liveAfter);
            code.aload(X);
            method.loadFrameFunctionState();
            code.loadConstant(unit.constant(site, SITE)).loadConstant(node.pc);
            code.invokevirtual(
                    EXECUTION, "suspendAtCall", MethodTypeDesc.of(CD_void, FRAME, FUNCTION, STATE, SITE, CD_int));
            code.goto_(method.suspended);
        });
    }

    void yieldTo(Node node) {
        method.suspends = true;
        Edge edge = node.edges.getFirst();
        for (Move move : edge.moves()) {
            method.at(node.pc + 1);
            locals.move(move);
        }
        frames.spillWords(method.plan.liveIn[edge.target()]);
        code.aload(X);
        method.loadFrameFunctionState();
        code.loadConstant(method.graph.blocks.get(edge.target()).pc());
        code.invokevirtual(EXECUTION, "suspend", MethodTypeDesc.of(CD_void, FRAME, FUNCTION, STATE, CD_int));
        code.aload(X).aload(FRAME_SLOT);
        code.invokevirtual(EXECUTION, "yielding", MethodTypeDesc.of(CD_void, FRAME));
        code.goto_(method.suspended);
    }
}
