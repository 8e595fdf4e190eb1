package io.github.iree4j.spring;

import io.github.iree4j.ProgramFunction;
import io.github.iree4j.Results;
import io.github.iree4j.spring.Programs.LocatedFunction;
import io.github.iree4j.status.IreeException;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * Calls functions of the application's programs by name. Implemented by {@link InvocationService}; not often used
 * directly, but it enhances testability, as it can easily be mocked or stubbed.
 *
 * <p>A function's name is the name under which its program is configured ({@code iree.modules.<name>}), a dot, and the
 * name of the function in the program. Inputs are tensors, Java arrays or boxed numbers in the order of the function's
 * arguments; they are borrowed until the call, or the returned future, has completed. Results belong to the caller, who
 * closes them.
 */
public interface InvocationOperations {

    /**
     * Calls a function and waits for its results.
     *
     * @param function the program's name, a dot, the function's name
     * @param inputs one for each argument of the function
     * @return the results in order, to be closed by the caller
     * @throws IreeException NOT_FOUND when there is no such program or function; INVALID_ARGUMENT when the inputs do not
     *     fit it; otherwise what the program failed with
     */
    Results invoke(String function, @Nullable Object... inputs);

    /**
     * Calls a function without waiting.
     *
     * @param function the program's name, a dot, the function's name
     * @param inputs one for each argument of the function; they must stay open until the future is complete
     * @return the results, to be closed by the receiver; every failure, including that of the function lookup,
     *     completes the future exceptionally with an {@link IreeException}. Cancelling it cancels the call and frees
     *     what it held
     */
    CompletableFuture<Results> invokeAsync(String function, @Nullable Object... inputs);

    /**
     * Starts the specification of a call with fences, a deadline, a priority or a device.
     *
     * @param function the program's name, a dot, the function's name
     * @return the specification of the call
     */
    InvocationSpec request(String function);

    /**
     * Starts the specification of a call of a function that was located before, for callers that first upload inputs
     * into memory of its program.
     *
     * @param function the function, see {@link Programs#locate(String, String, String)}
     * @return the specification of the call; version and device are those of the function
     */
    InvocationSpec request(LocatedFunction function);

    /**
     * Returns the function of that name, for callers that look it up once. Calls made on it bypass
     * interceptors, and have the configured limit, as calls of a {@code Program} bean do.
     *
     * @param function the program's name, a dot, the function's name
     * @return the function; it is borrowed from its program
     * @throws IreeException NOT_FOUND when there is no such program or function
     */
    ProgramFunction function(String function);
}
