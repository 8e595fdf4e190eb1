package io.github.iree4j.sample;

import io.github.iree4j.CallOptions;
import io.github.iree4j.Submission;
import io.github.iree4j.Tensor;
import io.github.iree4j.spring.client.IreeClient;

/** The first stage: scans of 32x32 dots become pictures of 8x8 pixels. */
@IreeClient("scans")
interface Scans {

    /**
     * Counts the inked dots of each block of 4x4.
     *
     * @param options the timeout
     * @param scans {@code ?x1024xf32}, 0 or 1 for each dot
     * @return {@code ?x64xf32}, with contents at the fence; closed by the receiver
     */
    Submission<Tensor> blocks(CallOptions options, Tensor scans);
}
