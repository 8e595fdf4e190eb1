package io.github.iree4j;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.pool.Admission;
import io.github.iree4j.hal.pool.AdmissionGate;
import io.github.iree4j.hal.pool.KnownNeed;
import io.github.iree4j.hal.spi.DeviceOptions;
import io.github.iree4j.hal.vulkan.FakeDriver;
import io.github.iree4j.tensor.DeviceMemory;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A thread that sees the end of a call's work waits for no other device. */
@Timeout(300)
class InputsApartTest {
    private static final int ROWS = 40;

    @TempDir
    private Path directory;

    private static Tensor values() {
        return values(ROWS);
    }

    private static Tensor values(int rows) {
        return Tensor.of(new float[rows * 64], rows, 64);
    }

    private static Tensor factors() {
        return factors(ROWS);
    }

    private static Tensor factors(int rows) {
        return Tensor.of(new float[rows], rows, 1);
    }

    /** A call with an input in the memory of another, hanging device is admitted by the end of another call. */
    @Test
    void noWorkerWaitsForTheDeviceOfAnInput() throws Exception {
        FakeDriver driver = FakeDriver.in(directory, "");
        try (Device slow = driver.open(DeviceOptions.builder())) {
            DeviceMemory memory = new DeviceMemory(slow);
            try (Tensor apart = Tensor.adopt(memory.upload(values().elements()), memory, new Leaks(false))) {
                callBeside(driver, apart);
            }
        }
    }

    private static long peak(Path module) {
        try (IreeRuntime runtime = IreeRuntime.create();
                Program program = runtime.load(module)) {
            program.function("outer").invoke(values(), factors()).close();
            return runtime.device().allocator().statistics().bytesPeak();
        }
    }

    private static void callBeside(FakeDriver driver, Tensor apart) throws Exception {
        Path module = Fixtures.file("3.13.0/cpu/outer.vmfb");
        long limit = 3 * peak(module) / 2; // for one call at a time
        try (IreeRuntime runtime =
                        IreeRuntime.builder().taskWorkers(1).memoryLimit(limit).build();
                Program first = runtime.load(module);
                Program second = runtime.load(module);
                Program small = runtime.load(module)) {
            small.function("outer").invoke(values(1), factors(1)).close();
            first.function("outer").invoke(values(), factors()).close();
            second.function("outer").invoke(apart, factors()).close();
            driver.hang();
            AdmissionGate gate = runtime.device().allocator().gate();
            Admission all = KnownNeed.admitForAll(gate, limit);
            CompletableFuture<Results> near = first.function("outer").invokeAsync(values(), factors());
            CompletableFuture<Results> far = second.function("outer").invokeAsync(apart, factors());
            assertThat(gate.waiting()).isEqualTo(2);
            all.exit();
            try {
                near.get(30, TimeUnit.SECONDS).close();
                small.function("outer")
                        .invokeAsync(values(1), factors(1))
                        .get(30, TimeUnit.SECONDS)
                        .close();
            } finally {
                driver.goOn();
            }
            far.join().close();
        }
    }
}
