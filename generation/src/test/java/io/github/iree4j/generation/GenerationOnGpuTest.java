package io.github.iree4j.generation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.iree4j.Effort;
import io.github.iree4j.Fixtures;
import io.github.iree4j.IreeRuntime;
import io.github.iree4j.Program;
import io.github.iree4j.ProgramOptions;
import io.github.iree4j.generation.GivenGpuProvider.Given;
import io.github.iree4j.hal.gpu.GpuDrivers;
import io.github.iree4j.hal.spi.DeviceOptions;
import io.github.iree4j.nativeaccess.gpu.GpuKind;
import io.github.iree4j.status.DeviceLostException;
import io.github.iree4j.status.IreeException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.OptionalInt;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** Generation on CUDA and HIP: the tokens of a plain loop on the device, and faults of the device. */
@Tag("long")
@Timeout(4800)
class GenerationOnGpuTest {
    private static final int ROUNDS = Effort.rounds(16, 200);
    private static final long SEED = Effort.seed(GenerationOnGpuTest.class, ROUNDS + " rounds", 52);
    private static final Path CONFIG = Fixtures.DIRECTORY.resolve("generation/tiny_decoder.json");

    /** Where the module begins in its file, which is a zip otherwise, with checksums. */
    private static final int BEGIN = 64;

    @TempDir
    private Path directory;

    private static IreeRuntime runtime(GpuDrivers drivers) {
        DeviceOptions options = DeviceOptions.builder().with(new Given(drivers)).build();
        return IreeRuntime.builder().device("gpu", "given-gpu", options).build();
    }

    private static Program load(IreeRuntime runtime, GpuKind kind) {
        return runtime.load(ProgramOptions.builder()
                .module("tiny_decoder", kind == GpuKind.CUDA ? module() : forHip())
                .parameters("model", Fixtures.file("tiny_decoder.irpa"))
                .name("chat")
                .build());
    }

    private static byte[] module() {
        try {
            return Files.readAllBytes(Fixtures.file("3.13.0/cuda-generation/tiny_decoder.vmfb"));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The library that stands in for HIP's runs PTX: HIP's names in place of CUDA's, which have the same lengths. */
    private static byte[] forHip() {
        byte[] cuda = module();
        return new String(Arrays.copyOfRange(cuda, BEGIN, cuda.length), StandardCharsets.ISO_8859_1)
                .replace("cuda-nvptx-fb", "rocm-hsaco-fb")
                .replace("CDA1", "HIP1")
                .replace("\4\0\0\0cuda", "\4\0\0\0hip*")
                .getBytes(StandardCharsets.ISO_8859_1);
    }

    private static Generator generator(Program program) {
        return Generator.create(
                program,
                GeneratorOptions.builder()
                        .config(CONFIG)
                        .pages(30)
                        .probePrompts(1)
                        .build());
    }

    /** Submits more requests than a step has rows. */
    private static List<Generation> submit(Generator generator) {
        List<Generation> all = new ArrayList<>();
        for (int i = 0; i < 6; i++) {
            all.add(generator.submit(GenerationRequest.of(12, i, 7, i)));
        }
        return all;
    }

    /** Closes the generator, whose statistics are then the statistics of the end. */
    private static void assertAllPagesAreFree(Generator generator) {
        generator.close();
        GeneratorStatistics last = generator.statistics();
        assertThat(last.running() + last.waiting()).as("sequences").isZero();
        assertThat(last.freePages() + last.keptPages()).isEqualTo(29);
    }

    @ParameterizedTest
    @EnumSource
    void tokensOfARequestAreTheTokensOfAPlainLoop(GpuKind kind) throws InterruptedException {
        GpuDrivers drivers = GpuDrivers.in(directory, kind);
        try (IreeRuntime runtime = runtime(drivers);
                Program program = load(runtime, kind)) {
            try (GenerationMix mix = new GenerationMix(program, program, CONFIG, 6, 12)) {
                for (int round = 0; round < ROUNDS; round++) {
                    mix.round(SEED + round);
                }
                assertThat(mix.events().preemptions()).as("preemptions").isPositive();
                assertThat(mix.events().restoredPages())
                        .as("pages from the host")
                        .isPositive();
                assertThat(mix.events().sharedTokens()).as("shared tokens").isPositive();
            }
            assertThat(runtime.monitor().leaks().openTensors()).isZero();
        }
        drivers.assertNothingToComplainOf();
    }

    /** Returns the tokens of the requests on a device that is not lost. */
    private List<List<Integer>> answers(GpuKind kind) {
        try (IreeRuntime runtime = runtime(GpuDrivers.fake(directory, kind, ""));
                Program program = load(runtime, kind);
                Generator generator = generator(program)) {
            return submit(generator).stream()
                    .map(each -> each.result().await().tokens())
                    .toList();
        }
    }

    @ParameterizedTest
    @EnumSource
    void theLossOfTheDeviceFailsAllRequestsBehindTheirTokens(GpuKind kind) throws InterruptedException {
        List<List<Integer>> answers = answers(kind);
        Random random = new Random(SEED);
        int failed = 0;
        for (int i = 0; i < Effort.rounds(16, 100); i++) {
            failed += lose(kind, random.nextInt(6), random.nextInt(12), answers);
        }
        assertThat(failed).as("requests failed by the loss").isPositive();
    }

    /**
     * Loses the device behind a token of a request; other requests read prompts, decode, wait, or have ended. Returns the
     * number of failed requests.
     */
    private int lose(GpuKind kind, int request, int token, List<List<Integer>> answers) throws InterruptedException {
        GpuDrivers drivers = GpuDrivers.fake(directory, kind, "");
        try (IreeRuntime runtime = runtime(drivers);
                Program program = load(runtime, kind)) {
            Generator generator = generator(program);
            List<Generation> all = submit(generator);
            for (int i = 0; i <= token; i++) {
                all.get(request).next();
            }
            drivers.lose();
            int failed = 0;
            for (int i = 0; i < all.size(); i++) {
                List<Integer> expected = answers.get(i);
                int read = i == request ? token + 1 : 0;
                try {
                    for (OptionalInt next; (next = all.get(i).next()).isPresent(); read++) {
                        assertThat(next).hasValue(expected.get(read));
                    }
                    assertThat(read).isEqualTo(expected.size());
                } catch (IreeException e) {
                    assertThat(e).isInstanceOf(DeviceLostException.class).hasMessageContaining("719");
                    failed++;
                }
            }
            assertThatThrownBy(() -> submit(generator)).isInstanceOf(DeviceLostException.class);
            assertThatThrownBy(() -> generator.snapshot().await()).isInstanceOf(DeviceLostException.class);
            assertAllPagesAreFree(generator);
            drivers.assertNothingToComplainOf();
            return failed;
        }
    }

    /** Returns the number of launches until a generator is ready, and until the generator has answered requests. */
    private List<Long> launches(GpuKind kind, String settings, String call) {
        GpuDrivers drivers = GpuDrivers.fake(directory, kind, settings);
        try (IreeRuntime runtime = runtime(drivers);
                Program program = load(runtime, kind);
                Generator generator = generator(program)) {
            assertThat(generator.isRestricted()).isFalse();
            long before = Objects.requireNonNull(drivers.library()).calls(call);
            submit(generator).forEach(each -> each.result().await());
            return List.of(before, drivers.library().calls(call));
        }
    }

    /** A launch anywhere in a step, of a kernel or of a graph of kernels: nothing behind the refused commands runs. */
    @ParameterizedTest
    @CsvSource({"CUDA, launch", "CUDA, graph_launch", "HIP, launch", "HIP, graph_launch"})
    void aFailedLaunchFailsTheRequestsOfItsStepOnly(GpuKind kind, String call) {
        String settings =
                call.equals("launch") ? "no_symbol=" + (kind == GpuKind.CUDA ? "cuGraphLaunch" : "hipGraphLaunch") : "";
        List<Long> launches = launches(kind, settings, call);
        long first = launches.getFirst() + 1;
        int sure = (int) (launches.getLast() - first) / 2; // requests may share steps differently next time
        assertThat(sure).isPositive();
        Random random = new Random(SEED);
        for (int i = 0; i < Effort.rounds(3, 24); i++) {
            long number = i == 0 ? first : first + random.nextInt(sure);
            assertFailsItsStepOnly(kind, "%s fail=%s:%d:2".formatted(settings, call, number));
        }
    }

    private void assertFailsItsStepOnly(GpuKind kind, String settings) {
        GpuDrivers drivers = GpuDrivers.fake(directory, kind, settings);
        try (IreeRuntime runtime = runtime(drivers);
                Program program = load(runtime, kind)) {
            Generator generator = generator(program);
            List<IreeException> failures = new ArrayList<>();
            List<Generation> good = new ArrayList<>();
            for (Generation each : submit(generator)) {
                try {
                    each.result().await();
                    good.add(each);
                } catch (IreeException e) {
                    failures.add(e);
                }
            }
            assertThat(failures)
                    .as(settings)
                    .isNotEmpty()
                    .allSatisfy(each -> assertThat(each)
                            .isNotInstanceOf(DeviceLostException.class)
                            .hasMessageContaining("OUT_OF_MEMORY (2)")
                            .hasMessageContaining("of %d sequences", failures.size()));
            good.addAll(submit(generator));
            try (GenerationMix plain = new GenerationMix(program, program, CONFIG, 6, 12)) {
                for (Generation each : good) {
                    assertThat(each.result().await().tokens()).isEqualTo(plain.loop(each.request()));
                }
            }
            assertAllPagesAreFree(generator);
        }
        drivers.assertNothingToComplainOf();
    }
}
