package io.github.iree4j.sample;

import io.github.iree4j.CallOptions;
import io.github.iree4j.Submission;
import io.github.iree4j.Tensor;
import java.time.Duration;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.stereotype.Component;

/**
 * Reads scans with two programs sharing a device and the device's memory. Both calls are submitted at once; the fence
 * of the first call orders the calls, and the pictures never leave the device.
 */
@Component
class ScanReader {

    private final Scans scans;
    private final ScannedDigits digits;
    private final Duration timeout;

    ScanReader(Scans scans, ScannedDigits digits, @Value("${scans.timeout:5s}") Duration timeout) {
        this.scans = scans;
        this.digits = digits;
        this.timeout = timeout;
    }

    /**
     * Reads scans.
     *
     * @param dots {@code ?x1024xf32}
     * @return for each scan the probabilities of the digits 0 to 9
     */
    float[][] read(Tensor dots) {
        Submission<Tensor> blocks = scans.blocks(CallOptions.DEFAULTS.timeout(timeout), dots);
        try (Tensor pictures = blocks.results().await()) {
            return digits.classify(CallOptions.DEFAULTS.after(blocks.fence()).timeout(timeout), pictures)
                    .await();
        }
    }
}
