package io.github.iree4j.spring;

import io.github.iree4j.ProgramFunction;
import io.github.iree4j.Results;
import io.github.iree4j.async.IreeFuture;
import io.github.iree4j.spring.Programs.LocatedFunction;
import io.github.iree4j.status.IreeException;
import org.jspecify.annotations.Nullable;

/**
 * Calls functions of the application's programs by name. Implemented by {@link InvocationService}; not often used
 * directly, but useful for tests, as mocks and stubs are easy to make.
 *
 * <p>A function's name is the configured name of the program ({@code iree.modules.<name>}), a dot, and the name of the
 * function in the program. Inputs are tensors, Java arrays or boxed numbers in the order of the function's arguments;
 * an array of arrays, such as {@code float[][]}, is a single input. Inputs are borrowed until the call, or the returned
 * future, has completed. Results belong to the caller, who closes the results.
 */
public interface InvocationOperations {

    /**
     * Calls a function and waits for the results.
     *
     * @param function the program's name, a dot, the function's name
     * @param inputs an input for each argument of the function
     * @return the results in order, to be closed by the caller
     * @throws IreeException NOT_FOUND when there is no such program or function; INVALID_ARGUMENT when the inputs do
     *     not fit the function; otherwise the failure of the program
     */
    Results invoke(String function, @Nullable Object... inputs);

    /**
     * Calls a function without waiting.
     *
     * @param function the program's name, a dot, the function's name
     * @param inputs an input for each argument of the function; inputs must stay open until the future is complete
     * @return the results, to be closed by the receiver; every failure, including failures of the function lookup,
     *     completes the future exceptionally with an {@link IreeException}. Cancelling the future cancels the call and
     *     frees the call's resources
     */
    IreeFuture<Results> invokeAsync(String function, @Nullable Object... inputs);

    /**
     * Starts the specification of a call with inputs by name, fences, a timeout, a priority or a device.
     *
     * @param function the program's name, a dot, the function's name
     * @return the specification of the call
     */
    InvocationSpec request(String function);

    /**
     * Starts the specification of a call of a previously located function, for callers that first upload inputs into
     * memory of the function's program. Of a program with several contexts, the context with the fewest calls makes the
     * call, which need not be the context of the function.
     *
     * @param function the function, see {@link Programs#locate(String, String, String)}
     * @return the specification of the call; version and device are already determined by the function
     */
    InvocationSpec request(LocatedFunction function);

    /**
     * Returns the function of the given name, for callers performing the lookup once. Calls made on the function bypass
     * interceptors, and have the configured limit, as calls of a {@code Program} bean do.
     *
     * @param function the program's name, a dot, the function's name
     * @return the function, borrowed from the program
     * @throws IreeException NOT_FOUND when there is no such program or function
     */
    ProgramFunction function(String function);
}
