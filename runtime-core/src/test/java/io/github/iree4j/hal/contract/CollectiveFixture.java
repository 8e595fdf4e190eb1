package io.github.iree4j.hal.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.github.iree4j.async.Fence;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.BufferRef;
import io.github.iree4j.hal.Channel;
import io.github.iree4j.hal.ChannelParams;
import io.github.iree4j.hal.Collective;
import io.github.iree4j.hal.CommandBuffer;
import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.DeviceQueue;
import io.github.iree4j.hal.MemoryAccess;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;

/** What the suites of collectives share: a device and a queue for each participant, channels between them, and collectives to run there. */
public abstract class CollectiveFixture {
    static final Collective SUM = Collective.of(Collective.ALL_REDUCE, Collective.SUM, Collective.S32);
    static final int FULL = 0x3F;

    private final List<AutoCloseable> toClose = new ArrayList<>();

    /** For subclasses. */
    protected CollectiveFixture() {}

    /** The device of a participant, 0 to 4; some may have one in common. Open until the end of the test, which the subclass sees to. */
    protected abstract Device device(int rank);

    /** The queue of a participant, which no other has. */
    protected abstract DeviceQueue queue(int rank);

    /** Rounds of tests with many. */
    protected int rounds() {
        return 200;
    }

    /** Whether the library has an operation; others are refused when they are recorded. */
    protected boolean has(Collective operation) {
        return true;
    }

    @AfterEach
    void closeAll() throws Exception {
        for (AutoCloseable each : toClose.reversed()) {
            each.close();
        }
    }

    /** Closes something after the test. */
    protected final <T extends AutoCloseable> T closed(T closeable) {
        toClose.add(closeable);
        return closeable;
    }

    /** Channels of a group, by rank. */
    protected final List<Channel> channels(String id, int count) {
        List<Channel> channels = new ArrayList<>();
        for (int rank = 0; rank < count; rank++) {
            channels.add(closed(device(rank).createChannel(-1, ChannelParams.of(id, rank, count))));
        }
        return channels;
    }

    /** Memory of a participant. */
    protected final Buffer bytes(int rank, long size) {
        return closed(device(rank).allocator().allocate(DeviceContract.PARAMS, size));
    }

    /** Memory of a participant with numbers. */
    protected final Buffer ints(int rank, int... values) {
        Buffer buffer = bytes(rank, values.length * 4L);
        buffer.map(MemoryAccess.WRITE, 0, Buffer.WHOLE).copyFrom(MemorySegment.ofArray(values));
        return buffer;
    }

    /** The numbers in some memory. */
    protected static int[] read(Buffer buffer) {
        return DeviceContract.read(buffer);
    }

    /** The first point of a new timeline. */
    protected final Fence fence() {
        return closed(Fence.at(closed(TimelineSemaphore.create(0)), 1));
    }

    /** Commands of a participant. */
    protected final CommandBuffer commands(int rank, Consumer<CommandBuffer> record) {
        CommandBuffer commands = closed(device(rank).createCommandBuffer(0, 3, -1, 4));
        record.accept(commands);
        commands.finish();
        return commands;
    }

    /** One collective of a participant. */
    protected final CommandBuffer one(
            int rank,
            Channel channel,
            Collective operation,
            int parameter,
            @Nullable Buffer source,
            @Nullable Buffer target,
            long count) {
        return commands(
                rank,
                commands -> commands.collective(
                        channel,
                        operation,
                        parameter,
                        source == null ? null : BufferRef.of(source),
                        target == null ? null : BufferRef.of(target),
                        count));
    }

    /** Executes commands of a participant. */
    protected final Fence submit(int rank, @Nullable Fence wait, CommandBuffer commands) {
        Fence done = fence();
        queue(rank).execute(wait, done, commands, null, 0);
        return done;
    }

    /** Waits for fences. */
    protected static void assertReached(List<Fence> fences) {
        for (Fence each : fences) {
            each.await(Duration.ofSeconds(60));
        }
    }

    /** Waits for fences, all of which fail. */
    protected static void assertFailed(List<Fence> fences, StatusCode code, String message) {
        for (Fence each : fences) {
            IreeException failure = catchThrowableOfType(IreeException.class, () -> each.await(Duration.ofSeconds(60)));
            assertThat(failure).isNotNull();
            assertThat(failure.getMessage()).contains(message);
            assertThat(failure.code()).isEqualTo(code);
        }
    }

    static Frontier frontier(Fence fence) {
        return Objects.requireNonNull(fence.semaphore(0).frontierAt(fence.value(0)));
    }
}
