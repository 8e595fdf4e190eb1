package io.github.iree4j.hal.remote;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.github.iree4j.Effort;
import io.github.iree4j.Fixtures;
import io.github.iree4j.IreeRuntime;
import io.github.iree4j.Program;
import io.github.iree4j.ProgramOptions;
import io.github.iree4j.generation.Generation;
import io.github.iree4j.generation.GenerationMix;
import io.github.iree4j.generation.GenerationRequest;
import io.github.iree4j.generation.Generator;
import io.github.iree4j.generation.GeneratorOptions;
import io.github.iree4j.generation.GeneratorStatistics;
import io.github.iree4j.nativeaccess.CpuFeatures;
import io.github.iree4j.status.DeviceLostException;
import io.github.iree4j.status.IreeException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Text generation on devices of other nodes: the tokens of a plain loop on a CPU, and the loss of a node. */
@Tag("long")
@Timeout(1200)
class RemoteGenerationTest {
    private static final int ROUNDS = Effort.rounds(16, 200);
    private static final long SEED = Effort.seed(RemoteGenerationTest.class, ROUNDS + " rounds", 53);

    private final ThreeCpus cluster = new ThreeCpus(13, 2);
    private final IreeRuntime runtime;

    RemoteGenerationTest() {
        Assumptions.assumeTrue(CpuFeatures.architecture().equals("x86_64"), "the modules are compiled for x86_64");
        runtime = cluster.runtime();
    }

    @AfterEach
    void nothingIsLeft() throws Exception {
        assertThat(runtime.monitor().leaks().openTensors()).isZero();
        runtime.close();
        cluster.close();
    }

    /** Loads the decoder for a device, or for two devices, each with a part of the layers and of the cache. */
    private Program load(String... devices) {
        ProgramOptions.Builder options = ProgramOptions.builder()
                .module(Fixtures.file(
                        devices.length == 1
                                ? "3.13.0/generation/decoder.vmfb"
                                : "3.13.0/generation-two/decoder_of_two.vmfb"))
                .parameters("model", Fixtures.file("decoder.irpa"))
                .name("chat");
        for (String each : devices) {
            options.device(each);
        }
        return runtime.load(options.build());
    }

    private static Path config(String... devices) {
        return Fixtures.DIRECTORY.resolve(
                devices.length == 1 ? "generation/decoder.json" : "generation/decoder_of_two.json");
    }

    @ParameterizedTest
    @ValueSource(strings = {"2", "1 2", "2 1", "2 3"})
    void tokensAreTheTokensOfAPlainLoopOnThisNode(String nodes) throws InterruptedException {
        String[] devices = nodes.split(" ");
        try (Program program = load(devices);
                Program near = load("1");
                GenerationMix mix = new GenerationMix(program, near, config(devices), 10, 12)) {
            for (int round = 0; round < ROUNDS; round++) {
                mix.round(SEED + round);
            }
            assertThat(mix.events().preemptions()).as("preemptions").isPositive();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"2", "1 2", "2 1", "2 3"})
    void theLossOfANodeFailsAllRequests(String nodes) throws InterruptedException {
        String[] devices = nodes.split(" ");
        GeneratorOptions options = GeneratorOptions.builder()
                .config(config(devices))
                .pages(40)
                .probePrompts(1)
                .build();
        try (Program program = load(devices)) {
            Generator generator = Generator.create(program, options);
            List<Generation> all = new ArrayList<>();
            for (int i = 0; i < 6; i++) {
                all.add(generator.submit(GenerationRequest.of(90, i, 7, i)));
            }
            all.getFirst().next(); // other requests read prompts, decode, or wait
            cluster.loopback.cut(cluster.links.getFirst()); // 1 to 2
            for (Generation each : all) {
                IreeException failure = catchThrowableOfType(
                        IreeException.class, () -> each.result().await());
                assertThat(failure).isInstanceOf(DeviceLostException.class).hasMessageContaining("cut");
            }
            assertThatThrownBy(() -> generator.submit(GenerationRequest.of(1, 1)))
                    .isInstanceOf(DeviceLostException.class);
            generator.close(); // the statistics of the end
            GeneratorStatistics last = generator.statistics();
            assertThat(last.running() + last.waiting()).as("sequences").isZero();
            assertThat(last.freePages() + last.keptPages()).isEqualTo(39);
        }
    }
}
