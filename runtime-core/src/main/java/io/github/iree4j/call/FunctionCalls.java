package io.github.iree4j.call;

import io.github.iree4j.async.IreeFuture;
import io.github.iree4j.hal.pool.MemoryHolder;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.task.ProcessOptions;
import io.github.iree4j.tensor.TensorElements;
import io.github.iree4j.vm.Context;
import io.github.iree4j.vm.Invocation;
import java.util.ArrayDeque;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The calls of one function of a program. Safe from any thread.
 *
 * <p>Inputs are the caller's values, except for tensors. A tensor is passed as {@link TensorElements}, or as a
 * {@link Transfer} where the call takes the tensor. The call owns the input array from then on. Among results, tensors
 * are {@link TensorElements} as well.
 */
public final class FunctionCalls {
    /** Maximum number of idle stacks; several stacks are in use only while calls overlap. */
    private static final int KEPT = 16;

    private final ProgramCalls program;
    private final Signature signature;
    /**
     * Whether the function's code runs before the fence at which the inputs have their contents. False if the code
     * would then keep the program's turn while waiting for the fence: other calls of the program may have to reach the
     * fence.
     */
    final boolean goesAhead;

    private final String fullName;
    final ProcessOptions processOptions; // of the processes that run the calls
    final MemoryNeeds needs;
    private final Supplier<@Nullable MemoryHolder> turn; // the holder of the turn

    /** Idle invocations; taken and returned in the program's turn. */
    private final ArrayDeque<Invocation> idle = new ArrayDeque<>();

    /**
     * Creates the calls of a function of a program.
     *
     * @param waitsOnHost whether the function's code may wait for a fence
     */
    public FunctionCalls(ProgramCalls program, Signature signature, boolean waitsOnHost) {
        this.program = program;
        this.signature = signature;
        this.goesAhead = signature.isAsynchronous() && (program.overlaps || !waitsOnHost);
        this.turn = () -> program.keepingBack(null);
        this.needs = new MemoryNeeds(program.memory());
        this.fullName = signature.describe(); // cached: built on each call
        this.processOptions = CoroutineProcess.options(fullName);
    }

    public String fullName() {
        return fullName;
    }

    public Signature signature() {
        return signature;
    }

    /**
     * Makes a call on the calling thread.
     *
     * @param inputs as described for the class
     * @param results owns the results, and converts the results for the caller while the program is in use
     */
    public <R> R invoke(@Nullable Object[] inputs, Function<@Nullable Object[], R> results) {
        program.enter();
        MemoryHolder outer = MemoryHolder.current();
        MemoryHolder holder = holder(outer);
        MemoryHolder before = outer == null ? null : outer.awaits(holder);
        Runnable learn = () -> {};
        try {
            program.begins(holder, outer);
            @Nullable Object[] values;
            try (ArgumentList arguments = new ArgumentList(signature, program.memory(), holder, inputs)) {
                program.checkMayWait(fullName);
                InputSize size = arguments.size();
                BlockingCall call = new BlockingCall(program, this, arguments);
                try {
                    List<MemoryNeed> all = needs.of(size);
                    call.admit(size, outer == null ? all : MemoryNeeds.beside(outer, all), outer);
                    call.passInputs(size);
                    learn = () -> needs.failed(holder);
                    values = call.run();
                    learn = () -> needs.learn(size, holder);
                } catch (RuntimeException | Error e) {
                    if (call.wasInterrupted()) {
                        throw call.cancelled(e);
                    }
                    if (e instanceof IreeException failure) {
                        throw call.interrupted(failure);
                    }
                    throw e;
                } finally {
                    program.removeOwn(call);
                }
                call.wasInterrupted();
            } finally {
                holder.end();
            }
            return results.apply(values);
        } finally {
            holder.settle(learn);
            if (outer != null) {
                outer.goesOn(before);
            }
            program.exit();
        }
    }

    /** The memory holder of a call beginning in its turn. */
    private MemoryHolder holder(@Nullable MemoryHolder outer) {
        MemoryHolder holder = new MemoryHolder(
                fullName,
                program.operations,
                program.memory().device().schedulingDomain().context(),
                outer);
        holder.waitsForTurn(outer == null ? turn : () -> program.keepingBack(outer));
        return holder;
    }

    /**
     * Makes a call on threads other than the calling thread.
     *
     * @param inputs as described for the class
     * @param results owns the results, and converts the results for the caller, on a thread where arbitrary code may
     *     run
     * @param discard frees converted results without a receiver
     */
    public <R> IreeFuture<R> submit(
            CallTerms terms, @Nullable Object[] inputs, Function<@Nullable Object[], R> results, Consumer<R> discard) {
        program.enter();
        MemoryHolder holder = null;
        ArgumentList arguments = null;
        SubmittedCall<R> call = null;
        try {
            MemoryHolder outer = MemoryHolder.current();
            holder = holder(outer);
            program.begins(holder, outer);
            arguments = new ArgumentList(signature, program.memory(), holder, inputs);
            call = new SubmittedCall<>(program, this, arguments, terms, results, discard);
            call.admit();
            return call.start();
        } catch (RuntimeException | Error e) {
            if (call != null) {
                program.remove(call);
            }
            if (arguments != null) {
                arguments.close();
            }
            if (holder != null) {
                holder.end();
                holder.settle(() -> {});
            }
            program.exit();
            throw e;
        }
    }

    /** Returns an idle or a new invocation. Only in the program's turn. */
    Invocation takeInvocation(Context context) {
        Invocation used = idle.poll();
        return used != null ? used : context.invocation(signature.function()).calledAs(fullName);
    }

    /** Resets and keeps the invocation, unless enough invocations are kept. Only in the program's turn. */
    void giveBack(Invocation used) {
        if (idle.size() < KEPT) {
            used.reset();
            idle.push(used);
        } else {
            used.close();
        }
    }

    /** Frees the idle invocations; only when no call can run any more. */
    public void free() {
        idle.forEach(Invocation::close);
        idle.clear();
    }
}
