package io.github.iree4j.hal.remote;

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
import io.github.iree4j.hal.DeviceQueue;
import io.github.iree4j.hal.DispatchConfig;
import io.github.iree4j.hal.Executable;
import io.github.iree4j.hal.HalFile;
import io.github.iree4j.hal.MemoryAccess;
import io.github.iree4j.hal.MemoryType;
import io.github.iree4j.hal.contract.Backend;
import io.github.iree4j.hal.contract.JavaKernels;
import io.github.iree4j.hal.local.LocalBackend;
import io.github.iree4j.hal.spi.DeviceOptions;
import io.github.iree4j.status.IreeException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Random commands, right and wrong, on all kinds of memory: a device of another node has the same bytes afterwards as the
 * device itself, and refuses the same commands with the same status.
 */
@Timeout(600)
class SameCommandsTest {
    private static final int SIZE = 96;
    private static final int COUNTS = 10; // index of the buffer of workgroup counts

    /** A command, for either device. */
    private interface Op {
        void submit(Side side, Fence done);
    }

    /** A command in a command buffer. */
    private interface Recorded {
        void record(Side side, CommandBuffer commands);
    }

    /** A device with its buffers. */
    private static final class Side implements AutoCloseable {
        private final Backend backend;
        private final Device device;
        private final DeviceQueue queue;
        private final Executable kernels;
        private final List<Buffer> buffers = new ArrayList<>();
        private final List<CommandBuffer> recordings = new ArrayList<>();
        private final MemorySegment fileBytes = MemorySegment.ofArray(new byte[SIZE]);
        private final HalFile file = HalFile.ofMemory(fileBytes, MemoryAccess.READ | MemoryAccess.WRITE, null);

        Side(Backend backend) {
            this.backend = backend;
            this.device = backend.open(DeviceOptions.builder().queueCount(1));
            this.queue = device.queue(0);
            this.kernels = backend.kernels(device);
            int far = MemoryType.DEVICE_LOCAL;
            int near = MemoryType.HOST_LOCAL | MemoryType.DEVICE_VISIBLE;
            add(new BufferParams(far, BufferUsage.DEFAULT));
            add(BufferParams.DEFAULT);
            add(new BufferParams(far, BufferUsage.TRANSFER_SOURCE));
            add(new BufferParams(near, BufferUsage.TRANSFER_TARGET | BufferUsage.MAPPING));
            add(new BufferParams(near, BufferUsage.DEFAULT | BufferUsage.MAPPING).withAccess(MemoryAccess.READ));
            add(new BufferParams(far, BufferUsage.DISPATCH_STORAGE));
            buffers.add(buffers.get(0).subspan(8, 64));
            buffers.add(buffers.get(1).subspan(5, 64));
            buffers.add(buffers.get(0).subspan(32, 0));
            add(new BufferParams(near, BufferUsage.DEFAULT | BufferUsage.MAPPING));
            add(new BufferParams(
                    near, BufferUsage.DEFAULT | BufferUsage.DISPATCH_INDIRECT_PARAMETERS | BufferUsage.MAPPING));
            int[] counts = {2, 1, 1, 0, 1, 1, 1, 1, 2, 0, 0, 0};
            buffers.get(COUNTS).write(0, MemorySegment.ofArray(counts));
        }

        private void add(BufferParams params) {
            Buffer buffer = device.allocator().allocate(params, SIZE);
            if ((params.access() & MemoryAccess.WRITE) != 0
                    && (params.usage() & (BufferUsage.TRANSFER_TARGET | BufferUsage.MAPPING)) != 0) {
                buffer.write(0, MemorySegment.ofArray(new byte[SIZE]));
            }
            buffers.add(buffer);
        }

        /** Submits a command, and returns its status once it has ended. */
        String run(Op op) {
            try (TimelineSemaphore timeline = device.createSemaphore(0, Device.SEMAPHORE_DEFAULT);
                    Fence done = Fence.at(timeline, 1)) {
                try {
                    op.submit(this, done);
                } catch (IreeException e) {
                    return "refused: " + e.code();
                }
                done.await(Duration.ofSeconds(60));
                return "done";
            } catch (IreeException e) {
                return "failed: " + e.code();
            }
        }

        private String bytes() {
            StringBuilder all = new StringBuilder();
            for (int i : new int[] {0, 1, 3, 9, COUNTS}) {
                byte[] bytes = new byte[SIZE];
                try {
                    buffers.get(i).read(0, MemorySegment.ofArray(bytes));
                    all.append(i).append(": ").append(HexFormat.of().formatHex(bytes));
                } catch (IreeException e) {
                    all.append(i).append(": ").append(e.code());
                }
                all.append('\n');
            }
            return all + "file: " + HexFormat.of().formatHex(fileBytes.toArray(ValueLayout.JAVA_BYTE));
        }

        @Override
        public void close() {
            recordings.forEach(CommandBuffer::release);
            buffers.reversed().forEach(Buffer::release);
            file.close();
            kernels.close();
            device.close();
            backend.close();
        }
    }

    /** Numbers for commands: mostly right, and aligned. */
    private static final class Numbers {
        private final SplittableRandom random;
        private String last = ""; // describes the last command
        private boolean isKernelRun; // of the last command

        Numbers(SplittableRandom random) {
            this.random = random;
        }

        int below(int bound) {
            return random.nextInt(bound);
        }

        long offset() {
            return switch (below(24)) {
                case 0 -> below(SIZE + 2);
                case 1 -> new long[] {-1, Long.MIN_VALUE, Long.MAX_VALUE, SIZE, SIZE + 1, 1L << 32}[below(6)];
                default -> 4L * below(SIZE / 6);
            };
        }

        long length() {
            return switch (below(24)) {
                case 0 -> below(SIZE + 2);
                case 1 -> new long[] {-2, Long.MIN_VALUE, Long.MAX_VALUE, SIZE, SIZE + 1, 1L << 32}[below(6)];
                case 2 -> Buffer.WHOLE;
                case 3 -> 0;
                default -> 4L * (1 + below(SIZE / 16));
            };
        }

        int width() {
            return new int[] {1, 2, 4, 4, 8, 4, 4, 1, 2, 3, 0, 4}[below(12)];
        }

        BufferRef ref(Side side, int buffer, int slot, long offset, long length) {
            return slot < 0
                    ? BufferRef.of(side.buffers.get(buffer), offset, length)
                    : BufferRef.slot(slot, offset, length);
        }

        Op op(int count, int recordings) {
            int a = below(count);
            int b = below(count);
            long at = offset();
            long other = offset();
            long length = length();
            long pattern = random.nextLong();
            int width = width();
            int kind = below(9);
            isKernelRun = kind >= 6;
            last = "kind %d: buffer %d at %d, buffer %d at %d, length %d, width %d"
                    .formatted(kind, a, at, b, other, length, width);
            switch (kind) {
                case 0 -> {
                    return (side, done) ->
                            side.queue.fill(null, done, side.buffers.get(a), at, length, pattern, width, 0);
                }
                case 1 -> {
                    byte[] bytes = new byte[below(6) == 0 ? below(SIZE) : 4 * below(5)];
                    random.nextBytes(bytes);
                    return (side, done) ->
                            side.queue.update(null, done, MemorySegment.ofArray(bytes), side.buffers.get(a), at, 0);
                }
                case 2, 3 -> {
                    return (side, done) ->
                            side.queue.copy(null, done, side.buffers.get(a), at, side.buffers.get(b), other, length, 0);
                }
                case 4 -> {
                    return (side, done) ->
                            side.queue.read(null, done, side.file, other, side.buffers.get(a), at, length, 0);
                }
                case 5 -> {
                    return (side, done) ->
                            side.queue.write(null, done, side.buffers.get(a), at, side.file, other, length, 0);
                }
                case 6 -> {
                    return dispatch(count);
                }
                default -> {
                    return recordings == 0 ? dispatch(count) : execute(count, below(recordings));
                }
            }
        }

        private Op dispatch(int count) {
            int export = below(4);
            int[] constants = export == 1 ? new int[] {3, below(100)} : new int[0];
            int bindings = export == 0 ? 3 : export == 1 ? 2 : export == 2 ? 0 : 1;
            int[] of = random.ints(3, 0, count).toArray();
            long[] places = {offset(), offset(), offset()};
            long[] lengths = {length(), length(), length()};
            DispatchConfig config = DispatchConfig.of(below(4), 1 + below(2), 1);
            last = "export %d of %d bindings: %s at %s, lengths %s, %s"
                    .formatted(
                            export,
                            bindings,
                            Arrays.toString(of),
                            Arrays.toString(places),
                            Arrays.toString(lengths),
                            config);
            return (side, done) -> {
                BindingTable table = new BindingTable();
                for (int i = 0; i < bindings; i++) {
                    table.add(side.buffers.get(of[i]), places[i], lengths[i]);
                }
                side.queue.dispatch(null, done, side.kernels, export, config, constants, table, 0);
            };
        }

        private Op execute(int count, int recording) {
            int slots = below(4);
            int[] of = random.ints(4, -1, count).toArray();
            long[] places = {offset(), offset(), offset(), offset()};
            long[] lengths = {length(), length(), length(), length()};
            last = "recording %d with %d slots: %s at %s, lengths %s"
                    .formatted(
                            recording, slots, Arrays.toString(of), Arrays.toString(places), Arrays.toString(lengths));
            return (side, done) -> {
                BindingTable table = slots == 0 ? null : new BindingTable();
                for (int i = 0; table != null && i < slots; i++) {
                    table.add(of[i] < 0 ? null : side.buffers.get(of[i]), places[i], lengths[i]);
                }
                side.queue.execute(null, done, side.recordings.get(recording), table, 0);
            };
        }

        /** A use of a buffer, or of a slot. */
        private interface Use {
            BufferRef in(Side side);
        }

        private Use use(int count) {
            int buffer = below(count);
            int slot = below(3) == 0 ? below(3) : -1;
            long at = offset();
            long length = length();
            return side -> ref(side, buffer, slot, at, length);
        }

        Recorded command(int count) {
            Use a = use(count);
            Use b = use(count);
            Use c = use(count);
            long pattern = random.nextLong();
            int width = width();
            switch (below(6)) {
                case 0 -> {
                    return (side, commands) -> commands.fillBuffer(a.in(side), pattern, width, 0);
                }
                case 1 -> {
                    byte[] bytes = new byte[below(6) == 0 ? below(SIZE) : 4 * below(5)];
                    random.nextBytes(bytes);
                    return (side, commands) -> commands.updateBuffer(MemorySegment.ofArray(bytes), a.in(side), 0);
                }
                case 2 -> {
                    return (side, commands) -> commands.copyBuffer(a.in(side), b.in(side), 0);
                }
                case 3 -> {
                    int x = below(4);
                    return (side, commands) -> commands.dispatch(
                            side.kernels,
                            JavaKernels.ADD,
                            DispatchConfig.of(x, 1, 1),
                            new int[0],
                            List.of(a.in(side), b.in(side), c.in(side)),
                            0);
                }
                case 4 -> {
                    long at = 4L * below(10);
                    return (side, commands) -> commands.dispatchIndirect(
                            side.kernels,
                            JavaKernels.COORDINATES,
                            BufferRef.of(side.buffers.get(COUNTS), at, 12),
                            new int[0],
                            List.of(a.in(side)),
                            0);
                }
                default -> {
                    return (side, commands) -> commands.dispatch(
                            side.kernels,
                            JavaKernels.SCALE,
                            DispatchConfig.of(2, 1, 1),
                            new int[] {2, 1},
                            List.of(a.in(side), b.in(side)),
                            0);
                }
            }
        }
    }

    private static String recordOn(Side side, int modes, List<Recorded> all) {
        StringBuilder statuses = new StringBuilder();
        CommandBuffer commands =
                side.device.createCommandBuffer(modes, CommandBuffer.TRANSFER | CommandBuffer.DISPATCH, -1, 3);
        for (Recorded each : all) {
            try {
                each.record(side, commands);
                statuses.append("done ");
            } catch (IreeException e) {
                statuses.append(e.code()).append(' ');
            }
            commands.executionBarrier(CommandBuffer.STAGE_COMMAND_RETIRE, CommandBuffer.STAGE_COMMAND_ISSUE, 0);
        }
        commands.finish();
        side.recordings.add(commands);
        return statuses.toString();
    }

    @Test
    void aDeviceOfAnotherNodeDoesAndRefusesTheSame() {
        long seed = Effort.seed(SameCommandsTest.class, "commands", 71);
        int rounds = Effort.rounds(300);
        int done = 0;
        int refused = 0;
        for (int round = 0; round < rounds; round++) {
            Numbers numbers = new Numbers(new SplittableRandom(seed + round));
            try (Side here = new Side(new LocalBackend());
                    Side there = new Side(new RemoteBackend())) {
                int count = COUNTS; // the counts are not written
                for (int i = 0; i < 60; i++) {
                    String place = "seed %d, round %d, command %d".formatted(seed, round, i);
                    if (i % 10 == 0) {
                        List<Recorded> all = new ArrayList<>();
                        for (int k = 1 + numbers.below(5); k > 0; k--) {
                            all.add(numbers.command(count));
                        }
                        int modes = numbers.below(2) == 0 ? 0 : CommandBuffer.ONE_SHOT;
                        assertThat(recordOn(there, modes, all)).as(place).isEqualTo(recordOn(here, modes, all));
                    }
                    Op op = numbers.op(count, here.recordings.size());
                    String what = place + ", " + numbers.last;
                    String status = here.run(op);
                    assertThat(there.run(op)).as(what).isEqualTo(status);
                    done += status.equals("done") ? 1 : 0;
                    refused += status.equals("done") ? 0 : 1;
                    if (status.startsWith("failed") && numbers.isKernelRun) {
                        break; // perhaps after a part of the work
                    }
                    assertThat(there.bytes()).as(what).isEqualTo(here.bytes());
                }
            }
        }
        System.out.printf("%d commands done, %d refused%n", done, refused);
        assertThat(done).isGreaterThan(rounds);
        assertThat(refused).isGreaterThan(rounds);
    }
}
