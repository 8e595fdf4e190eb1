package io.github.iree4j;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.spi.DeviceOptions;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.github.iree4j.vm.asm.VmAssembler;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Devices with names and options, and programs loaded several times. */
class RuntimeDevicesTest {
    private static final float[] FOUR = {1, 2, 3, 4};

    private static final String COUNTER = """
            vm.module @counter version 0
            vm.type i32
            vm.global.i32 mutable @count

            vm.export @next
            vm.func @next() -> (i32) {
            ^entry:
              %i0 = vm.global.load.i32 @count
              %i1 = vm.const.i32 1
              %i0 = vm.add.i32 %i0, %i1
              vm.global.store.i32 %i0, @count
              vm.return %i0
            }
            """;

    @Test
    void devicesOfADriverHaveSeparateNamesAndLimits() {
        try (IreeRuntime runtime = IreeRuntime.builder()
                .device(
                        "small",
                        "local",
                        DeviceOptions.builder().memoryLimit(1 << 20).build())
                .device("wide", "local", DeviceOptions.builder().queueCount(3).build())
                .build()) {
            Device small = runtime.device("small");
            Device wide = runtime.device("wide");
            assertThat(small).isNotSameAs(wide);
            assertThat(small.allocator().poolStatistics().budget()).isEqualTo(1 << 20);
            assertThat(wide.queueCount()).isEqualTo(3);
            assertThat(runtime.monitor().devices().nameOf(wide)).isEqualTo("wide");
            assertThat(runtime.monitor().devices().names()).containsExactly("small", "wide");
            try (Program program = runtime.load(ProgramOptions.builder()
                    .module(Fixtures.file("3.11.0/cpu/add.vmfb"))
                    .device("wide")
                    .build())) {
                assertThat(program.devices()).containsExactly(wide);
            }
        }
    }

    @Test
    void twoDevicesOfTheSameNameAreRefused() {
        assertThatExceptionOfType(IreeException.class)
                .isThrownBy(() ->
                        IreeRuntime.builder().device("local").device("local").build())
                .withMessageContaining("two devices are called 'local'");
    }

    @Test
    void onlyAllowedFormatsAreLoaded() {
        DeviceOptions bytecodeOnly = DeviceOptions.builder()
                .executableFormats(List.of("vmvx-bytecode-fb"))
                .build();
        try (IreeRuntime runtime =
                IreeRuntime.builder().device("sandbox", "local", bytecodeOnly).build()) {
            assertThat(runtime.device().executableFormats()).containsExactly("vmvx-bytecode-fb");
            assertThatExceptionOfType(IreeException.class)
                    .isThrownBy(() -> runtime.load(Fixtures.file("3.11.0/cpu/add.vmfb")))
                    .satisfies(e -> assertThat(e.code()).isNotEqualTo(StatusCode.INTERNAL));
            try (Program program = runtime.load(Fixtures.file("3.11.0/vmvx/simple_mul.vmfb"));
                    Results results = program.functions().getFirst().invoke(new float[100], new float[100])) {
                assertThat(results.tensor(0).toFloatArray()).containsOnly(0).hasSize(100);
            }
        }
    }

    @Test
    void anInstanceHasSeparateStateAndOutlivesTheFirst() {
        try (IreeRuntime runtime = IreeRuntime.create()) {
            Program first = runtime.load(ProgramOptions.builder()
                    .module("counter", VmAssembler.assemble(COUNTER))
                    .build());
            assertThat(next(first)).isEqualTo(1);
            try (Program second = first.newInstance()) {
                assertThat(next(first)).isEqualTo(2);
                assertThat(next(second)).isEqualTo(1);
                first.close();
                assertThat(next(second)).isEqualTo(2);
                assertThat(second.monitor().modules()).isEqualTo(first.monitor().modules());
                assertThatExceptionOfType(IreeException.class)
                        .isThrownBy(first::newInstance)
                        .withMessageContaining("is closed");
            }
            LeakCheck.assertNone(runtime);
        }
    }

    @Test
    void instancesShareParameterArchives() {
        try (IreeRuntime runtime = IreeRuntime.create();
                Program first = runtime.load(ProgramOptions.builder()
                        .module(Fixtures.file("3.11.0/cpu/scale.vmfb"))
                        .parameters("model", Fixtures.file("scale_weights.irpa"))
                        .build());
                Program second = first.newInstance();
                Results one = first.function("scale").invoke(FOUR);
                Results other = second.function("scale").invoke(FOUR)) {
            assertThat(other.tensor(0).toFloatArray())
                    .containsExactly(one.tensor(0).toFloatArray());
        }
    }

    @Test
    void memoryIsAccountedToTheGivenConsumer() {
        DeviceOptions limited = DeviceOptions.builder().memoryQuota("mine", 8).build();
        try (IreeRuntime runtime =
                        IreeRuntime.builder().device("local", "local", limited).build();
                Program program = runtime.load(ProgramOptions.builder()
                        .module(Fixtures.file("3.11.0/cpu/add.vmfb"))
                        .name("mine")
                        .build())) {
            assertThatExceptionOfType(IreeException.class)
                    .isThrownBy(() -> program.function("add").invoke(FOUR, FOUR))
                    .withMessageContaining("the quota of device 'local' is 8 bytes");
        }
    }

    @Test
    void idleMemoryGoesBackWhenNoneIsToBeKept() {
        DeviceOptions frugal = DeviceOptions.builder()
                .memoryRetained(0)
                .memoryIdle(Duration.ZERO)
                .build();
        try (IreeRuntime runtime =
                IreeRuntime.builder().device("local", "local", frugal).build()) {
            runtime.upload(Tensor.of(new float[8 << 20], 8 << 20)).close(); // 32 MiB: a separate slab
            assertThat(runtime.device().allocator().poolStatistics().bytesReserved())
                    .isZero();
        }
    }

    private static int next(Program program) {
        try (Results results = program.function("next").invoke()) {
            return results.intValue(0);
        }
    }
}
