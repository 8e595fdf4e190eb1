package io.github.iree4j.hal.schedule;

import io.github.iree4j.hal.PendingOperation;
import io.github.iree4j.hal.pool.MemoryHolder;
import io.github.iree4j.hal.storage.StorageRequest;
import io.github.iree4j.status.HighWater;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Operations held back on a queue, in order of arrival. The monitor is also the lock under which a queue is marked closed or lost. */
final class PendingList {
    /** Limit for a runaway submitter without signals. A guess, not measured. */
    private static final int LIMIT = 1 << 20;

    private @Nullable Deferral first; // guarded by this, as all fields
    private @Nullable Deferral last;
    private int count;
    private int parts; // listed operations that are parts
    private final HighWater most = new HighWater();

    synchronized int count() {
        return count;
    }

    /** The largest count since the last call of this method. */
    long takeMost() {
        return most.take(this::count);
    }

    synchronized int parts() {
        return parts;
    }

    synchronized List<Deferral> all() {
        List<Deferral> all = new ArrayList<>(count);
        for (Deferral each = first; each != null; each = each.next) {
            all.add(each);
        }
        return all;
    }

    /** Describes the longest-waiting operations and their waits, up to a limit. */
    List<PendingOperation> describe(int limit) {
        List<Deferral> waiting = new ArrayList<>();
        synchronized (this) {
            for (Deferral each = first; each != null && waiting.size() < limit; each = each.next) {
                waiting.add(each);
            }
        }
        long now = System.nanoTime();
        return waiting.stream().map(each -> describe(each, now)).toList();
    }

    private static PendingOperation describe(Deferral deferral, long now) {
        QueueOperation operation = deferral.operation;
        List<PendingOperation.Wait> waits = PendingOperation.waitsFor(operation.wait);
        StorageRequest memory = waits.isEmpty() && operation instanceof StorageRequest request ? request : null;
        MemoryHolder call = operation.holder;
        return new PendingOperation(
                operation.name(),
                Duration.ofNanos(now - deferral.since),
                memory != null,
                memory == null ? 0 : memory.bytes(),
                memory == null ? "" : memory.pool(),
                waits,
                PendingOperation.pointsOf(operation.signal),
                call == null ? "" : call.operations().program(),
                call == null ? "" : call.name());
    }

    /**
     * Appends a deferral.
     *
     * @return null, or the failure to append
     */
    synchronized @Nullable IreeException add(Deferral deferral, String device) {
        if (count >= LIMIT) {
            return IreeException.of(
                    StatusCode.RESOURCE_EXHAUSTED,
                    "%s would be one more than the %d operations that may wait on device '%s'; wait for some of them"
                            .formatted(deferral.operation.name(), LIMIT, device));
        }
        deferral.previous = last;
        if (last == null) {
            first = deferral;
        } else {
            last.next = deferral;
        }
        last = deferral;
        deferral.linked = true;
        count++;
        most.raise(count);
        parts += deferral.operation.whole == null ? 0 : 1;
        return null;
    }

    /** Removes a deferral, if present. */
    synchronized void remove(Deferral deferral) {
        if (!deferral.linked) {
            return;
        }
        deferral.linked = false;
        if (deferral.previous == null) {
            first = deferral.next;
        } else {
            deferral.previous.next = deferral.next;
        }
        if (deferral.next == null) {
            last = deferral.previous;
        } else {
            deferral.next.previous = deferral.previous;
        }
        count--;
        parts -= deferral.operation.whole == null ? 0 : 1;
    }
}
