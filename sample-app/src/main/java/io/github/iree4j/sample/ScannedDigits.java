package io.github.iree4j.sample;

import io.github.iree4j.CallOptions;
import io.github.iree4j.Tensor;
import io.github.iree4j.async.IreeFuture;
import io.github.iree4j.spring.client.IreeClient;

/** The second stage: pictures of 8x8 pixels become probabilities. */
@IreeClient("digits")
interface ScannedDigits {

    /**
     * Reads pictures.
     *
     * @param options the fence signalling that the pictures are ready
     * @param pictures {@code ?x64xf32}, 0 to 16 for each pixel
     * @return for each picture the probabilities of the digits 0 to 9
     */
    IreeFuture<float[][]> classify(CallOptions options, Tensor pictures);
}
