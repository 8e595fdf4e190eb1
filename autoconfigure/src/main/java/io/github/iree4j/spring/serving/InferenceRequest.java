package io.github.iree4j.spring.serving;

import io.github.iree4j.Tensor;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * An inference request; owns the input tensors.
 *
 * @param id the client's id of the request; null for none
 * @param inputs in the order of the function's arguments
 * @param outputs whether each requested output is sent in binary, by name; empty to request all outputs
 * @param binary whether outputs without an explicit choice are sent in binary
 * @param timeout maximum duration; null for none
 */
record InferenceRequest(
        @Nullable String id,
        List<Tensor> inputs,
        Map<String, @Nullable Boolean> outputs,
        boolean binary,
        @Nullable Duration timeout)
        implements AutoCloseable {

    /** Returns whether an output is requested. */
    boolean wants(String output) {
        return outputs.isEmpty() || outputs.containsKey(output);
    }

    /** Returns whether to send an output in binary. */
    boolean wantsBinary(String output) {
        Boolean own = outputs.get(output);
        return own == null ? binary : own;
    }

    /** Converts the timeout of a request, in microseconds as in Triton; 0 becomes null, for no limit. */
    static @Nullable Duration timeout(@Nullable Long micros) {
        if (micros == null || micros < 0) {
            throw invalid("parameter 'timeout' must be a number of microseconds, at least 0");
        }
        return micros == 0 ? null : Duration.ofMillis(micros / 1000).plusNanos(micros % 1000 * 1000);
    }

    /** A request that cannot be carried out. */
    static IreeException invalid(String message) {
        return IreeException.of(StatusCode.INVALID_ARGUMENT, message);
    }

    @Override
    public void close() {
        inputs.forEach(Tensor::close);
    }
}
