package io.github.iree4j.hal.local;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.async.Fence;
import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.BufferParams;
import io.github.iree4j.hal.BufferRef;
import io.github.iree4j.hal.Channel;
import io.github.iree4j.hal.ChannelParams;
import io.github.iree4j.hal.Collective;
import io.github.iree4j.hal.CommandBuffer;
import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.spi.DeviceOptions;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;

/** A device with eight queues, channels between them, and collectives to run there. */
abstract class CollectiveFixture {
    static final Collective SUM = Collective.of(Collective.ALL_REDUCE, Collective.SUM, Collective.S32);

    final List<AutoCloseable> toClose = new ArrayList<>();

    Device device = closed(new LocalBackend().open(DeviceOptions.builder().queueCount(8)));

    @AfterEach
    void closeAll() throws Exception {
        for (AutoCloseable each : toClose.reversed()) {
            each.close();
        }
        assertThat(device.allocator().statistics().bytesLive()).isZero();
    }

    <T extends AutoCloseable> T closed(T closeable) {
        toClose.add(closeable);
        return closeable;
    }

    List<Channel> channels(String id, int count) {
        List<Channel> channels = new ArrayList<>();
        for (int rank = 0; rank < count; rank++) {
            channels.add(closed(device.createChannel(-1, ChannelParams.of(id, rank, count))));
        }
        return channels;
    }

    Buffer ints(int... values) {
        Buffer buffer = closed(device.allocator().allocate(BufferParams.DEFAULT, values.length * 4L));
        buffer.map(2, 0, Buffer.WHOLE).copyFrom(MemorySegment.ofArray(values));
        return buffer;
    }

    static int[] read(Buffer buffer) {
        return buffer.map(1, 0, Buffer.WHOLE).toArray(ValueLayout.JAVA_INT);
    }

    Fence fence() {
        return closed(Fence.at(closed(device.createSemaphore(0, Device.SEMAPHORE_DEFAULT)), 1));
    }

    CommandBuffer commands(Consumer<CommandBuffer> record) {
        CommandBuffer commands = closed(device.createCommandBuffer(0, 3, -1, 4));
        record.accept(commands);
        commands.finish();
        return commands;
    }

    CommandBuffer one(
            Channel channel,
            Collective operation,
            int parameter,
            @Nullable Buffer source,
            @Nullable Buffer target,
            long count) {
        return commands(commands -> commands.collective(
                channel,
                operation,
                parameter,
                source == null ? null : BufferRef.of(source),
                target == null ? null : BufferRef.of(target),
                count));
    }

    Fence submit(int queue, @Nullable Fence wait, CommandBuffer commands) {
        Fence done = fence();
        device.queue(queue).execute(wait, done, commands, null, 0);
        return done;
    }

    static void assertReached(List<Fence> fences) {
        for (Fence each : fences) {
            each.await(Duration.ofSeconds(60)); // workers may still be running it
        }
    }

    static Frontier frontier(Fence fence) {
        return Objects.requireNonNull(fence.semaphore(0).frontierAt(fence.value(0)));
    }
}
