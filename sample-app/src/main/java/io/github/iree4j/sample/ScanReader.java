package io.github.iree4j.sample;

import io.github.iree4j.CallOptions;
import io.github.iree4j.IreeRuntime;
import io.github.iree4j.Tensor;
import io.github.iree4j.async.Fence;
import io.github.iree4j.async.Timeline;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.stereotype.Component;

/**
 * Reads scans with two programs that share one device and its memory. Both calls are submitted at once; a timeline
 * orders them, and the intermediate pictures never leave the device.
 */
@Component
class ScanReader {

    private final IreeRuntime runtime;
    private final Scans scans;
    private final ScannedDigits digits;
    private final Duration limit;

    ScanReader(IreeRuntime runtime, Scans scans, ScannedDigits digits, @Value("${scans.within:5s}") Duration limit) {
        this.runtime = runtime;
        this.scans = scans;
        this.digits = digits;
        this.limit = limit;
    }

    /**
     * Reads scans.
     *
     * @param dots {@code ?x1024xf32}
     * @return for each scan the probabilities of the digits 0 to 9
     */
    float[][] read(Tensor dots) {
        try (Timeline timeline = runtime.createTimeline();
                Fence pictured = timeline.at(1);
                Tensor pictures = await(scans.blocks(
                        CallOptions.DEFAULTS.between(null, pictured).within(limit), dots))) {
            return await(
                    digits.classify(CallOptions.DEFAULTS.between(pictured, null).within(limit), pictures));
        }
    }

    private static <T> T await(CompletableFuture<T> future) {
        try {
            return future.get();
        } catch (ExecutionException e) {
            throw e.getCause() instanceof IreeException failure
                    ? failure
                    : new IreeException(StatusCode.INTERNAL, "call failed: " + e.getCause(), e);
        } catch (InterruptedException e) {
            future.cancel(true); // cancels the call and releases what it holds
            Thread.currentThread().interrupt();
            throw new IreeException(StatusCode.CANCELLED, "interrupted while a scan was read", e);
        }
    }
}
