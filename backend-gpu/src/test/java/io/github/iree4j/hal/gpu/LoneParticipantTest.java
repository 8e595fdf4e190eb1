package io.github.iree4j.hal.gpu;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.abort;

import io.github.iree4j.async.Fence;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.BufferParams;
import io.github.iree4j.hal.BufferRef;
import io.github.iree4j.hal.BufferUsage;
import io.github.iree4j.hal.Channel;
import io.github.iree4j.hal.ChannelParams;
import io.github.iree4j.hal.Collective;
import io.github.iree4j.hal.CommandBuffer;
import io.github.iree4j.hal.MemoryAccess;
import io.github.iree4j.hal.MemoryType;
import io.github.iree4j.hal.stream.StreamDevice;
import io.github.iree4j.nativeaccess.gpu.GpuKind;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Collectives of a group of one participant, as on a machine with a single device: on hardware where {@link GpuDrivers}
 * uses the machine's, with the library of collectives installed there.
 */
@Timeout(120)
class LoneParticipantTest {
    private static final int FULL = 0x3F;
    private static final BufferParams PARAMS = new BufferParams(
            MemoryType.DEVICE_LOCAL | MemoryType.HOST_VISIBLE, BufferUsage.DEFAULT | BufferUsage.MAPPING);
    private static final Collective SUM = Collective.of(Collective.ALL_REDUCE, Collective.SUM, Collective.S32);

    @TempDir
    private Path directory;

    private final List<AutoCloseable> toClose = new ArrayList<>();
    private GpuDrivers driver;
    private StreamDevice device;

    @AfterEach
    void close() throws Exception {
        for (AutoCloseable each : toClose.reversed()) {
            each.close();
        }
        device.close();
        GpuDrivers.assertNothingLeft(device);
        driver.assertNothingToComplainOf();
    }

    private <T extends AutoCloseable> T closed(T closeable) {
        toClose.add(closeable);
        return closeable;
    }

    private Channel open(GpuKind kind) {
        driver = GpuDrivers.in(directory, kind);
        device = driver.open("0");
        try {
            return closed(device.createChannel(-1, ChannelParams.of("alone", 0, 1)));
        } catch (IreeException e) {
            if (e.code() != StatusCode.UNAVAILABLE || driver.library() != null) {
                throw e;
            }
            return abort(e.getMessage());
        }
    }

    private Buffer ints(int... values) {
        Buffer buffer = closed(device.allocator().allocate(PARAMS, 4L * values.length));
        buffer.map(MemoryAccess.WRITE, 0, Buffer.WHOLE).copyFrom(MemorySegment.ofArray(values));
        return buffer;
    }

    private static int[] read(Buffer buffer) {
        return buffer.map(MemoryAccess.READ, 0, Buffer.WHOLE).toArray(ValueLayout.JAVA_INT);
    }

    private Fence submit(@Nullable Fence wait, CommandBuffer commands) {
        Fence done = closed(Fence.at(closed(TimelineSemaphore.create(0)), 1));
        device.queue(0).execute(wait, done, commands, null, 0);
        return done;
    }

    private CommandBuffer commands(Consumer<CommandBuffer> record) {
        CommandBuffer commands =
                closed(device.createCommandBuffer(0, CommandBuffer.DISPATCH | CommandBuffer.TRANSFER, -1, 0));
        record.accept(commands);
        commands.finish();
        return commands;
    }

    private void run(Consumer<CommandBuffer> record) {
        submit(null, commands(record)).await(Duration.ofSeconds(60));
    }

    @ParameterizedTest
    @EnumSource(GpuKind.class)
    void everyOperationButBroadcastLeavesItsSource(GpuKind kind) {
        Channel channel = open(kind);
        for (int operation : new int[] {
            Collective.ALL_GATHER,
            Collective.ALL_REDUCE,
            Collective.ALL_TO_ALL,
            Collective.REDUCE,
            Collective.REDUCE_SCATTER
        }) {
            boolean reduces = operation == Collective.ALL_REDUCE
                    || operation == Collective.REDUCE
                    || operation == Collective.REDUCE_SCATTER;
            Collective collective =
                    Collective.of(operation, reduces ? Collective.SUM : Collective.NONE, Collective.S32);
            Buffer source = ints(7, -3, 11, Integer.MIN_VALUE);
            Buffer target = ints(0, 0, 0, 0);
            run(commands -> commands.collective(channel, collective, 0, BufferRef.of(source), BufferRef.of(target), 4));
            assertThat(read(target)).as(collective.toString()).containsExactly(7, -3, 11, Integer.MIN_VALUE);
        }
    }

    @ParameterizedTest
    @EnumSource(GpuKind.class)
    void everyTypeIsReducedToItself(GpuKind kind) {
        Channel channel = open(kind);
        for (int type = Collective.S8; type <= Collective.BF16; type++) {
            for (int reduction = Collective.SUM; reduction <= Collective.AVERAGE; reduction++) {
                Collective collective = Collective.of(Collective.ALL_REDUCE, reduction, type);
                if (!GpuRanks.has(collective)) {
                    continue;
                }
                Buffer source = ints(0x3F803F80, 0x40004000, 0x3F803F80, 0x40004000);
                Buffer target = ints(0, 0, 0, 0);
                run(commands -> commands.collective(
                        channel,
                        collective,
                        0,
                        BufferRef.of(source),
                        BufferRef.of(target),
                        16 / collective.elementSize()));
                assertThat(read(target))
                        .as("type %d, reduction %d", type, reduction)
                        .isEqualTo(read(source));
            }
        }
    }

    @ParameterizedTest
    @EnumSource(GpuKind.class)
    void aParticipantSendsToItself(GpuKind kind) {
        Channel channel = open(kind);
        Buffer source = ints(5, 6);
        Buffer target = ints(0, 0);
        run(commands -> {
            commands.collective(
                    channel, Collective.of(Collective.SEND, 0, Collective.S32), 0, BufferRef.of(source), null, 2);
            commands.collective(
                    channel, Collective.of(Collective.RECV, 0, Collective.S32), 0, null, BufferRef.of(target), 2);
        });
        assertThat(read(target)).containsExactly(5, 6);
    }

    @ParameterizedTest
    @EnumSource(GpuKind.class)
    void commandsBeforeAndAfterKeepTheirOrder(GpuKind kind) {
        Channel channel = open(kind);
        int count = 1 << 18;
        Buffer first = ints(new int[count]);
        Buffer second = ints(new int[count]);
        Buffer third = ints(new int[count]);
        CommandBuffer commands = commands(recording -> {
            recording.fillBuffer(BufferRef.of(first), 9, 4, 0);
            recording.executionBarrier(FULL, FULL, 0);
            recording.collective(channel, SUM, 0, BufferRef.of(first), BufferRef.of(second), count);
            recording.executionBarrier(FULL, FULL, 0);
            recording.copyBuffer(BufferRef.of(second), BufferRef.of(third), 0);
            recording.executionBarrier(FULL, FULL, 0);
            recording.fillBuffer(BufferRef.of(second), 1, 4, 0);
        });
        Fence done = null;
        for (int round = 0; round < 50; round++) {
            done = submit(done, commands);
        }
        Objects.requireNonNull(done).await(Duration.ofSeconds(60));
        assertThat(read(third)).containsOnly(9);
        assertThat(read(second)).containsOnly(1);
    }
}
