package io.github.iree4j.sample;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.within;

import io.github.iree4j.Results;
import io.github.iree4j.Tensor;
import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.Shape;
import io.github.iree4j.sample.HandwrittenDigits.Sample;
import io.github.iree4j.spring.InvocationService;
import io.github.iree4j.spring.ProgramSource;
import io.github.iree4j.spring.Programs;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.github.iree4j.vm.asm.VmAssembler;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.SpringBootTest.WebEnvironment;

/** The compiled program as run by the application: real kernels, real weights. */
@SpringBootTest(webEnvironment = WebEnvironment.NONE)
class DigitsModelTests {

    @Autowired
    private InvocationService invocations;

    @Autowired
    private Programs programs;

    @Test
    void readsAtLeast95PercentOfUnseenDigits() {
        List<Sample> heldOut = HandwrittenDigits.load().heldOut();
        int right = 0;
        float[][] probabilities = classify("digits", pixels(heldOut));
        for (int i = 0; i < heldOut.size(); i++) {
            if (mostProbable(probabilities[i]) == heldOut.get(i).digit()) {
                right++;
            }
        }
        double accuracy = (double) right / heldOut.size();
        System.out.printf("held-out accuracy: %.2f %% (%d of %d)%n", 100 * accuracy, right, heldOut.size());
        assertThat(accuracy).isGreaterThanOrEqualTo(0.95);
    }

    @Test
    void readsAtLeast97PercentOfDrawnDigits() {
        long seed = 20260102;
        Random random = new Random(seed);
        int right = 0;
        int drawn = 0;
        for (int digit = 0; digit < 10; digit++) {
            for (Drawing style : SyntheticDigits.of(digit)) {
                float[][] pictures = IntStream.range(0, 50)
                        .mapToObj(_ -> SyntheticDigits.byHand(style, random).pixels())
                        .toArray(float[][]::new);
                for (float[] probabilities : classify("digits", pictures)) {
                    drawn++;
                    if (mostProbable(probabilities) == digit) {
                        right++;
                    }
                }
            }
        }
        assertThat((double) right / drawn)
                .as("%d of %d, seed %d", right, drawn, seed)
                .isGreaterThanOrEqualTo(0.97);
    }

    @Test
    void batchMatchesIndividualRows() {
        float[][] pictures = pixels(HandwrittenDigits.load().heldOut().subList(0, 19));
        float[][] together = classify("digits", pictures);
        for (int i = 0; i < pictures.length; i++) {
            float[] alone = classify("digits", new float[][] {pictures[i]})[0];
            assertThat(alone).containsExactly(together[i]);
        }
    }

    @Test
    void probabilitiesAddUpToOne() {
        for (float[] row : classify("digits", pixels(HandwrittenDigits.load().heldOut()))) {
            double sum = 0;
            for (float probability : row) {
                assertThat(probability).isBetween(0f, 1f);
                sum += probability;
            }
            assertThat(sum).isCloseTo(1, within(1e-5));
        }
    }

    @Test
    void emptyBatchReturnsEmptyResult() {
        try (Tensor none = Tensor.of(new float[0], 0, 64);
                Results results = invocations.invoke("digits.classify", none)) {
            assertThat(results.tensor(0).shape()).isEqualTo(Shape.of(0, 10));
        }
    }

    @Test
    void rejectsPicturesOfAnotherSize() {
        try (Tensor large = Tensor.of(new float[784], 1, 784)) {
            assertThatExceptionOfType(IreeException.class)
                    .isThrownBy(() -> invocations.invoke("digits.classify", large))
                    .satisfies(e -> assertThat(e.code()).isEqualTo(StatusCode.INVALID_ARGUMENT));
        }
    }

    @Test
    void concurrentCallsDoNotMix() throws Exception {
        float[][] pictures = pixels(HandwrittenDigits.load().heldOut().subList(0, 64));
        float[][] expected = classify("digits", pictures);
        try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            List<Future<float[]>> answers = IntStream.range(0, 512)
                    .mapToObj(i -> threads.submit(() -> classify("digits", new float[][] {pictures[i % 64]})[0]))
                    .toList();
            for (int i = 0; i < answers.size(); i++) {
                assertThat(answers.get(i).get()).containsExactly(expected[i % 64]);
            }
        }
    }

    @Test
    void answersWithoutBlockingTheCaller() {
        float[] picture = HandwrittenDigits.load().heldOut().getFirst().pixels();
        try (Tensor tensor = Tensor.of(picture, 1, 64)) {
            CompletableFuture<Results> future = invocations.invokeAsync("digits.classify", tensor);
            try (Results results = future.join()) {
                assertThat(results.tensor(0).toFloatArray())
                        .containsExactly(classify("digits", new float[][] {picture})[0]);
            }
        }
    }

    /** The same program, built as on a machine without a compiler for any of its architectures. */
    @Test
    void fallsBackToBytecodeKernels(@TempDir Path directory) throws IOException {
        Path kernels = Files.createDirectory(directory.resolve("kernels"));
        Path sources = Path.of("src/main/iree");
        Files.createFile(kernels.resolve("x86_64.so"));
        Files.createFile(kernels.resolve("arm_64.so"));
        Files.createFile(kernels.resolve("vulkan.spirv-fb"));
        Files.createFile(kernels.resolve("cuda.nvptx-fb"));
        Files.createFile(kernels.resolve("hip.hsaco-fb"));
        Files.write(
                kernels.resolve("vmvx.vmfb"),
                VmAssembler.assemble(Files.readString(sources.resolve("digits_vmvx.vmasm")), directory));
        Path program = Files.write(
                directory.resolve("digits.vmfb"),
                VmAssembler.assemble(Files.readString(sources.resolve("digits.vmasm")), directory));
        String parameters = "classpath:models/digits.irpa";
        programs.load(ProgramSource.builder("bytecode", program.toString())
                .parameters(Map.of("model", List.of(parameters)))
                .build());
        try {
            float[][] pictures = pixels(HandwrittenDigits.load().heldOut());
            float[][] expected = classify("digits", pictures);
            float[][] actual = classify("bytecode", pictures);
            for (int i = 0; i < expected.length; i++) {
                assertThat(actual[i]).containsExactly(expected[i], within(1e-5f));
            }
        } finally {
            programs.unload("bytecode");
        }
    }

    /** Kernels compiled for this machine run: otherwise all tests above would only prove the fallback. */
    @Test
    void usesTheKernelsCompiledForThisMachine() {
        Device device =
                programs.find("digits").orElseThrow().program().devices().getFirst();
        String architecture = System.getProperty("os.arch").equals("amd64") ? "x86_64" : "arm_64";
        assertThat(Path.of("target/iree/kernels", architecture + ".so")).isNotEmptyFile();
        assertThat(device.queryI64("hal.executable.format", "embedded-elf-" + architecture))
                .hasValue(1);
    }

    private float[][] classify(String program, float[][] pictures) {
        float[] flat = new float[pictures.length * 64];
        for (int i = 0; i < pictures.length; i++) {
            System.arraycopy(pictures[i], 0, flat, i * 64, 64);
        }
        try (Tensor tensor = Tensor.of(flat, pictures.length, 64);
                Results results = invocations.invoke(program + ".classify", tensor)) {
            assertThat(results.tensor(0).shape()).isEqualTo(Shape.of(pictures.length, 10));
            float[] all = results.tensor(0).toFloatArray();
            float[][] rows = new float[pictures.length][];
            for (int i = 0; i < rows.length; i++) {
                rows[i] = Arrays.copyOfRange(all, i * 10, i * 10 + 10);
            }
            return rows;
        }
    }

    private static float[][] pixels(List<Sample> samples) {
        return samples.stream().map(Sample::pixels).toArray(float[][]::new);
    }

    private static int mostProbable(float[] probabilities) {
        int best = 0;
        for (int i = 1; i < probabilities.length; i++) {
            if (probabilities[i] > probabilities[best]) {
                best = i;
            }
        }
        return best;
    }
}
