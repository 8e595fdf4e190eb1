package io.github.iree4j.sample;

import io.github.iree4j.CallOptions;
import io.github.iree4j.Tensor;
import io.github.iree4j.spring.client.IreeClient;
import java.util.concurrent.CompletableFuture;

/** The first stage: scans of 32x32 dots become pictures of 8x8 pixels. */
@IreeClient("scans")
interface Scans {

    /**
     * Counts the inked dots of each block of 4x4.
     *
     * @param options the fence that signals when the pictures are ready
     * @param scans {@code ?x1024xf32}, 0 or 1 for each dot
     * @return {@code ?x64xf32}, available before its contents are; closed by the receiver
     */
    CompletableFuture<Tensor> blocks(CallOptions options, Tensor scans);
}
