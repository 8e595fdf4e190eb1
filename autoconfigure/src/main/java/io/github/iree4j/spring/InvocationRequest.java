package io.github.iree4j.spring;

import io.github.iree4j.CallOptions;
import io.github.iree4j.ProgramFunction;
import io.github.iree4j.spring.Programs.LoadedProgram;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One call of a function, as {@linkplain InvocationInterceptor interceptors} see it.
 *
 * @param program the program that was current when the call was made; borrowed
 * @param function the function; borrowed from its program
 * @param inputs one for each argument, possibly null; lent by the caller, who must not change them until the call
 *     completes
 * @param options fences, timeout and priority
 * @param blocking whether the caller blocks for the results: the call is then made on its thread where the options
 *     allow, and the future that {@link InvocationChain#proceed} returns may be complete
 */
public record InvocationRequest(
        LoadedProgram program,
        ProgramFunction function,
        List<@Nullable Object> inputs,
        CallOptions options,
        boolean blocking) {

    /** The name under which the program is configured. */
    public String model() {
        return program.source().name();
    }

    /**
     * Returns this request with other inputs.
     *
     * @param others one for each argument
     * @return the request
     */
    public InvocationRequest withInputs(List<@Nullable Object> others) {
        return new InvocationRequest(program, function, others, options, blocking);
    }

    /**
     * Returns this request with other options.
     *
     * @param others fences, timeout and priority
     * @return the request
     */
    public InvocationRequest withOptions(CallOptions others) {
        return new InvocationRequest(program, function, inputs, others, blocking);
    }

    /** Returns this request as one whose caller does not block. */
    public InvocationRequest asynchronous() {
        return new InvocationRequest(program, function, inputs, options, false);
    }
}
