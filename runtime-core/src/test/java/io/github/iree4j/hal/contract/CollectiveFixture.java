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
import org.junit.jupiter.api.BeforeEach;

/**
 * Common parts of the suites of collectives: a device and a queue for each participant, channels between them, and
 * collectives to run there.
 */
public abstract class CollectiveFixture extends Suite {
    static final Collective SUM = Collective.of(Collective.ALL_REDUCE, Collective.SUM, Collective.S32);
    static final int FULL = 0x3F;

    Participants participants;

    /** On a backend, closed after each test. */
    protected CollectiveFixture(Backend backend) {
        super(backend);
    }

    @BeforeEach
    void openParticipants() {
        assume(Capability.COLLECTIVES);
        participants = closed(backend.participants());
    }

    /** Channels of a group, by rank. */
    List<Channel> channels(String id, int count) {
        List<Channel> channels = new ArrayList<>();
        for (int rank = 0; rank < count; rank++) {
            channels.add(closed(participants.device(rank).createChannel(-1, ChannelParams.of(id, rank, count))));
        }
        return channels;
    }

    /** Memory of a participant. */
    Buffer bytes(int rank, long size) {
        return closed(participants.device(rank).allocator().allocate(DeviceContract.PARAMS, size));
    }

    /** Memory of a participant with numbers. */
    Buffer ints(int rank, int... values) {
        Buffer buffer = bytes(rank, values.length * 4L);
        buffer.map(MemoryAccess.WRITE, 0, Buffer.WHOLE).copyFrom(MemorySegment.ofArray(values));
        return buffer;
    }

    /** The numbers in some memory. */
    static int[] read(Buffer buffer) {
        return DeviceContract.read(buffer);
    }

    /** The first point of a new timeline. */
    Fence fence() {
        return closed(Fence.at(closed(TimelineSemaphore.create(0)), 1));
    }

    /** Commands of a participant. */
    CommandBuffer commands(int rank, Consumer<CommandBuffer> record) {
        CommandBuffer commands = closed(participants.device(rank).createCommandBuffer(0, 3, -1, 4));
        record.accept(commands);
        commands.finish();
        return commands;
    }

    /** A collective of a participant. */
    CommandBuffer one(
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
    Fence submit(int rank, @Nullable Fence wait, CommandBuffer commands) {
        Fence done = fence();
        participants.queue(rank).execute(wait, done, commands, null, 0);
        return done;
    }

    /** Waits for fences. */
    static void assertReached(List<Fence> fences) {
        for (Fence each : fences) {
            each.await(Duration.ofSeconds(60));
        }
    }

    /** Waits for fences, with a failure of each. */
    static void assertFailed(List<Fence> fences, StatusCode code, String message) {
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
