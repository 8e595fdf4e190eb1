package io.github.iree4j.modules;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.github.iree4j.Fixtures;
import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.local.LocalDriverProvider;
import io.github.iree4j.hal.spi.DeviceOptions;
import io.github.iree4j.hal.vulkan.FakeDriver;
import io.github.iree4j.modules.hal.HalModule;
import io.github.iree4j.modules.hal.HalTypes;
import io.github.iree4j.nativeaccess.CpuFeatures;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.github.iree4j.vm.Context;
import io.github.iree4j.vm.ContextOptions;
import io.github.iree4j.vm.VmTypes;
import io.github.iree4j.vm.bytecode.BytecodeModule;
import io.github.iree4j.vm.bytecode.ModuleLimits;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Programs for several devices that have no memory in common are refused when they are loaded. */
class SharedMemoryOfDevicesTest {
    @Test
    void whatTheHostDoesNotSeeIsNamedWhenTheProgramIsLoaded(@TempDir Path directory) {
        Assumptions.assumeTrue(CpuFeatures.architecture().equals("x86_64"), "the module is compiled for x86_64");
        try (Device cpu = new LocalDriverProvider().open("local", DeviceOptions.DEFAULT);
                Device gpu = FakeDriver.deviceWithHiddenMemory(directory);
                BytecodeModule module = BytecodeModule.open(
                        Fixtures.file("2.9.0/cpu-vulkan/mixed_devices.vmfb"),
                        HalTypes.register(VmTypes.standard()),
                        ModuleLimits.DEFAULTS)) {
            assertThat(cpu.memoryObstacle(gpu)).contains("the host does not see the memory of device '" + gpu.id());
            assertThat(gpu.memoryObstacle(cpu)).isNull();
            assertThat(cpu.memoryObstacle(cpu)).isNull();
            assertThat(gpu.memoryObstacle(gpu)).isNull();
            assertThatExceptionOfType(IreeException.class)
                    .isThrownBy(() -> Context.create(
                            List.of(HalModule.create(List.of(cpu, gpu)), module), ContextOptions.DEFAULTS))
                    .withMessageContaining("program has code for devices '" + gpu.id() + "' and 'local'")
                    .withMessageContaining("device 'local' cannot use that of the other: the host does not see")
                    .satisfies(e -> assertThat(e.code()).isEqualTo(StatusCode.INCOMPATIBLE));
            assertThat(cpu.allocator().statistics().bytesLive()).isZero();
            assertThat(gpu.allocator().statistics().bytesLive()).isZero();
        }
    }
}
