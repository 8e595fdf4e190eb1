package io.github.iree4j.spring;

import io.github.iree4j.CallOptions;
import io.github.iree4j.ProgramFunction;
import io.github.iree4j.async.Deadline;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A call of a function, as seen by {@linkplain InvocationInterceptor interceptors}.
 *
 * @param program the program current at the time of the call; borrowed
 * @param function the function; borrowed from the program. Another instance on the same devices makes the call if that
 *     instance has fewer calls
 * @param inputs an input for each argument, possibly null; borrowed: the caller must not change the inputs until the call
 *     completes
 * @param options fences, timeout and priority
 * @param blocking whether the caller blocks for the results: the call is then made on the caller's thread where the
 *     options allow, and the future returned by {@link InvocationChain#proceed} may be complete
 */
public record InvocationRequest(
        LoadedProgram program,
        ProgramFunction function,
        List<@Nullable Object> inputs,
        CallOptions options,
        boolean blocking) {

    /** Returns the configured name of the program. */
    public String model() {
        return program.source().name();
    }

    /**
     * Returns this request with other inputs.
     *
     * @param others an input for each argument
     * @return the request
     */
    public InvocationRequest withInputs(List<@Nullable Object> others) {
        return new InvocationRequest(program, function, others, options, blocking);
    }

    /**
     * Returns this request with other options. The time of the call can become shorter, not longer: a timeout begins now,
     * and the deadline of this request stays if it comes first.
     *
     * @param others fences, timeout and priority
     * @return the request
     */
    public InvocationRequest withOptions(CallOptions others) {
        CallOptions begun = others.begin(null);
        Deadline own = begun.deadline().orElse(null);
        Deadline end = Deadline.earliest(own, options.deadline().orElse(null));
        return new InvocationRequest(program, function, inputs, end == own ? begun : begun.deadline(end), blocking);
    }

    /** Returns this request with a caller that does not block. */
    public InvocationRequest asynchronous() {
        return new InvocationRequest(program, function, inputs, options, false);
    }
}
