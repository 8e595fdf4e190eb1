package io.github.iree4j.hal.local;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.github.iree4j.async.Fence;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.hal.BindingTable;
import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.BufferParams;
import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.DispatchConfig;
import io.github.iree4j.hal.Executable;
import io.github.iree4j.hal.ExecutableParams;
import io.github.iree4j.hal.contract.JavaKernels;
import io.github.iree4j.hal.spi.CpuOptions;
import io.github.iree4j.hal.spi.DeviceOptions;
import io.github.iree4j.nativeaccess.CpuFeatures;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class LocalDriverTest {
    private final LocalDriverProvider driver = new LocalDriverProvider();
    private final Device device = driver.open("local", DeviceOptions.DEFAULTS);

    @AfterEach
    void close() {
        device.close();
    }

    @ParameterizedTest
    @CsvSource({
        "local*,1",
        "local,1",
        "local-task,1",
        "local-sync,1",
        "*,1",
        "loc?l,1",
        "local-?ask,1",
        "*-*k,1",
        "l*l*,1",
        "cuda*,0",
        "loca,0",
        "locals,0",
        "'',0",
        "local-?,0",
        "vulkan,0",
        "?,0",
        "*x*,0"
    })
    void idPatternsOfProgramsMatchThisDevice(String pattern, int expected) {
        assertThat(device.queryI64("hal.device.id", pattern)).hasValue(expected);
    }

    @Test
    void aPatternOfManyStarsIsAnsweredAtOnce() {
        assertThat(device.queryI64("hal.device.id", "*l".repeat(5000) + "*x")).hasValue(0);
    }

    @Test
    void listsAndOpensASingleDevice() {
        assertThat(driver.name()).isEqualTo("local");
        assertThat(driver.availability().available()).isTrue();
        assertThat(driver.devices()).hasSize(1);
        assertThat(device.id()).isEqualTo("local");
        assertThatThrownBy(() -> driver.open("cuda", DeviceOptions.DEFAULTS))
                .isInstanceOf(IreeException.class)
                .hasMessageContaining("driver 'local' has no device 'cuda'");
    }

    @Test
    void answersForCompiledCodeOfThisMachine() {
        assertThat(device.queryI64("hal.executable.format", "embedded-elf-" + CpuFeatures.architecture()))
                .hasValue(1);
        assertThat(device.queryI64("hal.executable.format", "embedded-elf-mips_64"))
                .hasValue(0);
        assertThat(device.queryI64("hal.device", "concurrency")).hasValue(1);
        assertThat(device.queryI64("hal.dispatch", "concurrency").orElse(0))
                .isBetween(1L, (long) Runtime.getRuntime().availableProcessors());
        assertThat(device.queryI64("hal.cpu", "no-such-feature")).isEmpty();
        String known = CpuFeatures.architecture().equals("x86_64") ? "sse3" : "fp-armv8";
        assertThat(device.queryI64("hal.cpu", known)).hasValue(CpuFeatures.has(known) ? 1 : 0);
    }

    @Test
    void codeForAnotherMachineIsRefusedNamingTheRunnableFormats() {
        assertThatThrownBy(() -> device.createExecutable(
                        new ExecutableParams("embedded-elf-mips_64", MemorySegment.ofArray(new byte[4]))))
                .isInstanceOf(IreeException.class)
                .hasMessageContaining("'embedded-elf-mips_64', it runs embedded-elf-" + CpuFeatures.architecture())
                .extracting(e -> ((IreeException) e).code())
                .isEqualTo(StatusCode.INCOMPATIBLE);
    }

    private Executable compiled() throws Exception {
        Path kernels = Path.of(System.getProperty("iree4j.test.kernels", "../native-shim/build/release/test/kernels"));
        MemorySegment elf = MemorySegment.ofArray(Files.readAllBytes(kernels.resolve("basic.so")));
        return device.createExecutable(
                new ExecutableParams("embedded-elf-" + CpuFeatures.architecture(), elf, null, new int[] {77}));
    }

    @Test
    void runsCompiledCode() throws Exception {
        try (Executable executable = compiled();
                Buffer a = floats(1, 2, 3, 4);
                Buffer b = floats(10, 20, 30, 40);
                Buffer out = floats(0, 0, 0, 0);
                TimelineSemaphore timeline = device.createSemaphore(0, 0);
                Fence done = Fence.at(timeline, 1)) {
            device.queue(0)
                    .dispatch(
                            null,
                            done,
                            executable,
                            executable.lookup("add"),
                            DispatchConfig.of(4, 1, 1),
                            new int[0],
                            BindingTable.of(a, b, out),
                            0);
            done.await();
            assertThat(out.map(1, 0, 16).toArray(ValueLayout.JAVA_FLOAT)).containsExactly(11, 22, 33, 44);
        }
    }

    @Test
    void compiledCodeSeesConstantsAndLocalMemory() throws Exception {
        try (Executable executable = compiled();
                Buffer out = floats(new float[16]);
                Buffer sums = floats(0, 0);
                TimelineSemaphore timeline = device.createSemaphore(0, 0);
                Fence first = Fence.at(timeline, 1);
                Fence second = Fence.at(timeline, 2)) {
            device.queue(0)
                    .dispatch(
                            null,
                            first,
                            executable,
                            executable.lookup("record"),
                            DispatchConfig.of(2, 1, 1),
                            new int[] {5, 6},
                            BindingTable.of(out),
                            0);
            device.queue(0)
                    .dispatch(
                            first,
                            second,
                            executable,
                            executable.lookup("sum_local"),
                            DispatchConfig.of(3, 1, 1),
                            new int[0],
                            BindingTable.of(sums),
                            0);
            second.await();
            int[] record = out.map(1, 32, 32).toArray(ValueLayout.JAVA_INT);
            assertThat(record).startsWith(1, 0, 0, 5, 6);
            assertThat(record[6]).as("specialisation constant").isEqualTo(77);
            assertThat(sums.map(1, 0, 8).toArray(ValueLayout.JAVA_INT)).containsExactly(3, 8192);
        }
    }

    @Test
    void aFailingCompiledKernelFailsTheSignal() throws Exception {
        try (Executable executable = compiled();
                TimelineSemaphore timeline = device.createSemaphore(0, 0);
                Fence done = Fence.at(timeline, 1)) {
            device.queue(0)
                    .dispatch(
                            null,
                            done,
                            executable,
                            executable.lookup("fail_at"),
                            DispatchConfig.of(8, 1, 1),
                            new int[] {3},
                            new BindingTable(),
                            0);
            assertThat(awaitFailure(done).code()).isEqualTo(StatusCode.INTERNAL);
        }
    }

    @Test
    void bindingsUnusableByCompiledCodeAreRefused() {
        try (Device strict = driver.open(
                        "local",
                        DeviceOptions.builder()
                                .with(CpuOptions.DEFAULTS.loader(new JavaKernels(64)))
                                .build());
                Executable executable = JavaKernels.load(strict);
                Buffer buffer = strict.allocator().allocate(BufferParams.DEFAULT, 256);
                TimelineSemaphore timeline = strict.createSemaphore(0, 0);
                Fence done = Fence.at(timeline, 1)) {
            strict.queue(0)
                    .dispatch(
                            null,
                            done,
                            executable,
                            JavaKernels.COORDINATES,
                            DispatchConfig.of(1, 1, 1),
                            new int[0],
                            new BindingTable().add(buffer, 4, 8),
                            0);
            assertThat(awaitFailure(done))
                    .hasMessageContaining("binding 0 of dispatch 'coordinates' starts at byte 4 of its allocation")
                    .hasMessageContaining("aligned to 64 bytes");
        }
    }

    @Test
    void moreMemoryThanTheMachineHasIsRefusedBeforeBeingTouched() {
        long limit = device.allocator().statistics().bytesLimit();
        assertThat(limit).isBetween(1L << 20, 1L << 50);
        assertThatThrownBy(() -> device.allocator().allocate(BufferParams.DEFAULT, limit + 1))
                .isInstanceOf(IreeException.class)
                .extracting(e -> ((IreeException) e).code())
                .isEqualTo(StatusCode.RESOURCE_EXHAUSTED);
    }

    @Test
    void hostileCodeIsRefused() {
        assertThatThrownBy(() -> device.createExecutable(new ExecutableParams(
                        "embedded-elf-" + CpuFeatures.architecture(), MemorySegment.ofArray(new byte[100]))))
                .isInstanceOf(IreeException.class);
    }

    private static IreeException awaitFailure(Fence fence) {
        return catchThrowableOfType(IreeException.class, fence::await);
    }

    private Buffer floats(float... values) {
        Buffer buffer = device.allocator().allocate(BufferParams.DEFAULT, values.length * 4L);
        MemorySegment.copy(values, 0, buffer.map(2, 0, Buffer.WHOLE), ValueLayout.JAVA_FLOAT, 0, values.length);
        return buffer;
    }
}
