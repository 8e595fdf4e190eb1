package io.github.iree4j.sample;

import io.github.iree4j.Tensor;
import java.util.ArrayList;
import java.util.List;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RestController;

/** Reads scans: {@code POST /scans} with a tensor of 32x32 dots each, as JSON, NumPy array or bytes. */
@RestController
final class ScansController {

    private final ScanReader reader;

    ScansController(ScanReader reader) {
        this.reader = reader;
    }

    /**
     * The result.
     *
     * @param digit the most probable digit
     * @param probability how probable it is
     */
    record Reading(int digit, float probability) {}

    @PostMapping("/scans")
    List<Reading> read(@RequestBody Tensor scans) {
        List<Reading> readings = new ArrayList<>();
        for (float[] probabilities : reader.read(scans)) {
            int best = 0;
            for (int digit = 1; digit < probabilities.length; digit++) {
                best = probabilities[digit] > probabilities[best] ? digit : best;
            }
            readings.add(new Reading(best, probabilities[best]));
        }
        return readings;
    }
}
