package io.github.iree4j.modules.parameters;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.async.Fence;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.BufferParams;
import io.github.iree4j.hal.BufferUsage;
import io.github.iree4j.hal.HalFile;
import io.github.iree4j.hal.MemoryAccess;
import io.github.iree4j.hal.MemoryType;
import io.github.iree4j.hal.gpu.GpuDrivers;
import io.github.iree4j.hal.spi.DeviceOptions;
import io.github.iree4j.hal.stream.StreamDevice;
import io.github.iree4j.nativeaccess.gpu.GpuKind;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Objects;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Parameters of archives, read by a device from the mapping of the file. */
@Timeout(300)
class ParametersInPlaceTest {
    private static final int COUNT = 5_000_001;

    @TempDir
    private Path directory;

    private Path archive() throws IOException {
        float[] values = new float[COUNT];
        for (int i = 0; i < COUNT; i++) {
            values[i] = i;
        }
        Path path = directory.resolve("weights.irpa");
        new IrpaWriter().stored("before", 1f, 2f, 3f).stored("w", values).write(path);
        return path;
    }

    @ParameterizedTest
    @CsvSource({"CUDA, '', 2", "HIP, '', 2", "CUDA, no_files, 0", "CUDA, no_attribute=113, 0"})
    void weightsArriveThoughTheArchiveIsClosedMeanwhile(GpuKind kind, String settings, int least) throws IOException {
        GpuDrivers drivers = GpuDrivers.fake(directory, kind, settings);
        StreamDevice device = drivers.open(DeviceOptions.builder());
        Path path = archive();
        BufferParams ofDevice = new BufferParams(MemoryType.DEVICE_LOCAL, BufferUsage.DEFAULT);
        try (Buffer target = device.allocator().allocate(ofDevice, 4L * COUNT);
                Fence done = Fence.adopt(TimelineSemaphore.create(0), 1);
                Fence back = Fence.adopt(TimelineSemaphore.create(0), 1);
                Arena arena = Arena.ofShared()) {
            MemorySegment mapping;
            drivers.hang();
            try (ParameterArchive opened = ParameterArchive.open(path);
                    TransferBatch batch = new TransferBatch(device, -1, null, null)) {
                ParameterEntry entry = opened.find("w").orElseThrow();
                mapping = ((ParameterEntry.Stored) entry).data();
                mapping.load();
                batch.load(entry, 0, target, 0, 4L * COUNT);
                batch.end(done);
            }
            assertThat(mapping.scope().isAlive()).isTrue();
            drivers.goOn();
            done.await(Duration.ofSeconds(60));
            assertThat(Objects.requireNonNull(drivers.library()).calls("host_register"))
                    .isGreaterThanOrEqualTo(least);
            MemorySegment result = arena.allocate(4L * COUNT, 4096);
            try (HalFile file = HalFile.ofMemory(result, MemoryAccess.WRITE, null)) {
                device.queue(0).write(null, back, target, 0, file, 0, 4L * COUNT, 0);
            }
            back.await(Duration.ofSeconds(60));
            for (int i : new int[] {0, 1, 262_143, 262_144, 4_194_304, COUNT - 1}) {
                assertThat(result.getAtIndex(ValueLayout.JAVA_FLOAT, i)).isEqualTo(i);
            }
            device.close();
            assertThat(mapping.scope().isAlive()).as("the mapping, once unused").isFalse();
        }
        GpuDrivers.assertNothingLeft(device);
        drivers.assertNothingToComplainOf();
    }
}
