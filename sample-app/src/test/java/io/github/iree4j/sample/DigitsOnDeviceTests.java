package io.github.iree4j.sample;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.github.iree4j.Results;
import io.github.iree4j.Tensor;
import io.github.iree4j.hal.Device;
import io.github.iree4j.sample.HandwrittenDigits.Sample;
import io.github.iree4j.spring.InvocationService;
import io.github.iree4j.spring.Programs;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestInstance.Lifecycle;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;

/** The same program on a configured device other than the CPU, compared with the CPU. A subclass names the driver. */
@TestInstance(Lifecycle.PER_CLASS)
abstract class DigitsOnDeviceTests {
    private final String driver;
    private final String format;
    private ConfigurableApplicationContext application;
    private InvocationService invocations;

    /** Tests of a driver with kernels of a format. */
    DigitsOnDeviceTests(String driver, String format) {
        this.driver = driver;
        this.format = format;
    }

    @BeforeAll
    void start() {
        application = new SpringApplicationBuilder(SampleApplication.class)
                .web(WebApplicationType.NONE)
                .run(
                        "--iree.devices.cpu.uri=local",
                        "--iree.devices.gpu.uri=" + driver,
                        "--iree.device=cpu",
                        "--iree.modules.gpu-digits.location=classpath:models/digits.vmfb",
                        "--iree.modules.gpu-digits.parameters.model=classpath:models/digits.irpa",
                        "--iree.modules.gpu-digits.devices=gpu");
        invocations = application.getBean(InvocationService.class);
    }

    @AfterAll
    void stop() {
        if (application != null) {
            application.close();
        }
    }

    @Test
    void programRunsOnTheConfiguredDevice() {
        Device device = application
                .getBean(Programs.class)
                .find("gpu-digits")
                .orElseThrow()
                .program()
                .devices()
                .getFirst();
        assertThat(device.id()).startsWith(driver);
        assertThat(device.queryI64("hal.executable.format", format)).hasValue(1);
    }

    @Test
    void readsAtLeast95PercentOfUnseenDigits() {
        List<Sample> heldOut = HandwrittenDigits.load().heldOut();
        float[][] probabilities = classify("gpu-digits", heldOut);
        int right = 0;
        for (int i = 0; i < heldOut.size(); i++) {
            if (mostProbable(probabilities[i]) == heldOut.get(i).digit()) {
                right++;
            }
        }
        double accuracy = (double) right / heldOut.size();
        System.out.printf(
                "held-out accuracy: %.2f %% (%d of %d) on %s%n", 100 * accuracy, right, heldOut.size(), driver);
        assertThat(accuracy).isGreaterThanOrEqualTo(0.95);
    }

    @Test
    void batchesOfAnySizeMatchTheCpu() {
        List<Sample> heldOut = HandwrittenDigits.load().heldOut();
        for (int size = 0; size < 40; size++) {
            List<Sample> batch = heldOut.subList(size, 2 * size);
            float[][] expected = classify("digits", batch);
            float[][] actual = classify("gpu-digits", batch);
            for (int i = 0; i < size; i++) {
                assertThat(actual[i]).containsExactly(expected[i], within(1e-6f));
            }
        }
    }

    @Test
    void concurrentCallsDoNotMix() throws Exception {
        List<Sample> pictures = HandwrittenDigits.load().heldOut().subList(0, 32);
        float[][] expected = classify("gpu-digits", pictures);
        try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            List<Future<float[]>> answers = IntStream.range(0, 128)
                    .mapToObj(i -> threads.submit(() -> classify("gpu-digits", List.of(pictures.get(i % 32)))[0]))
                    .toList();
            for (int i = 0; i < answers.size(); i++) {
                assertThat(answers.get(i).get()).containsExactly(expected[i % 32]);
            }
        }
    }

    private float[][] classify(String program, List<Sample> pictures) {
        float[] flat = new float[pictures.size() * 64];
        for (int i = 0; i < pictures.size(); i++) {
            System.arraycopy(pictures.get(i).pixels(), 0, flat, i * 64, 64);
        }
        try (Tensor tensor = Tensor.of(flat, pictures.size(), 64);
                Results results = invocations.invoke(program + ".classify", tensor)) {
            float[] all = results.tensor(0).toFloatArray();
            return IntStream.range(0, pictures.size())
                    .mapToObj(i -> Arrays.copyOfRange(all, i * 10, i * 10 + 10))
                    .toArray(float[][]::new);
        }
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
