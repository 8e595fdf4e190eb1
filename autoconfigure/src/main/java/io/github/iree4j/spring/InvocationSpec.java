package io.github.iree4j.spring;

import io.github.iree4j.CallOptions;
import io.github.iree4j.ProgramFunction;
import io.github.iree4j.Results;
import io.github.iree4j.async.Fence;
import io.github.iree4j.spring.Programs.LocatedFunction;
import io.github.iree4j.status.IreeException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * Specification of a call, see {@link InvocationService#request}. Not thread-safe; may be reused for the same call.
 *
 * <pre>{@code
 * CompletableFuture<Results> drafted = invocations.request("draft.step")
 *     .inputs(tokens)
 *     .after(timeline.at(1))
 *     .signal(timeline.at(2))
 *     .deadline(Duration.ofMillis(50))
 *     .priority(1)
 *     .invokeAsync();
 * }</pre>
 */
public final class InvocationSpec {

    private final InvocationService service;
    private final String function;
    private final @Nullable LocatedFunction located;
    private @Nullable Object[] inputs = {};
    private @Nullable Fence after;
    private @Nullable Fence signal;
    private @Nullable Duration deadline;
    private int priority;
    private @Nullable String device;
    private @Nullable String version;

    InvocationSpec(InvocationService service, String function, @Nullable LocatedFunction located) {
        this.service = service;
        this.function = function;
        this.located = located;
    }

    /**
     * Sets the inputs.
     *
     * @param values a value for each argument of the function; an array of arrays is a single value
     * @return this
     */
    public InvocationSpec inputs(@Nullable Object... values) {
        inputs = ProgramFunction.inputs(values);
        return this;
    }

    /**
     * Makes the call wait until the inputs are ready.
     *
     * @param fence the fence to wait for; may be closed once the call is made
     * @return this
     */
    public InvocationSpec after(@Nullable Fence fence) {
        after = fence;
        return this;
    }

    /**
     * Signals a fence when the work of the call is done; a failure of the call fails the fence.
     *
     * @param fence a point that is neither reached nor promised; may be closed once the call is made
     * @return this
     */
    public InvocationSpec signal(@Nullable Fence fence) {
        signal = fence;
        return this;
    }

    /**
     * Limits the duration of the call, waiting included; the configured limit of the program applies as well. At the
     * deadline the call fails with DEADLINE_EXCEEDED and releases its resources. A wait for a lazy program to be loaded
     * before the call is limited to the same duration separately; the load itself continues.
     *
     * @param limit from now on
     * @return this
     */
    public InvocationSpec deadline(@Nullable Duration limit) {
        deadline = limit;
        return this;
    }

    /**
     * Sets the priority among calls of the same program.
     *
     * @param value higher first; 0 unless set
     * @return this
     */
    public InvocationSpec priority(int value) {
        priority = value;
        return this;
    }

    /**
     * Selects the device required for the call.
     *
     * @param id a device's id, such as {@code local}
     * @return this
     */
    public InvocationSpec device(@Nullable String id) {
        device = id;
        return this;
    }

    /**
     * Selects the version of the program to call.
     *
     * @param name the version; null (the default) for the latest
     * @return this
     */
    public InvocationSpec version(@Nullable String name) {
        version = name;
        return this;
    }

    /**
     * Makes the call and waits for the results.
     *
     * @return the results, to be closed by the caller
     * @throws IreeException as {@link InvocationService#invoke}; DEADLINE_EXCEEDED when the call took too long;
     *     CANCELLED when the thread was interrupted; NOT_FOUND when the program does not run on the device
     */
    public Results invoke() {
        return service.invoke(locate(), options(), inputs);
    }

    /**
     * Makes the call without waiting.
     *
     * @return as {@link InvocationService#invokeAsync}
     */
    public CompletableFuture<Results> invokeAsync() {
        try {
            return service.invokeAsync(locate(), options(), inputs);
        } catch (IreeException e) {
            return CompletableFuture.failedFuture(e);
        }
    }

    private LocatedFunction locate() {
        if (located != null) {
            return located;
        }
        return deadline == null
                ? service.programs().locate(function, version, device)
                : service.programs().locate(function, version, device, deadline);
    }

    private CallOptions options() {
        return new CallOptions(after, signal, deadline, priority);
    }
}
