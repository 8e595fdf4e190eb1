import io.github.iree4j.IreeRuntime;
import io.github.iree4j.Program;
import io.github.iree4j.ProgramOptions;
import io.github.iree4j.generation.Generation;
import io.github.iree4j.generation.GenerationRequest;
import io.github.iree4j.generation.Generator;
import io.github.iree4j.generation.GeneratorOptions;
import io.github.iree4j.generation.sampling.SamplingOptions;
import java.nio.file.Path;
import java.time.Duration;
import java.util.OptionalInt;

class Frame {
    void generate() throws InterruptedException {
        // fence 1
    }

    void draft(Program small) {
        // fence 3
    }
}
