package io.github.iree4j;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.spi.DeviceOptions;
import io.github.iree4j.hal.vulkan.VulkanOfProcess;
import io.github.iree4j.nativeaccess.CpuFeatures;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Programs with steps on the CPU and on a Vulkan device: each reads the other's results in place. IREE's own runtime has no such
 * sharing, so the expected results are computed here.
 */
@Timeout(300)
class MixedDevicesProgramTest {
    private static final Path MODULE = Fixtures.file("2.9.0/cpu-vulkan/mixed_devices.vmfb");

    private IreeRuntime runtime; // null where the test is skipped

    @BeforeEach
    void openBoth() {
        VulkanOfProcess.assume();
        Assumptions.assumeTrue(CpuFeatures.architecture().equals("x86_64"), "the modules are compiled for x86_64");
        runtime = IreeRuntime.builder()
                .device("a", "local", DeviceOptions.DEFAULTS)
                .device("b", "vulkan", DeviceOptions.DEFAULTS)
                .build();
    }

    @AfterEach
    void nothingIsLeft() {
        if (runtime == null) {
            return;
        }
        runtime.close();
        for (Device device : runtime.devices()) {
            assertThat(device.allocator().statistics().bytesLive())
                    .as(device.id())
                    .isZero();
        }
        VulkanOfProcess.assertNothingToComplainOf();
    }

    /** 4x² + x: the sum on the CPU, the square on Vulkan, and the rest on the CPU. */
    private static void callBoth(Program program, float first) {
        float[] x = {first, first + 1, first + 2, first + 3};
        try (Results results = program.function("both").invoke((Object) x)) {
            float[] expected = new float[4];
            for (int i = 0; i < 4; i++) {
                expected[i] = 4 * x[i] * x[i] + x[i];
            }
            assertThat(results.tensor(0).toFloatArray()).containsExactly(expected);
        }
    }

    @Test
    void eachDeviceReadsTheResultsOfTheOther() {
        try (Program program = runtime.load(MODULE)) {
            for (int i = 0; i < 50; i++) {
                callBoth(program, i);
            }
        }
    }

    @Test
    void callsAtTheSameTimeDoNotMix() throws Exception {
        try (Program program = runtime.load(MODULE);
                ExecutorService executor = Executors.newFixedThreadPool(4)) {
            List<Callable<Void>> work = new ArrayList<>();
            for (int t = 0; t < 4; t++) {
                int thread = t;
                work.add(() -> {
                    for (int i = 0; i < 50; i++) {
                        callBoth(program, 100 * thread + i);
                    }
                    return null;
                });
            }
            for (Future<Void> each : executor.invokeAll(work)) {
                each.get();
            }
        }
    }

    /** A 64x64 matrix product on Vulkan of the CPU's results, ending there. */
    @Test
    void resultsMayBeOfEither() {
        float[] ones = new float[64 * 64];
        Arrays.fill(ones, 0.5f);
        try (Program program = runtime.load(MODULE);
                Tensor x = Tensor.of(ones, 64, 64)) {
            for (int i = 0; i < 5; i++) {
                try (Results results = program.function("product").invoke(x)) {
                    assertThat(results.tensor(0).toFloatArray())
                            .hasSize(64 * 64)
                            .containsOnly(64f);
                    assertThat(results.tensor(1).toFloatArray())
                            .hasSize(64 * 64)
                            .containsOnly(65f);
                }
            }
        }
    }
}
