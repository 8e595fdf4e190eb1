package io.github.iree4j.hal.gpu;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.iree4j.async.Fence;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.BufferParams;
import io.github.iree4j.hal.DeviceInfo;
import io.github.iree4j.hal.DriverCounters;
import io.github.iree4j.hal.spi.DeviceOptions;
import io.github.iree4j.hal.stream.StreamDevice;
import io.github.iree4j.nativeaccess.gpu.FakeGpu;
import io.github.iree4j.nativeaccess.gpu.GpuKind;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Devices by name, drivers without devices, and a device's uses of its driver. */
class GpuDriverTest {
    @TempDir
    private Path directory;

    @Test
    void devicesAreFoundByNumberAndByUuid() {
        GpuDriver driver = GpuDrivers.fake(directory, GpuKind.CUDA, "devices=2").driver();
        DeviceInfo second = driver.devices().get(1);
        String uuid = second.details().get("uuid");
        String dashed = uuid.replaceFirst("(.{8})(.{4})(.{4})(.{4})", "$1-$2-$3-$4-");
        for (String id :
                new String[] {"cuda:1", "1", uuid, dashed, dashed.toUpperCase(), "cuda:" + uuid, "GPU-" + dashed}) {
            try (StreamDevice device = driver.open(id, DeviceOptions.DEFAULTS)) {
                assertThat(device.id()).as(id).isEqualTo("cuda:1");
            }
        }
        try (StreamDevice device = driver.open("cuda", DeviceOptions.DEFAULTS)) {
            assertThat(device.id()).isEqualTo("cuda:0");
        }
        assertThatThrownBy(() -> driver.open("cuda:2", DeviceOptions.DEFAULTS))
                .hasMessageContaining("driver 'cuda' has no device 'cuda:2'; it has: cuda:0 (")
                .hasMessageContaining("cuda:1 (");
    }

    /** Parts of a device, as made by NVIDIA's MIG: older drivers tell the UUID of the whole. */
    @Test
    void instancesOfADeviceHaveSeparateUuids() {
        GpuDriver driver =
                GpuDrivers.fake(directory, GpuKind.CUDA, "devices=2 instances").driver();
        String uuid = driver.devices().get(1).details().get("uuid");
        assertThat(driver.devices().get(0).details()).doesNotContainEntry("uuid", uuid);
        for (String id : new String[] {"cuda:" + uuid, "MIG-" + uuid}) {
            try (StreamDevice device = driver.open(id, DeviceOptions.DEFAULTS)) {
                assertThat(device.id()).as(id).isEqualTo("cuda:1");
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void aUuidOfSeveralDevicesNamesNone(GpuKind kind) {
        GpuDriver driver = GpuDrivers.fake(directory, kind, "devices=3 instances no_symbol=cuDeviceGetUuid_v2")
                .driver();
        String uuid = driver.devices().getFirst().details().get("uuid");
        assertThatThrownBy(() -> driver.open(driver.name() + ":" + uuid, DeviceOptions.DEFAULTS))
                .isInstanceOfSatisfying(
                        IreeException.class, e -> assertThat(e.code()).isEqualTo(StatusCode.FAILED_PRECONDITION))
                .hasMessageContaining(
                        "is the UUID of 3 devices of driver '%1$s': %1$s:0, %1$s:1, %1$s:2;", driver.name());
        try (StreamDevice device = driver.open("2", DeviceOptions.DEFAULTS)) {
            assertThat(device.id()).isEqualTo(driver.name() + ":2");
        }
    }

    @Test
    void versionsMatchReleases() {
        assertThat(GpuDrivers.fake(directory, GpuKind.CUDA, "version=12040")
                        .driver()
                        .devices()
                        .getFirst()
                        .details())
                .containsEntry("api", "12.4");
        assertThat(GpuDrivers.fake(directory, GpuKind.HIP, "version=50221153")
                        .driver()
                        .devices()
                        .getFirst()
                        .details())
                .containsEntry("api", "5.2.21153");
    }

    @ParameterizedTest
    @EnumSource
    void aDriverWithoutDevicesSaysSo(GpuKind kind) {
        for (String settings : new String[] {"no_device", "devices=0"}) {
            FakeGpu fake = FakeGpu.in(directory, FakeGpu.Kind.valueOf(kind.name()), settings);
            GpuDriver driver = new GpuDriver(kind, fake.library());
            assertThat(driver.availability().available()).as(settings).isFalse();
            assertThat(driver.availability().reason()).startsWith("its library is there and finds no device; ");
            assertThatThrownBy(() -> driver.open(driver.name(), DeviceOptions.DEFAULTS))
                    .hasMessageContaining("is not available: its library is there");
        }
    }

    @Test
    void missingDevicesAreExplainedByTheStateOfTheSystem() throws IOException {
        assertThat(MissingGpus.explain(GpuKind.CUDA, "linux-x86_64", directory))
                .contains("there is no " + directory.resolve("nvidiactl"))
                .contains("--gpus all");
        assertThat(MissingGpus.explain(GpuKind.HIP, "linux-x86_64", directory))
                .contains("there is no " + directory.resolve("kfd"))
                .contains("--device=/dev/kfd --device=/dev/dri");
        Files.createFile(directory.resolve("nvidiactl"));
        assertThat(MissingGpus.explain(GpuKind.CUDA, "linux-x86_64", directory))
                .contains("nvidia-smi -L")
                .contains("CUDA_VISIBLE_DEVICES");
        for (GpuKind kind : GpuKind.values()) {
            assertThat(MissingGpus.explain(kind, "windows-x86_64", directory))
                    .contains("the device manager lists one")
                    .contains("_VISIBLE_DEVICES")
                    .doesNotContain("container")
                    .doesNotContain(directory.toString());
        }
    }

    @Test
    void aMissingLibraryIsNamed() {
        GpuDriver driver = new GpuDriver(GpuKind.HIP, "/no/such/libamdhip64.so.6");
        assertThat(driver.availability().reason()).contains("/no/such/libamdhip64.so.6");
        assertThat(driver.devices()).isEmpty();
    }

    @Test
    void countsWorkHeldBackOnTheHost() {
        GpuDrivers driver = GpuDrivers.fake(directory, GpuKind.CUDA, "");
        StreamDevice device = driver.open(DeviceOptions.builder().queueCount(1));
        try (device;
                TimelineSemaphore timeline = device.createSemaphore(0, 0);
                Buffer buffer = device.allocator().allocate(BufferParams.DEFAULT, 64)) {
            assertThat(device.driverCounters()).isEqualTo(new DriverCounters(1, 0, 0, 0));
            driver.hang();
            int count = 1000; // more than a stream is given at once
            for (int i = 0; i < count; i++) {
                try (Fence wait = i == 0 ? null : Fence.at(timeline, i);
                        Fence done = Fence.at(timeline, i + 1)) {
                    device.queue(0).fill(wait, done, buffer, 0, 64, i, 4, 0);
                }
            }
            DriverCounters busy = device.driverCounters();
            assertThat(busy.held()).isBetween(1L, count - 1L);
            assertThat(busy.events()).as("an event for each, held back or not").isEqualTo(count);
            driver.goOn();
            try (Fence all = Fence.at(timeline, count)) {
                all.await();
            }
            assertThat(device.driverCounters().held()).isZero();
            assertThat(device.driverCounters().events()).isGreaterThanOrEqualTo(busy.events());
        }
        assertThat(device.driverCounters()).isEqualTo(DriverCounters.NONE);
        driver.assertNothingToComplainOf();
    }
}
