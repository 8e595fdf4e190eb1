package io.github.iree4j.spring;

import io.github.iree4j.CallOptions;
import io.github.iree4j.ProgramFunction;
import io.github.iree4j.Results;
import io.github.iree4j.async.Deadline;
import io.github.iree4j.async.Fence;
import io.github.iree4j.async.IreeFuture;
import io.github.iree4j.spring.Programs.BegunCall;
import io.github.iree4j.spring.Programs.LocatedFunction;
import io.github.iree4j.status.IreeException;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * Calls functions of the application's programs by name.
 *
 * <pre>{@code
 * try (Tensor pixels = Tensor.of(values, 1, 64);
 *         Results results = invocations.invoke("digits.classify", pixels)) {
 *     float[] probabilities = results.tensor(0).toFloatArray();
 * }
 * }</pre>
 *
 * <p>A function's name is the configured name of the program ({@code iree.modules.<name>}), a dot, and the name of the
 * function in the program. Inputs are tensors, Java arrays or boxed numbers in the order of the function's arguments;
 * inputs are borrowed until the call, or the returned future, has completed. Results belong to the caller, who closes
 * the results. Results stay on their device and may be inputs of further calls without a copy, except for parts of the
 * results of a batch or a padded call, which are on the heap. A replaced program serves earlier calls; later calls go
 * to the successor. Thread-safe.
 */
public final class InvocationService implements InvocationOperations {

    /** The shortest timeout kept by the caller's thread; another thread keeps shorter timeouts exactly. */
    private static final Duration COARSE = Duration.ofSeconds(1);

    private final Programs programs;
    private final List<InvocationInterceptor> interceptors;
    private final InvocationChain chain;
    private final CallMonitor monitor;

    /**
     * Creates a service with the functions of the given programs.
     *
     * @param programs the programs by name; not closed by this service
     */
    public InvocationService(Programs programs) {
        this(programs, List.of());
    }

    /**
     * Creates a service whose calls pass through interceptors.
     *
     * @param programs the programs by name; not closed by this service
     * @param interceptors the first is the outermost
     */
    public InvocationService(Programs programs, List<? extends InvocationInterceptor> interceptors) {
        this(programs, interceptors, new CallMonitor(programs::cancelCalls));
    }

    InvocationService(Programs programs, List<? extends InvocationInterceptor> interceptors, CallMonitor monitor) {
        this.monitor = monitor;
        this.programs = programs;
        this.interceptors = List.copyOf(interceptors);
        InvocationChain next = this::call;
        for (InvocationInterceptor interceptor : this.interceptors.reversed()) {
            InvocationChain rest = next;
            next = request -> interceptor.intercept(request, rest);
        }
        this.chain = next;
    }

    @Override
    public Results invoke(String function, @Nullable Object... inputs) {
        BegunCall call = programs.locate(function, null, null, CallOptions.DEFAULTS);
        return invoke(call.located(), call.options(), ProgramFunction.inputs(inputs));
    }

    @Override
    public IreeFuture<Results> invokeAsync(String function, @Nullable Object... inputs) {
        try {
            BegunCall call = programs.locate(function, null, null, CallOptions.DEFAULTS);
            return invokeAsync(call.located(), call.options(), ProgramFunction.inputs(inputs));
        } catch (IreeException e) {
            return IreeFuture.failed(e);
        }
    }

    @Override
    public InvocationSpec request(String function) {
        return new DefaultInvocationSpec(this, function, null);
    }

    @Override
    public InvocationSpec request(LocatedFunction function) {
        return new DefaultInvocationSpec(this, function.function().name(), function);
    }

    @Override
    public ProgramFunction function(String function) {
        return programs.function(function);
    }

    Programs programs() {
        return programs;
    }

    Results invoke(LocatedFunction located, CallOptions options, @Nullable Object[] inputs) {
        CallTimes times = located.program().times(located.function());
        long begun = System.nanoTime();
        boolean hasFailed = true;
        try {
            Results results = invokeUntimed(located, begin(located, options), inputs);
            hasFailed = false;
            return results;
        } finally {
            times.ended(begun, hasFailed);
        }
    }

    private Results invokeUntimed(LocatedFunction located, CallOptions options, @Nullable Object[] inputs) {
        if (interceptors.isEmpty() && isForThisThread(options)) {
            return callHere(
                    located.program(), located.function(), options.deadline().orElse(null), inputs);
        }
        return proceed(request(located, options, true, inputs)).await();
    }

    IreeFuture<Results> invokeAsync(LocatedFunction located, CallOptions options, @Nullable Object[] inputs) {
        CallTimes times = located.program().times(located.function());
        long begun = System.nanoTime();
        IreeFuture<Results> call;
        try {
            call = proceed(request(located, begin(located, options), false, inputs));
        } catch (RuntimeException | Error e) { // of an interceptor
            times.ended(begun, true);
            throw e;
        }
        call.whenComplete((_, failure) -> times.ended(begun, failure != null));
        return call;
    }

    /** Begins the time of a call: the limit of the caller or of the program, whichever ends first, for all of the chain. */
    private static CallOptions begin(LocatedFunction located, CallOptions options) {
        return options.begin(located.function().program().timeout().orElse(null));
    }

    private IreeFuture<Results> proceed(InvocationRequest request) {
        Fence signal = request.options().signal().orElse(null);
        CompletableFuture<Results> call;
        try {
            call = chain.proceed(request);
        } catch (RuntimeException | Error e) { // of an interceptor
            CallSignal.fail(signal, IreeFuture.failureOf(e));
            throw e;
        }
        CallSignal.failWith(call, signal);
        return IreeFuture.of(call);
    }

    private static InvocationRequest request(
            LocatedFunction located, CallOptions options, boolean blocking, @Nullable Object[] inputs) {
        return new InvocationRequest(located.program(), located.function(), Arrays.asList(inputs), options, blocking);
    }

    /** Makes the call, at the end of the chain. The request may be of an interceptor, with a timeout in place of the deadline. */
    private CompletableFuture<Results> call(InvocationRequest request) {
        CallOptions options = request.options().begin(null);
        try {
            return request.blocking() && isForThisThread(options)
                    ? IreeFuture.completed(callHere(
                            request.program(),
                            request.function(),
                            options.deadline().orElse(null),
                            request.inputs().toArray()))
                    : start(request.withOptions(options));
        } catch (IreeException e) {
            return IreeFuture.failed(e);
        }
    }

    /** Returns whether the options have at most a deadline, long enough for occasional checks. */
    private static boolean isForThisThread(CallOptions options) {
        return options.after().isEmpty()
                && options.signal().isEmpty()
                && options.priority() == 0
                && options.timeout().orElse(COARSE).compareTo(COARSE) >= 0;
    }

    private Results callHere(
            LoadedProgram program, ProgramFunction function, @Nullable Deadline deadline, @Nullable Object[] inputs) {
        CallMonitor.Here here = monitor.begin(program.source().name(), function.fullName(), deadline);
        LoadedProgram.Chosen chosen = null;
        Results results;
        try {
            chosen = program.choose(function);
            results = chosen.function().invoke(inputs);
        } catch (IreeException e) {
            throw here.failed(e);
        } catch (RuntimeException | Error e) {
            here.end();
            throw e;
        } finally {
            if (chosen != null) {
                chosen.end();
            }
        }
        here.end();
        return results;
    }

    private CompletableFuture<Results> start(InvocationRequest request) {
        @Nullable Object[] inputs = request.inputs().toArray();
        LoadedProgram.Chosen chosen = request.program().choose(request.function());
        CompletableFuture<Results> call;
        try {
            call = chosen.function().call(request.options(), inputs);
        } catch (RuntimeException | Error e) {
            chosen.end();
            throw e;
        }
        chosen.endWith(call);
        if (!call.isDone()) {
            monitor.add(
                    request.program().source().name(),
                    request.function().fullName(),
                    request.options().deadline().orElse(null),
                    call);
        }
        return call;
    }

    /**
     * Returns the operators' view: the calls in flight and their end.
     *
     * @return always the same object
     */
    public CallMonitor monitor() {
        return monitor;
    }
}
