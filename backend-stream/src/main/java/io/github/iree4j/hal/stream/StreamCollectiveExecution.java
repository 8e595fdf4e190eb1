package io.github.iree4j.hal.stream;

import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.hal.BindingTable;
import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.collective.CollectiveArrival;
import io.github.iree4j.hal.collective.CollectiveExecution;
import io.github.iree4j.hal.pool.MemoryHolder;
import io.github.iree4j.hal.record.CollectiveCommand;
import io.github.iree4j.hal.record.RecordedCommandBuffer;
import io.github.iree4j.hal.schedule.QueueOperation;
import io.github.iree4j.status.IreeException;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The execution of a command buffer with collectives on a stream. Participants meet once the preceding commands are
 * issued. The hardware orders the rest: a collective begins behind the preceding commands, and later commands begin
 * behind the collective.
 */
final class StreamCollectiveExecution extends CollectiveExecution {
    private final StreamQueue queue;
    private final @Nullable MemoryHolder call = MemoryHolder.current();

    StreamCollectiveExecution(StreamQueue queue, RecordedCommandBuffer commands, @Nullable BindingTable bindings) {
        super(queue.scheduler(), commands, bindings);
        this.queue = queue;
    }

    @Override
    protected QueueOperation operation(Segment segment) {
        return Executions.segment(queue, commands(), bindings(), segment);
    }

    @Override
    protected MemorySegment pin(Buffer buffer, long offset, long length, Frontier before, List<Runnable> unpin) {
        UsedBuffer used = StreamBuffer.usable(queue.streamDevice(), "buffer of a collective", buffer);
        StreamStorage own = used.pin(before, call);
        unpin.add(() -> used.unpin(own));
        return MemorySegment.ofAddress(used.seenBy(own, call).deviceAddress() + buffer.offset() + offset);
    }

    /** Calls back on another thread: on the promising thread, the callback would delay other work. */
    @Override
    protected void whenDue(TimelineSemaphore timeline, long value, Consumer<@Nullable IreeException> then) {
        timeline.whenReached(value, (reached, failure) -> {
            if (failure != null) {
                then.accept(failure); // also after the issue
            }
        });
        timeline.whenPromised(value, (known, failure) -> {
            if (failure == null) {
                queue.streamDevice().issuer().execute(() -> issued(timeline, value, then));
            }
        });
    }

    private void issued(TimelineSemaphore timeline, long value, Consumer<@Nullable IreeException> then) {
        Frontier before = timeline.frontierAt(value);
        if (before != null && point(before) >= 0) {
            then.accept(null);
            return;
        }
        // The preceding work has no place among the submissions of its lane yet.
        timeline.whenReached(value, (reached, failure) -> {
            if (failure == null) {
                queue.streamDevice().issuer().execute(() -> then.accept(null));
            }
        });
    }

    /** Returns the lane's ticket behind which the work of a frontier has ended; 0 when it has ended, negative while there is no ticket. */
    private long point(Frontier before) {
        return before.hasProducer() && before.producerAxis() == queue.axis()
                ? queue.stream().point(before.producerEpoch())
                : 0;
    }

    @Override
    protected CollectiveArrival arrival(
            Frontier before,
            CollectiveCommand command,
            @Nullable MemorySegment source,
            @Nullable MemorySegment target,
            Runnable unpin,
            Consumer<Object> issued,
            BiConsumer<@Nullable IreeException, Frontier> then) {
        long ticket = point(before);
        return new StreamArrival(
                before,
                command,
                source,
                target,
                ticket > 0 ? queue.lane().timeline() : null,
                ticket,
                unpin,
                issued,
                then);
    }
}
