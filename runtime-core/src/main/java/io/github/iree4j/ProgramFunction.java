package io.github.iree4j;

import io.github.iree4j.async.Fence;
import io.github.iree4j.async.ThreadDeadlines;
import io.github.iree4j.call.CallTerms;
import io.github.iree4j.status.FileFault;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A function of a {@link Program}, to be called any number of times from any thread.
 *
 * <p><b>Inputs.</b> For a tensor: a {@link Tensor}, a {@link io.github.iree4j.hal.BufferView}, or Java values, of which the
 * declaration makes a tensor: an array (nested, or flat where its length determines the shape), a number or boolean for a scalar.
 * Floats become any declared float type, integers any integer type that can hold them. For a primitive: a number of its kind, or
 * a boolean. For storage of a result ({@code !hal.buffer}): a tensor. Anything else is passed as the reference it is; null is the
 * null reference. Inputs are read before the call starts, and they stay the caller's: programs cannot free them. A
 * {@linkplain Tensor#transfer() transferred} tensor belongs to the program.
 *
 * <p><b>Checks.</b> Number, element type and shape of inputs are checked against what the module declares; a mismatch is INVALID_ARGUMENT
 * that names the function, the argument, the expected and the actual type.
 *
 * <p><b>Threads.</b> Calls of one program run one after the other; those of {@link #invokeAsync} and {@link #submit} begin in the
 * order in which they were made. While a call waits, for its turn or for a fence, {@link #invoke} blocks its thread, and the
 * others occupy none. They run on the {@linkplain IreeRuntime#executor() workers} of the runtime; when the program has modules
 * written in Java, which may block, on a virtual thread for each.
 *
 * <p><b>Memory.</b> A call begins once the memory that it is likely to need fits beside that of calls in progress. Until then it stands in one
 * line with all other calls on the device, and holds nothing of it: {@link #invoke} blocks, and an asynchronous call keeps its inputs on the
 * heap. A call of a call does not wait.
 *
 * <p><b>Variants.</b> A function may represent {@linkplain #variants() several compiled ones} of other shapes, and each call
 * selects the one that fits best; its declaration then has a {@code ?} for each dimension that may differ.
 */
public abstract sealed class ProgramFunction permits CompiledFunction, VariantFunction {
    private final Program program;

    ProgramFunction(Program program) {
        this.program = program;
    }

    /**
     * Returns the name within its module.
     *
     * @return for example {@code add}
     */
    public abstract String name();

    /**
     * Returns the name with the module's.
     *
     * @return for example {@code module.add}
     */
    public abstract String fullName();

    /**
     * Returns the program it belongs to.
     *
     * @return the program
     */
    public final Program program() {
        return program;
    }

    /**
     * Returns the source signature, for display.
     *
     * @return for example {@code sync func @add(%input0: tensor<4xf32>, ...) -> (...)}; the calling convention when the module says nothing
     */
    public abstract String declaration();

    /**
     * Returns the reflection attributes.
     *
     * @return unmodifiable
     */
    public abstract Map<String, String> attributes();

    /**
     * Returns the arguments that a caller passes.
     *
     * @return without the fences of asynchronous functions; as many as {@link #argumentKinds()} has letters
     */
    public abstract List<ValueDeclaration> arguments();

    /**
     * Returns the results.
     *
     * @return as many as {@link #resultKinds()} has letters
     */
    public abstract List<ValueDeclaration> results();

    /**
     * Returns the kind of each input: {@code i} i32, {@code I} i64, {@code f} f32, {@code F} f64, {@code r} a reference such as a tensor.
     *
     * @return one letter per input; the fences of asynchronous functions are not inputs
     */
    public abstract String argumentKinds();

    /**
     * Returns the kind of each result, with the letters of {@link #argumentKinds()}.
     *
     * @return one letter per result
     */
    public abstract String resultKinds();

    /**
     * Returns whether the function was compiled to take fences ({@code iree.abi.model} is {@code coarse-fences}). It is called the same way.
     *
     * @return true if it returns before its results are computed
     */
    public abstract boolean isAsynchronous();

    /**
     * Returns the variants from which this function selects at each call.
     *
     * @return null for a function that is itself compiled
     */
    public abstract @Nullable FunctionVariants variants();

    /**
     * Converts an array or number to the tensor that it becomes as an input, for callers that inspect inputs before the call.
     *
     * @param index of the argument, from 0
     * @param value an array, a number or a boolean
     * @return the tensor, which may share the array; needs no closing
     * @throws IreeException INVALID_ARGUMENT when it does not fit the declaration
     */
    public abstract Tensor tensor(int index, Object value);

    /**
     * Calls the function and waits for its results.
     *
     * @param inputs as many as it takes
     * @return the results; the caller closes them
     * @throws IreeException INVALID_ARGUMENT for inputs that do not fit; FAILED_PRECONDITION when the program or an input is
     *     closed; or when called on a worker of the runtime, for example by a host call; CANCELLED when the thread is interrupted
     *     while it waits (it stays interrupted); DEADLINE_EXCEEDED after the {@linkplain Program#limitCalls limit} of the program;
     *     any failure of the function
     */
    public final Results invoke(@Nullable Object... inputs) {
        ProgramFunction now = program.successor(this);
        Duration limit = now.program.callLimit();
        try {
            return limit == null || ThreadDeadlines.isThreadLimited()
                    ? now.invokeHere(inputs)
                    : now.invokeHereWithin(limit, inputs);
        } catch (IreeException e) {
            if (now.program.hasHandedOver(e)) {
                return now.invoke(inputs);
            }
            throw e;
        }
    }

    /** The same for this program only. */
    abstract Results invokeHere(@Nullable Object[] inputs);

    private Results invokeHereWithin(Duration limit, @Nullable Object[] inputs) {
        ThreadDeadlines.Deadline deadline = program.deadlines().begin(limit);
        Results results;
        try {
            results = invokeHere(inputs);
        } catch (IreeException e) {
            deadline.end();
            throw deadline.isLate() ? late(limit, e) : e;
        } catch (RuntimeException | Error e) {
            deadline.end();
            throw e;
        }
        deadline.end();
        return results;
    }

    /**
     * Starts a call, whose inputs are copied before, on this thread: to memory that the host does not see, which may be that of another machine.
     * That takes no longer than the call may.
     */
    final CompletableFuture<Results> startWithin(
            @Nullable Duration time, @Nullable Fence signal, Supplier<CompletableFuture<Results>> start) {
        if (time == null || program.devices().getFirst().isMemoryOfHost()) {
            return start.get();
        }
        ThreadDeadlines.Deadline deadline = program.deadlines().begin(time);
        CompletableFuture<Results> started;
        try {
            started = start.get();
        } catch (IreeException e) {
            deadline.end();
            if (!deadline.isLate()) {
                throw e;
            }
            IreeException late = late(time, e);
            if (signal != null) {
                signal.fail(late);
            }
            return CompletableFuture.failedFuture(late);
        } catch (RuntimeException | Error e) {
            deadline.end();
            throw e;
        }
        deadline.end();
        return started;
    }

    private IreeException late(Duration limit, Exception cause) {
        return new IreeException(
                StatusCode.DEADLINE_EXCEEDED, "call of '%s' took longer than %s".formatted(fullName(), limit), cause);
    }

    /**
     * Calls the function and waits for its results for a limited time.
     *
     * @param timeout how long to wait, including for earlier calls of the program
     * @param inputs as many as it takes
     * @return the results; the caller closes them
     * @throws IreeException DEADLINE_EXCEEDED at the timeout: the call is then cancelled as for {@link #invokeAsync}; otherwise as
     *     {@link #invoke}
     */
    public final Results invokeWithin(Duration timeout, @Nullable Object... inputs) {
        CompletableFuture<Results> future = startWithin(timeout, null, () -> call(CallOptions.DEFAULTS, inputs));
        try {
            return future.get(Math.max(0, CallTerms.saturatedNanos(timeout)), TimeUnit.NANOSECONDS);
        } catch (TimeoutException e) {
            IreeException late = late(timeout, e);
            if (future.completeExceptionally(late)) {
                throw late;
            }
            return settled(future); // completed just now
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            IreeException cancelled = new IreeException(
                    StatusCode.CANCELLED, "interrupted while waiting for '%s'".formatted(fullName()), e);
            if (future.completeExceptionally(cancelled)) {
                throw cancelled;
            }
            return settled(future);
        } catch (ExecutionException e) {
            throw failure(e.getCause());
        }
    }

    private static Results settled(CompletableFuture<Results> future) {
        try {
            return future.join(); // settled, and completes at once if it has not yet
        } catch (CompletionException e) {
            throw failure(e.getCause());
        } catch (CancellationException e) {
            throw failure(e);
        }
    }

    private static IreeException failure(@Nullable Throwable cause) {
        if (cause instanceof InternalError fault) {
            return FileFault.of("call", fault);
        }
        return cause instanceof IreeException e
                ? new IreeException(e.code(), e.getMessage(), e)
                : new IreeException(StatusCode.INTERNAL, "call failed: " + cause, cause);
    }

    /**
     * Calls the function on workers, see above. Inputs are read before this returns, on the calling thread.
     *
     * <p>Dependents of the future run on a thread that waits for it or on a virtual thread, never on a worker, and may block.
     *
     * <p>Completing the future from outside, by {@code cancel} or {@code orTimeout}, cancels the call: one that waits for its
     * turn does not run, one that runs ends at the next point where the program or the wait can be interrupted. Results that can
     * no longer be received are freed.
     *
     * @param inputs as many as it takes
     * @return completes with the results, which the receiver closes, or with an {@link IreeException}
     * @throws IreeException INVALID_ARGUMENT for inputs that do not fit; FAILED_PRECONDITION when the program or an input is closed
     */
    public final CompletableFuture<Results> invokeAsync(@Nullable Object... inputs) {
        return submit(null, null, inputs);
    }

    /**
     * Submits the function between two fences, and returns at once: it runs after one fence and signals the other.
     *
     * <p><b>Order.</b> Fences are the only order between submissions, regardless of the order of the calls; work runs
     * concurrently if its fences allow. A function {@linkplain #isAsynchronous() with fences} gets both passed through, so that
     * its device waits and signals, without a thread; such calls of one priority are made in the order of their submission, so
     * that a program with its own timeline keeps that order where no fence defines one. Any other function runs as host work:
     * once the fence to wait for is reached, in its turn among the calls of the program. So does one with fences whose compiled
     * code itself waits on the host, unless calls {@linkplain ProgramOptions.Builder#overlappingCalls overlap}: it would keep
     * the turn from those that reach its fence.
     *
     * <p><b>Several signallers of one fence</b> are counted: it is reached when all those submitted until then are complete. When
     * the first may complete before the last is submitted, give their number
     * ({@link io.github.iree4j.async.Timeline#at(long, int)}).
     *
     * <p><b>Results.</b> The future of a function with fences completes when the program has returned them, usually long before
     * their contents are ready: they may be passed on at once, and read when {@code signal} is reached. That of any other
     * function, and that of every function submitted without {@code signal}, completes with contents, and before {@code signal}
     * is reached. While memory is short, a call is made once {@code wait} is reached, and its future is not complete before: signal what it
     * waits for before you wait for the future.
     *
     * <p><b>Failure.</b> A failure of the work fails {@code signal}, with the root cause: a failed fence to wait for (the
     * function then does not run), the function itself, or cancellation. A future that has not completed fails as well.
     * Completing the future from outside cancels a function without fences as {@link #invokeAsync} says, and one with fences
     * until its call is made; later, fail the timeline it waits for.
     *
     * <p><b>Ownership.</b> Inputs are read before this returns, and retained until the work is complete; fences may be closed
     * right away. Closing the program or the runtime cancels work that has not begun; {@link Program#retire} lets it finish.
     *
     * @param wait the fence at which inputs are ready; null when they are ready now
     * @param signal the fence to reach when the work is complete, a point neither reached nor promised; null when the future suffices
     * @param inputs as many as the function takes
     * @return the results, which the receiver closes, or an {@link IreeException}
     * @throws IreeException INVALID_ARGUMENT for inputs that do not fit and for a point that is reached or promised already;
     *     FAILED_PRECONDITION when the program, an input or a fence is closed. Nothing is submitted then
     */
    public final CompletableFuture<Results> submit(
            @Nullable Fence wait, @Nullable Fence signal, @Nullable Object... inputs) {
        return call(CallOptions.DEFAULTS.between(wait, signal), inputs);
    }

    /**
     * Submits the function to timelines as {@link #submit} does, with a priority and for a limited time.
     *
     * <p>At the timeout the call is abandoned as if the future had been completed from outside: the future fails with DEADLINE_EXCEEDED,
     * and so does {@code signal} unless its work has been submitted to a device.
     *
     * @param options fences, timeout and priority; a timeout beyond the {@linkplain Program#limitCalls limit} of the program is that
     * @param inputs as many as the function takes
     * @return the results, which the receiver closes, or an {@link IreeException}
     * @throws IreeException as {@link #submit}
     */
    public final CompletableFuture<Results> call(CallOptions options, @Nullable Object... inputs) {
        ProgramFunction now = program.successor(this);
        try {
            return now.callHere(options, now.program.callLimit(), inputs);
        } catch (IreeException e) {
            if (now.program.hasHandedOver(e)) {
                return now.call(options, inputs);
            }
            throw e;
        }
    }

    /** The same for this program only. */
    abstract CompletableFuture<Results> callHere(
            CallOptions options, @Nullable Duration limit, @Nullable Object[] inputs);

    @Override
    public final String toString() {
        return declaration();
    }
}
