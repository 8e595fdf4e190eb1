package io.github.iree4j.spring;

import io.github.iree4j.ProgramFunction;
import io.github.iree4j.Results;
import io.github.iree4j.status.IreeException;
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
 * <p>A function's name is the name under which its program is configured ({@code iree.modules.<name>}), a dot, and the
 * name of the function in the program. Inputs are tensors or boxed numbers in the order of the function's arguments;
 * they are borrowed until the call, or the returned future, has completed. Results belong to the caller, who closes
 * them. Safe for use by any number of threads.
 */
public final class InvocationService {

    private final Programs programs;

    /**
     * A service that finds its functions in the given programs.
     *
     * @param programs the programs by name; not closed by this service
     */
    public InvocationService(Programs programs) {
        this.programs = programs;
    }

    /**
     * Calls a function and waits for its results.
     *
     * @param function the program's name, a dot, the function's name
     * @param inputs one for each argument of the function
     * @return the results in order, to be closed by the caller
     * @throws IreeException NOT_FOUND when there is no such program or function; INVALID_ARGUMENT when the inputs do not
     *     fit it; otherwise what the program failed with
     */
    public Results invoke(String function, @Nullable Object... inputs) {
        return function(function).invoke(inputs);
    }

    /**
     * Calls a function without waiting.
     *
     * @param function the program's name, a dot, the function's name
     * @param inputs one for each argument of the function; they must stay open until the future is complete
     * @return the results, to be closed by the receiver; every failure, also of looking the function up, completes the
     *     future exceptionally with an {@link IreeException}
     */
    public CompletableFuture<Results> invokeAsync(String function, @Nullable Object... inputs) {
        try {
            return function(function).invokeAsync(inputs);
        } catch (IreeException e) {
            return CompletableFuture.failedFuture(e);
        }
    }

    /**
     * The function of that name, for callers who look it up once.
     *
     * @param function the program's name, a dot, the function's name
     * @return the function; it is borrowed from its program
     * @throws IreeException NOT_FOUND when there is no such program or function
     */
    public ProgramFunction function(String function) {
        return programs.function(function);
    }
}
