package io.github.iree4j.hal.schedule;

import io.github.iree4j.async.Fence;
import io.github.iree4j.hal.QueueCounters;
import io.github.iree4j.hal.pool.MemoryHolder;
import io.github.iree4j.status.IreeException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * An operation of a queue that a backend carries out in parts, one after the other, with something in between that is no work of the
 * queue: a command buffer that is cut at its collectives. To whoever reads {@link QueueCounters} it is one operation, and the waits are
 * those of its first part. Made with {@link QueueScheduler#beginParts}.
 */
public final class OperationParts {
    private final QueueScheduler scheduler;
    private final AtomicBoolean over = new AtomicBoolean();
    private volatile boolean submitted;
    private volatile boolean issued;
    private final @Nullable MemoryHolder holder = MemoryHolder.current();

    /** How many operations of a queue are carried out in parts. */
    static final class Totals {
        final LongAdder begun = new LongAdder();
        final LongAdder over = new LongAdder();
        final LongAdder retired = new LongAdder(); // of those over, what ran
    }

    OperationParts(QueueScheduler scheduler, @Nullable Fence signal) {
        this.scheduler = scheduler;
        scheduler.inParts.begun.increment();
        if (holder != null) {
            holder.operationBegins(); // between two parts none of them is under way
        }
        try {
            for (int i = 0; signal != null && i < signal.size(); i++) {
                signal.semaphore(i).checkUse(scheduler.place);
            }
        } catch (IreeException e) {
            end(true);
            throw e;
        }
    }

    /**
     * Submits the next part; see {@link QueueScheduler#submit}.
     *
     * @param wait what to wait for; null for nothing
     * @param signal what to signal
     * @param make makes the operation
     * @return null, or why there is no operation; the signals have failed with it
     */
    public @Nullable IreeException submit(@Nullable Fence wait, Fence signal, Supplier<? extends QueueOperation> make) {
        boolean first = !submitted;
        submitted = true;
        return scheduler.submit(wait, signal, make, this, first);
    }

    /**
     * Says that the whole is over. Harmless when repeated.
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
            if (holder != null) {
                holder.operationEnds();
            }
        }
    }

    void issued() {
        issued = true;
    }
}
