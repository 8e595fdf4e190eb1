package io.github.iree4j.hal.stream;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.async.Fence;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.hal.BindingTable;
import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.BufferParams;
import io.github.iree4j.hal.BufferRef;
import io.github.iree4j.hal.BufferUsage;
import io.github.iree4j.hal.CommandBuffer;
import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.DispatchConfig;
import io.github.iree4j.hal.Executable;
import io.github.iree4j.hal.MemoryType;
import io.github.iree4j.hal.contract.JavaKernels;
import io.github.iree4j.hal.copying.CopyingDevice;
import io.github.iree4j.hal.gpu.GpuDrivers;
import io.github.iree4j.hal.spi.DeviceOptions;
import io.github.iree4j.hal.vulkan.NothingWrong;
import io.github.iree4j.hal.vulkan.VulkanDrivers;
import io.github.iree4j.nativeaccess.gpu.GpuKind;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Devices without import of each other's memory, and a CPU, in one program. */
@Timeout(300)
@ExtendWith(NothingWrong.class)
class DevicesApartTest {
    private enum Twice {
        VULKAN,
        CUDA_AND_HIP
    }

    private static final int STAGES = 60;
    private static final int ELEMENTS = 1000;

    @TempDir
    private Path directory;

    private final List<GpuDrivers> fakes = new ArrayList<>();
    private final List<AutoCloseable> toClose = new ArrayList<>();
    private final List<Device> plain = new ArrayList<>();
    private List<Device> views;
    private List<Executable> kernels;
    private TimelineSemaphore timeline;

    private void open(Twice drivers) {
        switch (drivers) {
            case VULKAN -> {
                plain.add(closed(VulkanDrivers.open(DeviceOptions.builder())));
                plain.add(closed(VulkanDrivers.open(DeviceOptions.builder())));
            }
            case CUDA_AND_HIP -> {
                for (GpuKind kind : GpuKind.values()) {
                    GpuDrivers fake = GpuDrivers.fake(directory, kind, "devices=2");
                    fakes.add(fake);
                    plain.add(closed(fake.open("0")));
                    plain.add(closed(fake.open("1")));
                }
            }
        }
        plain.add(closed(MixedDevices.cpu(DeviceOptions.builder())));
        views = CopyingDevice.of(plain, "program");
        assertThat(views).noneMatch(plain::contains);
        kernels = plain.stream().map(each -> closed(MixedDevices.kernels(each))).toList();
        timeline = closed(plain.getFirst().createSemaphore(0, Device.SEMAPHORE_DEFAULT));
    }

    @AfterEach
    void close() throws Exception {
        for (AutoCloseable each : toClose.reversed()) {
            each.close();
        }
        for (Device each : plain) {
            assertThat(each.allocator().statistics().bytesLive()).isZero();
            if (each instanceof StreamDevice stream && !fakes.isEmpty()) {
                GpuDrivers.assertNothingLeft(stream);
            }
        }
        fakes.forEach(GpuDrivers::assertNothingToComplainOf);
    }

    private <T extends AutoCloseable> T closed(T resource) {
        toClose.add(resource);
        return resource;
    }

    private Buffer buffer(int device) {
        BufferParams params = new BufferParams(MemoryType.DEVICE_LOCAL, BufferUsage.DEFAULT);
        return closed(views.get(device).allocator().allocate(params, 4L * ELEMENTS));
    }

    private Fence at(long value) {
        return closed(Fence.at(timeline, value));
    }

    /** Each stage runs on the next device, on buffers of the first and the second. */
    @ParameterizedTest
    @EnumSource(Twice.class)
    void stagesGoAroundOnBuffersOfTwo(Twice drivers) {
        open(drivers);
        Buffer[] buffers = {buffer(0), buffer(1)};
        buffers[0].write(0, MemorySegment.ofArray(new int[ELEMENTS]));
        for (int stage = 0; stage < STAGES; stage++) {
            int device = stage % views.size();
            BindingTable table = BindingTable.of(buffers[stage % 2], buffers[(stage + 1) % 2]);
            if (stage % 4 < 2) {
                views.get(device)
                        .queue(0)
                        .dispatch(
                                at(stage + 1),
                                at(stage + 2),
                                kernels.get(device),
                                JavaKernels.SCALE,
                                DispatchConfig.of(ELEMENTS, 1, 1),
                                new int[] {1, stage},
                                table,
                                0);
            } else {
                try (CommandBuffer commands = views.get(device).createCommandBuffer(0, CommandBuffer.DISPATCH, -1, 1)) {
                    commands.dispatch(
                            kernels.get(device),
                            JavaKernels.SCALE,
                            DispatchConfig.of(ELEMENTS, 1, 1),
                            new int[] {1, stage},
                            List.of(BufferRef.slot(0, 0, Buffer.WHOLE), BufferRef.of(table.buffer(1), 0, Buffer.WHOLE)),
                            0);
                    commands.finish();
                    views.get(device).queue(0).execute(at(stage + 1), at(stage + 2), commands, table, 0);
                }
            }
        }
        timeline.signal(1);
        timeline.await(STAGES + 1, Duration.ofSeconds(60));
        int[] result = new int[ELEMENTS];
        buffers[STAGES % 2].read(0, MemorySegment.ofArray(result));
        assertThat(result).containsOnly(STAGES * (STAGES - 1) / 2);
    }
}
