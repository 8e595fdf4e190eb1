package io.github.iree4j.spring;

import io.github.iree4j.CallOptions;
import io.github.iree4j.ProgramFunction;
import io.github.iree4j.Results;
import io.github.iree4j.spring.Programs.LocatedFunction;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
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
    private final CallsInFlight inFlight;

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
        this(programs, interceptors, new CallsInFlight());
    }

    InvocationService(Programs programs, List<? extends InvocationInterceptor> interceptors, CallsInFlight inFlight) {
        this.inFlight = inFlight;
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
        return invoke(programs.locate(function), CallOptions.DEFAULTS, ProgramFunction.inputs(inputs));
    }

    @Override
    public CompletableFuture<Results> invokeAsync(String function, @Nullable Object... inputs) {
        try {
            return invokeAsync(programs.locate(function), CallOptions.DEFAULTS, ProgramFunction.inputs(inputs));
        } catch (IreeException e) {
            return CompletableFuture.failedFuture(e);
        }
    }

    @Override
    public InvocationSpec request(String function) {
        return new InvocationSpec(this, function, null);
    }

    @Override
    public InvocationSpec request(LocatedFunction function) {
        return new InvocationSpec(this, function.function().name(), function);
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
            Results results = invokeUntimed(located, options, inputs);
            hasFailed = false;
            return results;
        } finally {
            times.ended(begun, hasFailed);
        }
    }

    private Results invokeUntimed(LocatedFunction located, CallOptions options, @Nullable Object[] inputs) {
        if (interceptors.isEmpty() && isForThisThread(options)) {
            return callHere(located.program(), located.function(), options.timeout(), inputs);
        }
        InvocationRequest request = request(located, options, true, inputs);
        return await(chain.proceed(request), request);
    }

    CompletableFuture<Results> invokeAsync(LocatedFunction located, CallOptions options, @Nullable Object[] inputs) {
        CallTimes times = located.program().times(located.function());
        long begun = System.nanoTime();
        CompletableFuture<Results> call;
        try {
            call = chain.proceed(request(located, options, false, inputs));
        } catch (RuntimeException | Error e) { // of an interceptor
            times.ended(begun, true);
            throw e;
        }
        call.whenComplete((_, failure) -> times.ended(begun, failure != null));
        return call;
    }

    private static InvocationRequest request(
            LocatedFunction located, CallOptions options, boolean blocking, @Nullable Object[] inputs) {
        return new InvocationRequest(located.program(), located.function(), Arrays.asList(inputs), options, blocking);
    }

    /** Makes the call, at the end of the chain. */
    private CompletableFuture<Results> call(InvocationRequest request) {
        try {
            return request.blocking() && isForThisThread(request.options())
                    ? CompletableFuture.completedFuture(callHere(
                            request.program(),
                            request.function(),
                            request.options().timeout(),
                            request.inputs().toArray()))
                    : start(request);
        } catch (IreeException e) {
            return CompletableFuture.failedFuture(e);
        }
    }

    /** Returns whether the options have at most a timeout, long enough for occasional checks. */
    private static boolean isForThisThread(CallOptions options) {
        Duration timeout = options.timeout();
        return timeout == null
                ? options.equals(CallOptions.DEFAULTS)
                : timeout.compareTo(COARSE) >= 0 && options.equals(CallOptions.DEFAULTS.within(timeout));
    }

    private Results callHere(
            LoadedProgram program, ProgramFunction function, @Nullable Duration timeout, @Nullable Object[] inputs) {
        CallsInFlight.Here here = inFlight.begin(program.source().name(), function.fullName(), timeout);
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
            inFlight.add(
                    request.program().source().name(),
                    request.function().fullName(),
                    request.options().timeout(),
                    call);
        }
        return call;
    }

    /**
     * Cancels all calls in flight on all programs, because the application stops, as the texts of the failures say. A
     * thread waiting in a call receives CANCELLED, and is not interrupted afterwards.
     *
     * @return the number of cancelled calls
     */
    public int cancelCalls() {
        int cancelled = programs.cancelCalls(CallsInFlight.STOPS);
        inFlight.cancel(); // a thread that copies inputs, for example, has a call that the program does not list yet
        return cancelled;
    }

    /**
     * Returns the number of ended calls, as an indicator of progress.
     *
     * @return the number of ended calls made through this service
     */
    public long endedCalls() {
        return inFlight.ended();
    }

    /**
     * Returns the largest number of calls in flight at once since the last call of this method, for a single reader.
     *
     * @return calls made through this service, at least those in flight now
     */
    public int takeMostInFlight() {
        return inFlight.takeMost();
    }

    /**
     * Returns whether calls are in flight, all past their deadlines.
     *
     * @return false while any call has time left or no deadline
     */
    public boolean areCallsLate() {
        return inFlight.areLate();
    }

    /**
     * Returns whether calls of a function with a deadline are in flight.
     *
     * @param program the program's name
     * @param function the function with the name of the module
     * @return false when no such call has a deadline
     */
    public boolean haveCallsDeadline(String program, String function) {
        return inFlight.haveDeadline(program, function);
    }

    /**
     * Returns the traces of calls in flight.
     *
     * @param program the program's name
     * @param function the function with the name of the module
     * @return the trace ids, oldest calls first; empty without tracing
     */
    public List<String> traces(String program, String function) {
        return inFlight.traces(program, function);
    }

    private static Results await(CompletableFuture<Results> future, InvocationRequest request) {
        try {
            return future.get();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            IreeException cancelled = new IreeException(
                    StatusCode.CANCELLED,
                    "interrupted while waiting for '%s'"
                            .formatted(request.function().fullName()),
                    e);
            if (future.completeExceptionally(cancelled)) {
                throw cancelled;
            }
            return settled(future); // completed concurrently
        } catch (ExecutionException e) {
            throw failure(e.getCause());
        } catch (CancellationException e) {
            throw failure(e);
        }
    }

    private static Results settled(CompletableFuture<Results> future) {
        try {
            return future.join();
        } catch (CompletionException e) {
            throw failure(e.getCause());
        } catch (CancellationException e) {
            throw failure(e);
        }
    }

    /** Makes a failure with the stack of the waiting caller; the original failure is the cause. */
    private static IreeException failure(@Nullable Throwable cause) {
        return switch (cause) {
            case IreeException e -> new IreeException(e.code(), e.getMessage(), e);
            case CancellationException e -> new IreeException(StatusCode.CANCELLED, "call was cancelled", e);
            case null, default -> new IreeException(StatusCode.INTERNAL, "call failed: " + cause, cause);
        };
    }
}
