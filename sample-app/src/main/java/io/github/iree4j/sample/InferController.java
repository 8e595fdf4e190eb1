package io.github.iree4j.sample;

import io.github.iree4j.Results;
import io.github.iree4j.Tensor;
import io.github.iree4j.spring.InvocationService;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RestController;

/**
 * Runs the network on any number of pictures: {@code POST /infer} with a tensor {@code ?x64xf32}, as bytes, NumPy array
 * or JSON, is answered with a tensor {@code ?x10xf32} in the form accepted by the client.
 */
@RestController
final class InferController {

    /** Bytes of a thousand pictures; callers with more let others go first. */
    private static final long MANY = 1000 * 64 * Float.BYTES;

    private final InvocationService invocations;

    InferController(InvocationService invocations) {
        this.invocations = invocations;
    }

    /**
     * The pictures need not be closed, and the CPU reads the pictures in place; the response is closed once written.
     */
    @PostMapping("/infer")
    Tensor infer(@RequestBody Tensor pictures) {
        try (Results results = invocations
                .request("digits.classify")
                .inputs(pictures)
                .priority(pictures.byteSize() > MANY ? -1 : 0)
                .invoke()) {
            return results.take(0);
        }
    }
}
