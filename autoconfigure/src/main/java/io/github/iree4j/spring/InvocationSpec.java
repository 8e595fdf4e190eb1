package io.github.iree4j.spring;

import io.github.iree4j.CallOptions;
import io.github.iree4j.ResultType;
import io.github.iree4j.Results;
import io.github.iree4j.Submission;
import io.github.iree4j.async.Deadline;
import io.github.iree4j.async.Fence;
import io.github.iree4j.async.IreeFuture;
import io.github.iree4j.status.IreeException;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Specification of a call, see {@link InvocationOperations#request(String)}. Immutable: each method with a parameter
 * returns a changed specification, so that one specification serves any number of calls, on any thread.
 *
 * <pre>{@code
 * float[] vector = invocations.request("minilm.encode")
 *     .input("input_ids", ids)
 *     .input("attention_mask", mask)
 *     .timeout(Duration.ofMillis(50))
 *     .retrieve(float[].class);
 * }</pre>
 */
public interface InvocationSpec {

    /**
     * Sets all inputs, in the order of the function's arguments.
     *
     * @param values a value for each argument of the function; an array of arrays is a single value
     * @return the changed specification
     */
    InvocationSpec inputs(@Nullable Object... values);

    /**
     * Sets an input by the name of the argument; either all inputs or no input of a call are named.
     *
     * @param name the name in the function's declaration; {@code input0} for a first argument without a name
     * @param value the value
     * @return the changed specification
     */
    InvocationSpec input(String name, @Nullable Object value);

    /**
     * Makes the call wait until the inputs are ready.
     *
     * @param fence the fence to wait for; may be closed once the call is made
     * @return the changed specification
     */
    InvocationSpec after(@Nullable Fence fence);

    /**
     * Signals a fence made elsewhere when the work of the call is done; a failure of the call fails the fence, also where
     * the call cannot be made, unless the point is reached or promised by others. {@link #submit} makes a fence.
     *
     * @param fence a point that is neither reached nor promised; may be closed once the call is made
     * @return the changed specification
     */
    InvocationSpec signal(@Nullable Fence fence);

    /**
     * Limits the duration of the call, waiting included; the configured timeout of the program applies as well. At the
     * timeout the call fails with DEADLINE_EXCEEDED and releases its resources. The wait for a lazy program to be loaded
     * before the call, interceptors, and retries are parts of the duration; a load continues after the timeout.
     *
     * @param limit from the moment of the call; null for the configured timeout only
     * @return the changed specification
     * @throws IreeException INVALID_ARGUMENT when the limit is negative
     */
    InvocationSpec timeout(@Nullable Duration limit);

    /**
     * Limits the time of the call like {@link #timeout}, to the moment by which a larger piece of work must be done, such
     * as the request that the call is made for. Replaces a timeout.
     *
     * @param end the deadline; null for the configured timeout only
     * @return the changed specification
     */
    InvocationSpec deadline(@Nullable Deadline end);

    /**
     * Sets the priority among calls of the same program.
     *
     * @param value higher first; 0 unless set
     * @return the changed specification
     */
    InvocationSpec priority(int value);

    /**
     * Replaces fences, timeout and priority.
     *
     * @param options the options
     * @return the changed specification
     */
    InvocationSpec options(CallOptions options);

    /**
     * Selects the device required for the call.
     *
     * @param id a device's id, such as {@code local}
     * @return the changed specification
     */
    InvocationSpec device(@Nullable String id);

    /**
     * Selects the version of the program to call.
     *
     * @param name the version; null (the default) for the latest
     * @return the changed specification
     */
    InvocationSpec version(@Nullable String name);

    /**
     * Makes the call and waits for the results.
     *
     * @return the results, to be closed by the caller
     * @throws IreeException as {@link InvocationOperations#invoke}; DEADLINE_EXCEEDED when the call took too long;
     *     CANCELLED when the thread was interrupted; NOT_FOUND when the program does not run on the device
     */
    Results invoke();

    /**
     * Makes the call without waiting.
     *
     * @return as {@link InvocationOperations#invokeAsync}
     */
    IreeFuture<Results> invokeAsync();

    /**
     * Makes the call with a new fence, without waiting: the results are inputs of the next call, and the fence orders
     * the next call after this call.
     *
     * @return the results and the fence; every failure fails both
     * @throws IreeException INVALID_ARGUMENT when there is a fence to {@link #signal}
     */
    Submission<Results> submit();

    /**
     * Makes the call, waits for the results, and converts the results: with a fence to {@link #signal}, once the fence is
     * reached. The time of the call ends before the conversion, which reads the results, perhaps from another machine.
     *
     * @param type an array, a number, a record of several results or another type of {@link ResultType}
     * @return the value; nothing needs closing, unless the type has tensors
     * @throws IreeException as {@link #invoke}; INVALID_ARGUMENT when the results are of another kind
     * @throws IllegalArgumentException for an unsupported type
     * @param <T> the type of the value
     */
    default <T> T retrieve(Class<T> type) {
        return retrieve(ResultType.of(type));
    }

    /**
     * Makes the call, waits for the results, and converts the results, as {@link #retrieve(Class)} does.
     *
     * @param type the conversion
     * @return the value
     * @throws IreeException as {@link #retrieve(Class)}
     * @param <T> the type of the value
     */
    <T> T retrieve(ResultType<T> type);

    /**
     * Makes the call without waiting, and converts the results later: with a fence to {@link #signal}, once the fence is
     * reached.
     *
     * @param type see {@link #retrieve(Class)}
     * @return the value, or the failure
     * @throws IllegalArgumentException for an unsupported type
     * @param <T> the type of the value
     */
    default <T> IreeFuture<T> retrieveAsync(Class<T> type) {
        return retrieveAsync(ResultType.of(type));
    }

    /**
     * Makes the call without waiting, and converts the results later, as {@link #retrieveAsync(Class)} does.
     *
     * @param type the conversion
     * @return the value, or the failure
     * @param <T> the type of the value
     */
    <T> IreeFuture<T> retrieveAsync(ResultType<T> type);
}
