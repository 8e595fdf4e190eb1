package io.github.iree4j.spring;

import io.github.iree4j.CallOptions;
import io.github.iree4j.ProgramFunction;
import io.github.iree4j.Results;
import io.github.iree4j.spring.Programs.LoadedProgram;
import io.github.iree4j.spring.Programs.LocatedFunction;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
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
 * <p>A function's name is the name under which its program is configured ({@code iree.modules.<name>}), a dot, and the
 * name of the function in the program. Inputs are tensors, Java arrays or boxed numbers in the order of the function's
 * arguments; they are borrowed until the call, or the returned future, has completed. Results belong to the caller, who
 * closes them; they stay on their device and may be inputs of further calls without a copy. A replaced program serves
 * the calls that were made before; later calls go to its successor. Thread-safe.
 */
public final class InvocationService implements InvocationOperations {

    private final Programs programs;
    private final List<InvocationInterceptor> interceptors;
    private final InvocationChain chain;
    private final Set<CompletableFuture<Results>> underWay = ConcurrentHashMap.newKeySet();

    /**
     * Creates a service that finds its functions in the given programs.
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
        return invoke(programs.locate(function), CallOptions.DEFAULTS, inputs);
    }

    @Override
    public CompletableFuture<Results> invokeAsync(String function, @Nullable Object... inputs) {
        try {
            return invokeAsync(programs.locate(function), CallOptions.DEFAULTS, inputs);
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
        if (interceptors.isEmpty() && options.equals(CallOptions.DEFAULTS)) {
            return callHere(located.program(), located.function(), inputs);
        }
        InvocationRequest request = request(located, options, true, inputs);
        return await(chain.proceed(request), request);
    }

    CompletableFuture<Results> invokeAsync(LocatedFunction located, CallOptions options, @Nullable Object[] inputs) {
        return chain.proceed(request(located, options, false, inputs));
    }

    private static InvocationRequest request(
            LocatedFunction located, CallOptions options, boolean blocking, @Nullable Object[] inputs) {
        return new InvocationRequest(located.program(), located.function(), Arrays.asList(inputs), options, blocking);
    }

    /** The end of the chain. */
    private CompletableFuture<Results> call(InvocationRequest request) {
        try {
            return request.blocking() && request.options().equals(CallOptions.DEFAULTS)
                    ? CompletableFuture.completedFuture(callHere(
                            request.program(),
                            request.function(),
                            request.inputs().toArray()))
                    : start(request);
        } catch (IreeException e) {
            return CompletableFuture.failedFuture(e);
        }
    }

    private Results callHere(LoadedProgram program, ProgramFunction function, @Nullable Object[] inputs) {
        try {
            return function.invoke(inputs);
        } catch (IreeException e) {
            return successor(program, function, e).invoke(inputs);
        }
    }

    private CompletableFuture<Results> start(InvocationRequest request) {
        @Nullable Object[] inputs = request.inputs().toArray();
        CompletableFuture<Results> call;
        try {
            call = request.function().call(request.options(), inputs);
        } catch (IreeException e) {
            call = successor(request.program(), request.function(), e).call(request.options(), inputs);
        }
        if (!call.isDone()) {
            CompletableFuture<Results> started = call;
            underWay.add(started);
            started.whenComplete((_, _) -> underWay.remove(started));
        }
        return call;
    }

    /**
     * Cancels all asynchronous calls in flight.
     *
     * @return how many
     */
    public int cancelCalls() {
        int cancelled = 0;
        for (CompletableFuture<Results> call : underWay) {
            cancelled += call.cancel(true) ? 1 : 0;
        }
        return cancelled;
    }

    /**
     * The same function of the program that has replaced this one since the lookup; rethrows the failure if there is none.
     */
    private ProgramFunction successor(LoadedProgram program, ProgramFunction function, IreeException failure) {
        if (failure.code() == StatusCode.FAILED_PRECONDITION
                && function.program().isClosed()) {
            var now = programs.find(program.source().name(), program.source().version());
            if (now.isPresent() && !now.get().program().isClosed()) {
                return now.get().program().function(function.name());
            }
        }
        throw failure;
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
            return settled(future); // it completed concurrently
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

    /** Has the stack of the waiting caller; the original failure is its cause. */
    private static IreeException failure(@Nullable Throwable cause) {
        return switch (cause) {
            case IreeException e -> new IreeException(e.code(), e.getMessage(), e);
            case CancellationException e -> new IreeException(StatusCode.CANCELLED, "call was cancelled", e);
            case null, default -> new IreeException(StatusCode.INTERNAL, "call failed: " + cause, cause);
        };
    }
}
