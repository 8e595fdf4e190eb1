package io.github.iree4j.hal.gpu;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.Effort;
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
import io.github.iree4j.hal.spi.DeviceOptions;
import io.github.iree4j.hal.stream.StreamDevice;
import io.github.iree4j.nativeaccess.gpu.GpuKind;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * A command buffer executed again computes with its current buffers, even if the driver has reused addresses of freed
 * buffers.
 */
@Timeout(300)
class AddressReuseTest {
    private static final int ROUNDS = Effort.rounds(64);

    /** A buffer of at least this size is a separate driver allocation. */
    private static final long OWN_MEMORY = 17 << 20;

    private static final long HEAD = 64;
    private static final long PAGE = 4096;
    private static final BufferParams OF_DEVICE = new BufferParams(MemoryType.DEVICE_LOCAL, BufferUsage.DEFAULT);
    private static final BufferParams OF_HOST =
            new BufferParams(MemoryType.HOST_VISIBLE | MemoryType.DEVICE_VISIBLE, BufferUsage.DEFAULT);

    @ParameterizedTest
    @EnumSource(GpuKind.class)
    void callsGetTheirOwnBuffers(GpuKind kind, @TempDir Path directory) {
        GpuDrivers fake = GpuDrivers.fake(directory, kind, "");
        try (StreamDevice device = fake.open(DeviceOptions.builder());
                Executable kernels = GpuKernels.load(device);
                Arena arena = Arena.ofShared()) {
            MemorySegment in = arena.allocate(4 * PAGE, PAGE);
            MemorySegment out = arena.allocate(4 * PAGE, PAGE);
            for (boolean copies : List.of(false, true)) {
                callAgainAndAgain(
                        device,
                        copies ? null : kernels,
                        round -> device.allocator().importHost(OF_HOST, in.asSlice(round % 3 * PAGE, PAGE), null),
                        round -> device.allocator().importHost(OF_HOST, out.asSlice(round % 2 * PAGE, PAGE), null));
                for (BufferParams params : List.of(OF_DEVICE, OF_HOST)) { // of other sizes than in the round before
                    callAgainAndAgain(
                            device,
                            copies ? null : kernels,
                            round -> device.allocator().allocate(params, OWN_MEMORY + ((round % 3L) << 20)),
                            round -> device.allocator().allocate(params, OWN_MEMORY + ((round % 2L) << 20)));
                }
            }
        }
        fake.assertNothingToComplainOf();
    }

    private static void callAgainAndAgain(
            StreamDevice device, @Nullable Executable kernels, IntFunction<Buffer> ins, IntFunction<Buffer> outs) {
        try (CommandBuffer commands =
                device.createCommandBuffer(0, CommandBuffer.TRANSFER | CommandBuffer.DISPATCH, -1, 2)) {
            List<BufferRef> slots = List.of(BufferRef.slot(0, 0, HEAD), BufferRef.slot(1, 0, HEAD));
            if (kernels == null) {
                commands.copyBuffer(slots.get(0), slots.get(1), 0);
            } else {
                commands.dispatch(kernels, JavaKernels.SCALE, DispatchConfig.of(4, 1, 1), new int[] {2, 1}, slots, 0);
            }
            commands.finish();
            for (int round = 1; round <= ROUNDS; round++) {
                int[] values = {100 * round, 100 * round + 1, 100 * round + 2, 100 * round + 3};
                int[] found = new int[4];
                try (Buffer in = ins.apply(round);
                        Buffer out = outs.apply(round)) {
                    in.write(0, MemorySegment.ofArray(values));
                    run(device, commands, in, out);
                    out.read(0, MemorySegment.ofArray(found));
                }
                for (int i = 0; i < 4; i++) {
                    assertThat(found[i])
                            .as("round %d", round)
                            .isEqualTo(kernels == null ? values[i] : 2 * values[i] + 1);
                }
                device.allocator().trim();
            }
        }
    }

    private static void run(Device device, CommandBuffer commands, Buffer in, Buffer out) {
        try (TimelineSemaphore timeline = device.createSemaphore(0, Device.SEMAPHORE_DEFAULT);
                Fence done = Fence.at(timeline, 1)) {
            device.queue(0).execute(null, done, commands, BindingTable.of(in, out), 0);
            done.await(Duration.ofSeconds(60));
        }
    }
}
