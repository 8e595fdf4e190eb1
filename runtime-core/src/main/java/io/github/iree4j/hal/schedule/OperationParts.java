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
 * An operation of a queue that a backend executes in parts, one after the other, with steps between them that are not work of the
 * queue: a command buffer that is cut at its collectives. {@link QueueCounters} count it as one operation, and its waits are
 * those of the first part. Created by {@link QueueScheduler#beginParts}.
 */
public final class OperationParts {
    private final QueueScheduler scheduler;
    private final AtomicBoolean over = new AtomicBoolean();
    private final @Nullable Fence signal;
    private final long since = System.nanoTime();
    private volatile boolean submitted;
    private volatile boolean issued;
    private final @Nullable MemoryHolder holder = MemoryHolder.current();

    /** Counts of the operations of a queue that are executed in parts. */
    static final class Totals {
        final LongAdder begun = new LongAdder();
        final LongAdder over = new LongAdder();
        final LongAdder retired = new LongAdder(); // completed ones that ran
    }

    OperationParts(QueueScheduler scheduler, @Nullable Fence signal) {
        this.scheduler = scheduler;
        this.signal = signal;
        scheduler.inParts.begun.increment();
        if (holder != null) {
            holder.operationBegins(); // between two parts no part is in flight
        }
        try {
            for (int i = 0; signal != null && i < signal.size(); i++) {
                signal.semaphore(i).checkUse(scheduler.place);
            }
        } catch (IreeException e) {
            end(true);
            throw e;
        }
        scheduler.issuedOnes.add(this); // until it is over, the last part may not be submitted
    }

    /**
     * Submits the next part; see {@link QueueScheduler#submit}.
     *
     * @param wait the fence to wait for; null for none
     * @param signal the fence to signal
     * @param make makes the operation
     * @return null, or why there is no operation; the signals have then failed with that
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
            (issued ? scheduler.inParts.retired : scheduler.refused).increment();
            if (failed) {
                scheduler.failed.increment();
            }
            scheduler.inParts.over.increment();
            scheduler.issuedOnes.remove(this);
            if (holder != null) {
                holder.operationEnds();
            }
        }
    }

    /** Describes it, while it is not over. */
    PendingOperation describe(long now) {
        return new PendingOperation(
                "execute",
                Duration.ofNanos(now - since),
                false,
                List.of(),
                PendingOperation.pointsOf(signal),
                holder == null ? "" : holder.operations().program(),
                holder == null ? "" : holder.name());
    }

    /** The points that it signals once it is over. */
    List<Fence.Entry> signals() {
        return signal == null ? List.of() : signal.entries();
    }

    void issued() {
        issued = true;
    }
}
