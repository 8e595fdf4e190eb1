package io.github.iree4j.sample;

import java.util.List;
import org.springframework.http.HttpStatus;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.server.ResponseStatusException;

/** {@code POST /pipelines/ring?stages=16} and {@code /pipelines/programs?stages=16}: pipelines through all nodes. */
@RestController
final class PipelinesController {
    private static final int MOST_STAGES = 256;

    private final Ring ring;
    private final ProgramRing programs;

    PipelinesController(Ring ring, ProgramRing programs) {
        this.ring = ring;
        this.programs = programs;
    }

    @PostMapping("/pipelines/ring")
    Round ring(@RequestParam(defaultValue = "16") int stages) {
        return ring.run(checked(stages));
    }

    @PostMapping("/pipelines/programs")
    Round programs(@RequestParam(defaultValue = "16") int stages) {
        return programs.run(checked(stages));
    }

    /** The nodes that a ring of programs would visit now. */
    @GetMapping("/pipelines/programs")
    List<String> nodes() {
        return programs.nodes();
    }

    private static int checked(int stages) {
        if (stages < 1 || stages > MOST_STAGES) {
            throw new ResponseStatusException(
                    HttpStatus.BAD_REQUEST, "stages is %d and must be within [1, %d]".formatted(stages, MOST_STAGES));
        }
        return stages;
    }
}
