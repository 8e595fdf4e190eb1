package io.github.iree4j;

import io.github.iree4j.api.NotForApplications;
import io.github.iree4j.async.Deadline;
import io.github.iree4j.async.Fence;
import io.github.iree4j.async.IreeFuture;
import io.github.iree4j.async.ThreadDeadlines;
import io.github.iree4j.call.CallTerms;
import io.github.iree4j.status.CallWait;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A function of a {@link Program}, to be called any number of times from any thread.
 *
 * <p><b>Inputs.</b> For a tensor: a {@link Tensor}, a {@link io.github.iree4j.hal.BufferView}, or Java values,
 * converted to a tensor by the declaration: an array (nested, or flat where the length determines the shape), a number
 * or boolean for a scalar. Floats become any declared float type, integers any integer type that can hold the values.
 * For a primitive: a number of the declared kind, or a boolean. For storage of a result ({@code !hal.buffer}): a
 * tensor. Any other object is passed as a reference; null is the null reference. An array of arrays is a single input,
 * see {@link #inputs}. Inputs are read before the call starts, and stay the caller's: programs cannot free inputs. A
 * {@linkplain Tensor#transfer() transferred} tensor belongs to the program.
 *
 * <p><b>Checks.</b> Number, element type and shape of inputs are checked against the module's declaration; a mismatch
 * is INVALID_ARGUMENT, naming the function, the argument, the expected and the actual type.
 *
 * <p><b>Threads.</b> Calls of one program run one after the other; calls by {@link #invokeAsync} and {@link #call}
 * begin in the order of submission. While a call waits, for its turn or for a fence, {@link #invoke} blocks the calling
 * thread, and the other calls occupy no thread. The other calls run on the {@linkplain io.github.iree4j.monitor.Workers workers}
 * of the runtime; when the program has modules written in Java, which may block, each call runs on a virtual thread.
 *
 * <p><b>Memory.</b> A call begins once the memory that the call is likely to need fits beside the memory of calls in
 * progress. Until then the call stands in one line with all other calls on the device, and holds no device memory:
 * {@link #invoke} blocks, and an asynchronous call keeps inputs on the heap. A nested call does not wait.
 *
 * <p><b>Variants.</b> A function may represent {@linkplain #variants() several compiled variants} for other shapes, and
 * each call selects the best fit; the declaration then has a {@code ?} for each dimension that may differ.
 */
public abstract sealed class ProgramFunction permits CompiledFunction, VariantFunction {
    private final Program program;

    ProgramFunction(Program program) {
        this.program = program;
    }

    /**
     * Returns the name within the module.
     *
     * @return for example {@code add}
     */
    public abstract String name();

    /**
     * Returns the name in messages, which {@link Program#function} finds as well.
     *
     * @return for example {@code digits.add} of a program with a {@linkplain ProgramOptions.Builder#name name},
     *     {@code digits.other.add} of a module before the last; otherwise with the module's name, {@code module.add}
     */
    public abstract String fullName();

    /** Returns the name with the module's name. */
    abstract String key();

    /**
     * Returns the program of the function.
     *
     * @return the program
     */
    public final Program program() {
        return program;
    }

    /**
     * Returns the source signature, for display.
     *
     * @return for example {@code sync func @add(%input0: tensor<4xf32>, ...) -> (...)}; the calling convention when the
     *     module has no declaration
     */
    public abstract String declaration();

    /**
     * Returns the reflection attributes.
     *
     * @return unmodifiable
     */
    public abstract Map<String, String> attributes();

    /**
     * Returns the arguments passed by a caller.
     *
     * @return without the fences of asynchronous functions; as many as {@link #argumentKinds()}
     */
    public abstract List<ValueDeclaration> arguments();

    /**
     * Returns the results.
     *
     * @return as many as {@link #resultKinds()}
     */
    public abstract List<ValueDeclaration> results();

    /**
     * Returns the kind of each input.
     *
     * @return unmodifiable; the fences of asynchronous functions are not inputs
     */
    public abstract List<ValueKind> argumentKinds();

    /**
     * Returns the kind of each result.
     *
     * @return unmodifiable
     */
    public abstract List<ValueKind> resultKinds();

    /**
     * Returns whether the function was compiled to take fences ({@code iree.abi.model} is {@code coarse-fences}). Such
     * a function is called the same way.
     *
     * @return true if the function returns before results are computed
     */
    public abstract boolean isAsynchronous();

    /**
     * Returns the variants from which this function selects at each call.
     *
     * @return empty for a function that is itself compiled
     */
    public abstract Optional<FunctionVariants> variants();

    /**
     * Converts an array or number to a tensor, as for an input, for callers that inspect inputs before the call.
     *
     * @param index of the argument, from 0
     * @param value an array, a number or a boolean
     * @return the tensor, which may share the array; needs no closing
     * @throws IreeException INVALID_ARGUMENT when the value does not fit the declaration
     */
    @NotForApplications
    public abstract Tensor tensor(int index, Object value);

    /**
     * Returns the inputs of a call from the array of a variable number of arguments. Java passes a {@code float[][]} as
     * this array, although a caller means one input of two dimensions; an array of arrays is therefore the only input.
     * Several arrays in an {@code Object[]} are several inputs. Every method for calls does this itself.
     *
     * @param inputs the array; not copied
     * @return the inputs, one for each argument of the function
     * @throws IreeException INVALID_ARGUMENT when the array is null, as Java passes a null without a type
     */
    @NotForApplications
    public static @Nullable Object[] inputs(@Nullable Object[] inputs) {
        if (inputs == null) {
            throw IreeException.of(
                    StatusCode.INVALID_ARGUMENT,
                    "the array of inputs is null; pass 'new Object[0]' for no inputs, and '(Object) null' for a null reference");
        }
        return inputs.getClass().getComponentType().isArray() ? new Object[] {inputs} : inputs;
    }

    /**
     * Returns the inputs of a call in the order of the arguments.
     *
     * @param inputs each input by the name of the argument; {@code input0} for a first argument without a name
     * @return the inputs, in a new array
     * @throws IreeException INVALID_ARGUMENT when an input is missing, or there is no argument of a name
     */
    @NotForApplications
    public final @Nullable Object[] inOrder(Map<String, ? extends @Nullable Object> inputs) {
        List<String> names = ValueDeclaration.names(arguments(), ValueDeclaration.INPUT);
        for (String name : inputs.keySet()) {
            if (!names.contains(name)) {
                throw IreeException.of(
                        StatusCode.INVALID_ARGUMENT,
                        "'%s' has no input '%s'; the inputs are %s".formatted(fullName(), name, names));
            }
        }
        @Nullable Object[] ordered = new Object[names.size()];
        for (int i = 0; i < ordered.length; i++) {
            if (!inputs.containsKey(names.get(i))) {
                throw IreeException.of(
                        StatusCode.INVALID_ARGUMENT,
                        "input '%s' (%s) of '%s' is missing; the inputs are %s"
                                .formatted(names.get(i), arguments().get(i).type(), fullName(), names));
            }
            ordered[i] = inputs.get(names.get(i));
        }
        return ordered;
    }

    /**
     * Calls the function and waits for the results.
     *
     * @param inputs as many as the function takes
     * @return the results; the caller closes the results
     * @throws IreeException INVALID_ARGUMENT for inputs that do not fit; FAILED_PRECONDITION when the program or an
     *     input is closed; or when called on a worker of the runtime, for example by a host call; CANCELLED when the
     *     thread is interrupted while waiting (the thread stays interrupted); DEADLINE_EXCEEDED after the
     *     {@linkplain Program#setTimeout timeout} of the program; any failure of the function
     */
    public final Results invoke(@Nullable Object... inputs) {
        ProgramFunction now = program.successor(this);
        Duration limit = now.program.timeout().orElse(null);
        try {
            return limit == null || ThreadDeadlines.isThreadLimitedTo(limit)
                    ? now.invokeHere(inputs(inputs))
                    : now.invokeHereWithin(limit, inputs(inputs));
        } catch (IreeException e) {
            if (now.program.hasHandedOver(e)) {
                return now.invoke(inputs);
            }
            throw e;
        }
    }

    /** Like {@link #invoke}, for this program only. */
    abstract Results invokeHere(@Nullable Object[] inputs);

    private Results invokeHereWithin(Duration limit, @Nullable Object[] inputs) {
        ThreadDeadlines.Work here = program.deadlines().begin(Deadline.after(limit));
        Results results;
        try {
            results = invokeHere(inputs);
        } catch (IreeException e) {
            here.end();
            throw here.isLate() ? CallWait.late(fullName(), limit, e) : e;
        } catch (RuntimeException | Error e) {
            here.end();
            throw e;
        }
        here.end();
        return results;
    }

    /**
     * Starts a call. This thread first copies the inputs to memory invisible to the host, possibly memory of another
     * machine. The copy takes no longer than the call may.
     */
    final IreeFuture<Results> startWithin(
            @Nullable Deadline deadline, @Nullable Fence signal, Supplier<IreeFuture<Results>> start) {
        if (deadline == null || program.devices().getFirst().isMemoryOfHost()) {
            return start.get();
        }
        ThreadDeadlines.Work here = program.deadlines().begin(deadline);
        IreeFuture<Results> started;
        try {
            started = start.get();
        } catch (IreeException e) {
            here.end();
            if (!here.isLate()) {
                throw e;
            }
            IreeException late = CallWait.late(fullName(), deadline.timeout(), e);
            if (signal != null) {
                signal.fail(late);
            }
            return IreeFuture.failed(late);
        } catch (RuntimeException | Error e) {
            here.end();
            throw e;
        }
        here.end();
        return started;
    }

    /**
     * Calls the function on workers, see above. Inputs are read on the calling thread before this method returns.
     *
     * <p>Dependents of the future run on a thread waiting for the future or on a virtual thread, never on a worker, and
     * may block.
     *
     * <p>Completing the future from outside, by {@code cancel} or {@code orTimeout}, cancels the call: a call waiting
     * for its turn does not run, a running call ends at the next point where the program or the wait can be
     * interrupted. Results that can no longer be received are freed.
     *
     * @param inputs as many as the function takes
     * @return completes with the results, closed by the receiver, or with an {@link IreeException}
     * @throws IreeException INVALID_ARGUMENT for inputs that do not fit; FAILED_PRECONDITION when the program or an input is closed
     */
    public final IreeFuture<Results> invokeAsync(@Nullable Object... inputs) {
        return call(CallOptions.DEFAULTS, inputs);
    }

    /**
     * Submits the function with options, and returns at once: the function runs after one fence and signals another
     * fence. {@link #submit} makes the fence to signal.
     *
     * <p><b>Order.</b> Fences are the only order between submissions, regardless of the order of the calls; work runs
     * concurrently if the fences allow. A function {@linkplain #isAsynchronous() with fences} receives both fences, so
     * that the device waits and signals, without a thread; such calls of one priority are made in the order of
     * submission, so that a program with its own timeline keeps this order where no fence defines an order. Any other
     * function runs as host work: once the fence to wait for is reached, in turn among the calls of the program. A
     * function with fences also runs as host work if the compiled code itself waits on the host, unless calls
     * {@linkplain ProgramOptions.Builder#overlappingCalls overlap}: otherwise the call would keep the turn from calls
     * that reach its fence.
     *
     * <p><b>Several signallers of one fence</b> are counted: the fence is reached when all submissions until then are
     * complete. When the first submission may complete before the last submission is made, give the number of
     * submissions ({@link io.github.iree4j.async.Timeline#at(long, int)}).
     *
     * <p><b>Results.</b> The future of a function with fences completes when the program has returned the results,
     * usually long before the contents are ready: results may be passed on at once, and read when the fence to signal
     * is reached. The future of any other function, and of every function submitted without a fence to signal,
     * completes with contents, and before the fence is reached. While memory is short, a call is made once the fence to
     * wait for is reached, and the future is not complete before: signal this fence before waiting for the future.
     *
     * <p><b>Failure.</b> A failure of the work fails the fence to signal, with the root cause: a failed fence to wait
     * for (the function then does not run), the function itself, or cancellation. A future that has not completed fails
     * as well. Completing the future from outside cancels a function without fences, as described for
     * {@link #invokeAsync}, and a function with fences until the call is made; later, fail the timeline awaited by the
     * call, or {@linkplain io.github.iree4j.monitor.ProgramMonitor#cancelCall(long) cancel} the call by its number.
     *
     * <p><b>Timeout.</b> At the timeout the call is abandoned: the future fails with DEADLINE_EXCEEDED, unless
     * complete, and so does the fence to signal unless the call's work has been submitted to a device. The timeout
     * holds until the fence is reached, also when the future has completed before.
     *
     * <p><b>Ownership.</b> Inputs are read before this method returns, and retained until the work is complete; fences
     * may be closed right away. Closing the program or the runtime cancels work that has not begun;
     * {@link Program#retire} lets such work finish.
     *
     * @param options fences, timeout and priority; the {@linkplain Program#setTimeout timeout} of the program replaces a
     *     longer timeout
     * @param inputs as many as the function takes
     * @return the results, closed by the receiver, or an {@link IreeException}
     * @throws IreeException INVALID_ARGUMENT for inputs that do not fit and for a point that is reached or promised already;
     *     FAILED_PRECONDITION when the program, an input or a fence is closed. Nothing is submitted then
     */
    public final IreeFuture<Results> call(CallOptions options, @Nullable Object... inputs) {
        ProgramFunction now = program.successor(this);
        try {
            CallOptions limited = options.begin(now.program.timeout().orElse(null));
            CallTerms terms = new CallTerms(
                    options.after().orElse(null),
                    options.signal().orElse(null),
                    options.priority(),
                    limited.deadline().orElse(null),
                    options.timeout().isPresent());
            return now.callHere(terms, inputs(inputs));
        } catch (IreeException e) {
            if (now.program.hasHandedOver(e)) {
                return now.call(options, inputs);
            }
            throw e;
        }
    }

    /**
     * Submits the function with a new fence, which is reached when the work of the call is complete, and returns at
     * once: the results are inputs of the next call, and the fence orders the next call after this call. Otherwise as
     * {@link #call} with a fence to signal.
     *
     * @param options a fence to wait for, timeout and priority; no fence to signal
     * @param inputs as many as the function takes
     * @return the results and the fence
     * @throws IreeException as {@link #call}; INVALID_ARGUMENT when the options have a fence to signal
     */
    public final Submission<Results> submit(CallOptions options, @Nullable Object... inputs) {
        return Submission.of(fullName(), options, with -> call(with, inputs));
    }

    /** Like {@link #call}, for this program only. */
    abstract IreeFuture<Results> callHere(CallTerms terms, @Nullable Object[] inputs);

    @Override
    public final String toString() {
        return declaration();
    }
}
