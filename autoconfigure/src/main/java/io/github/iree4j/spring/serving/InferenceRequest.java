package io.github.iree4j.spring.serving;

import io.github.iree4j.Tensor;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A request for inference; closes its tensors.
 *
 * @param id what the client calls it; null when it does not
 * @param inputs in the order of the function's arguments
 * @param outputs whether to answer in binary, by name of the output; empty for all outputs
 * @param binary whether to answer in binary where an output does not say
 * @param timeout how long it may take; null for as long as it takes
 */
record InferenceRequest(
        @Nullable String id,
        List<Tensor> inputs,
        Map<String, @Nullable Boolean> outputs,
        boolean binary,
        @Nullable Duration timeout)
        implements AutoCloseable {

    /** Whether to answer with an output. */
    boolean wants(String output) {
        return outputs.isEmpty() || outputs.containsKey(output);
    }

    /** Whether to answer with an output in binary. */
    boolean wantsBinary(String output) {
        Boolean own = outputs.get(output);
        return own == null ? binary : own;
    }

    @Override
    public void close() {
        inputs.forEach(Tensor::close);
    }
}
