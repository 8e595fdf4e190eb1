package io.github.iree4j.spring;

import io.github.iree4j.CallOptions;
import io.github.iree4j.ProgramFunction;
import io.github.iree4j.ResultType;
import io.github.iree4j.Results;
import io.github.iree4j.Submission;
import io.github.iree4j.async.Deadline;
import io.github.iree4j.async.Fence;
import io.github.iree4j.async.IreeFuture;
import io.github.iree4j.spring.Programs.BegunCall;
import io.github.iree4j.spring.Programs.LocatedFunction;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.time.Duration;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A specification of calls made by an {@link InvocationService}.
 *
 * @param service makes the calls
 * @param function the program's name, a dot, the function's name
 * @param located the function; null for a function located at each call
 * @param ordered inputs in order; null unless set
 * @param named inputs by name; empty where inputs are in order
 * @param options fences, timeout and priority
 * @param device the required device; null for any
 * @param version the required version; null for the latest
 */
record DefaultInvocationSpec(
        InvocationService service,
        String function,
        @Nullable LocatedFunction located,
        @Nullable Object @Nullable [] ordered,
        Map<String, @Nullable Object> named,
        CallOptions options,
        @Nullable String device,
        @Nullable String version)
        implements InvocationSpec {

    DefaultInvocationSpec(InvocationService service, String function, @Nullable LocatedFunction located) {
        this(service, function, located, null, Map.of(), CallOptions.DEFAULTS, null, null);
    }

    @Override
    public InvocationSpec inputs(@Nullable Object... values) {
        return with(ProgramFunction.inputs(values).clone(), named);
    }

    @Override
    public InvocationSpec input(String name, @Nullable Object value) {
        Map<String, @Nullable Object> more = new LinkedHashMap<>(named);
        if (more.containsKey(name)) {
            throw invalid("input '%s' of '%s' is given twice".formatted(name, function));
        }
        more.put(name, value);
        return with(ordered, Collections.unmodifiableMap(more));
    }

    private DefaultInvocationSpec with(@Nullable Object @Nullable [] inOrder, Map<String, @Nullable Object> byName) {
        if (inOrder != null && !byName.isEmpty()) {
            throw invalid("some inputs of '%s' have names %s and others do not; name all inputs or none"
                    .formatted(function, byName.keySet()));
        }
        return new DefaultInvocationSpec(service, function, located, inOrder, byName, options, device, version);
    }

    private static IreeException invalid(String message) {
        return IreeException.of(StatusCode.INVALID_ARGUMENT, message);
    }

    @Override
    public InvocationSpec after(@Nullable Fence fence) {
        return options(options.after(fence));
    }

    @Override
    public InvocationSpec signal(@Nullable Fence fence) {
        return options(options.signal(fence));
    }

    @Override
    public InvocationSpec timeout(@Nullable Duration limit) {
        return options(options.timeout(limit));
    }

    @Override
    public InvocationSpec deadline(@Nullable Deadline end) {
        return options(options.deadline(end));
    }

    @Override
    public InvocationSpec priority(int value) {
        return options(options.priority(value));
    }

    @Override
    public InvocationSpec options(CallOptions changed) {
        return new DefaultInvocationSpec(service, function, located, ordered, named, changed, device, version);
    }

    @Override
    public InvocationSpec device(@Nullable String id) {
        return new DefaultInvocationSpec(service, function, located, ordered, named, options, id, version);
    }

    @Override
    public InvocationSpec version(@Nullable String name) {
        return new DefaultInvocationSpec(service, function, located, ordered, named, options, device, name);
    }

    @Override
    public Results invoke() {
        Call call = call();
        return service.invoke(call.function(), call.options(), call.inputs());
    }

    @Override
    public IreeFuture<Results> invokeAsync() {
        try {
            Call call = call();
            return service.invokeAsync(call.function(), call.options(), call.inputs());
        } catch (IreeException e) {
            return IreeFuture.failed(e);
        }
    }

    @Override
    public <T> T retrieve(ResultType<T> type) {
        return options.signal().isEmpty()
                ? type.read(invoke())
                : retrieveAsync(type).await();
    }

    @Override
    public <T> IreeFuture<T> retrieveAsync(ResultType<T> type) {
        return options.signal()
                .map(signal -> type.read(invokeAsync(), signal))
                .orElseGet(() -> type.read(invokeAsync()));
    }

    /** A call that can be made. */
    private record Call(
            LocatedFunction function,
            CallOptions options,
            @Nullable Object[] inputs) {}

    private Call call() {
        try {
            BegunCall begun = located != null
                    ? new BegunCall(located, options.begin(null))
                    : service.programs().locate(function, version, device, options);
            LocatedFunction called = begun.located();
            return new Call(called, begun.options(), inputsOf(called.function()));
        } catch (IreeException e) {
            CallSignal.fail(options.signal().orElse(null), e);
            throw e;
        }
    }

    @Override
    public Submission<Results> submit() {
        return Submission.of(function, options, with -> options(with).invokeAsync());
    }

    private @Nullable Object[] inputsOf(ProgramFunction called) {
        return ordered != null ? ordered : named.isEmpty() ? new Object[0] : called.inOrder(named);
    }

    @Override
    public String toString() {
        return "request of '" + function + "'";
    }
}
