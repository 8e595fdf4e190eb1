package io.github.iree4j.hal.schedule;

import io.github.iree4j.async.Fence;
import io.github.iree4j.hal.PendingOperation;
import io.github.iree4j.hal.QueueCounters;
import io.github.iree4j.hal.pool.MemoryHolder;
import io.github.iree4j.status.IreeException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * An operation executed by a backend in consecutive parts, with steps between the parts that are not work of the queue.
 * An example is a command buffer cut at collectives. {@link QueueCounters} count the parts as one operation with the
 * waits of the first part. Created by {@link QueueScheduler#beginParts}.
 */
public final class OperationParts {
    private final QueueScheduler scheduler;
    private final AtomicBoolean over = new AtomicBoolean();
    private final @Nullable Fence signal;
    private final long since = System.nanoTime();
    private volatile boolean submitted;
    private volatile boolean issued;
    private final @Nullable MemoryHolder holder = MemoryHolder.current();

    /** Counts the operations of a queue executed in parts. */
    static final class Totals {
        final LongAdder begun = new LongAdder();
        final LongAdder over = new LongAdder();
        final LongAdder retired = new LongAdder(); // completed operations that ran
    }

    OperationParts(QueueScheduler scheduler, @Nullable Fence signal) {
        this.scheduler = scheduler;
        this.signal = signal;
        scheduler.counts.inParts.begun.increment();
        if (holder != null) {
            holder.operationBegins(); // no part is in flight between two parts
        }
        try {
            for (int i = 0; signal != null && i < signal.size(); i++) {
                signal.semaphore(i).checkUse(scheduler.place);
            }
        } catch (IreeException e) {
            end(true);
            throw e;
        }
        scheduler.issuedOnes.add(this); // the last part may not be submitted before the end
    }

    /**
     * Submits the next part; see {@link QueueScheduler#submit}.
     *
     * @param wait the fence to wait for; null for none
     * @param signal the fence to signal
     * @param make creates the operation
     * @return null, or the failure to create the operation; the signals have then failed with this failure
     */
    public @Nullable IreeException submit(@Nullable Fence wait, Fence signal, Supplier<? extends QueueOperation> make) {
        boolean first = !submitted;
        submitted = true;
        return scheduler.submit(wait, signal, make, this, first);
    }

    /**
     * Ends the whole operation. Idempotent.
     *
     * @param failed whether it failed
     */
    public void end(boolean failed) {
        if (over.compareAndSet(false, true)) {
            (issued ? scheduler.counts.inParts.retired : scheduler.counts.refused).increment();
            if (failed) {
                scheduler.counts.failed.increment();
            }
            scheduler.counts.inParts.over.increment();
            scheduler.issuedOnes.remove(this);
            if (holder != null) {
                holder.operationReleases();
                holder.operationEnds();
            }
        }
    }

    /** Describes an operation that has not ended. */
    PendingOperation describe(long now) {
        return new PendingOperation(
                QueueOperation.EXECUTE,
                Duration.ofNanos(now - since),
                false,
                0,
                "",
                List.of(),
                PendingOperation.pointsOf(signal),
                holder == null ? "" : holder.operations().program(),
                holder == null ? "" : holder.name());
    }

    /** Shows an operation that has not ended to a visitor. */
    void visit(QueueObservation.Visitor visitor) {
        visitor.open(scheduler, QueueOperation.EXECUTE, 0, 0, null, signal, holder);
    }

    /** Returns the points signalled at the end of the whole operation. */
    List<Fence.Entry> signals() {
        return signal == null ? List.of() : signal.entries();
    }

    void issued() {
        issued = true;
    }
}
