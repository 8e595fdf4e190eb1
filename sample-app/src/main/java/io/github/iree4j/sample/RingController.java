package io.github.iree4j.sample;

import org.springframework.http.HttpStatus;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.server.ResponseStatusException;

/** {@code POST /pipelines/ring?stages=16}: a {@link Ring} through all nodes. */
@RestController
final class RingController {
    private static final int MOST_STAGES = 256;

    private final Ring ring;

    RingController(Ring ring) {
        this.ring = ring;
    }

    @PostMapping("/pipelines/ring")
    Ring.Round run(@RequestParam(defaultValue = "16") int stages) {
        if (stages < 1 || stages > MOST_STAGES) {
            throw new ResponseStatusException(
                    HttpStatus.BAD_REQUEST, "stages is %d and must be within [1, %d]".formatted(stages, MOST_STAGES));
        }
        return ring.run(stages);
    }
}
