package io.github.iree4j.hal.schedule;

import io.github.iree4j.hal.PendingOperation;
import io.github.iree4j.hal.pool.MemoryHolder;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Operations of a queue with signals to come, not held back and without promises: operations given to workers,
 * operations executed in parts, and deferred host calls; while observed, also operations run by their submitters. A
 * resumed operation is added here before leaving the {@link PendingList}, and an operation held back again is added
 * there before leaving here: read the pending list before and after this list. Safe from any thread.
 */
final class IssuedList {
    private @Nullable QueueOperation first; // guarded by this, as all fields
    private @Nullable QueueOperation last;
    private final Set<OperationParts> wholes = new LinkedHashSet<>();

    /** Appends an operation that has not ended, with the time in nanoseconds. Idempotent. */
    synchronized void add(QueueOperation operation, long now) {
        if (operation.listedAsIssued) {
            return;
        }
        operation.listedAsIssued = true;
        operation.issuedAt = now;
        operation.previousIssued = last;
        if (last == null) {
            first = operation;
        } else {
            last.nextIssued = operation;
        }
        last = operation;
    }

    /** Removes an operation, if present. */
    synchronized void remove(QueueOperation operation) {
        if (!operation.listedAsIssued) {
            return;
        }
        operation.listedAsIssued = false;
        if (operation.previousIssued == null) {
            first = operation.nextIssued;
        } else {
            operation.previousIssued.nextIssued = operation.nextIssued;
        }
        if (operation.nextIssued == null) {
            last = operation.previousIssued;
        } else {
            operation.nextIssued.previousIssued = operation.previousIssued;
        }
        operation.previousIssued = null;
        operation.nextIssued = null;
    }

    synchronized void add(OperationParts whole) {
        wholes.add(whole);
    }

    synchronized void remove(OperationParts whole) {
        wholes.remove(whole);
    }

    synchronized List<OperationParts> wholes() {
        return List.copyOf(wholes);
    }

    synchronized List<QueueOperation> all() {
        List<QueueOperation> all = new ArrayList<>();
        for (QueueOperation each = first; each != null; each = each.nextIssued) {
            all.add(each);
        }
        return all;
    }

    /** Returns the operations that the host may have to complete. */
    List<QueueOperation> deferredCalls() {
        return all().stream().filter(each -> each.completion != null).toList();
    }

    /** Describes the operations issued first, operations in parts before others, up to a limit. */
    List<PendingOperation> describe(int limit) {
        List<OperationParts> parts = new ArrayList<>();
        List<QueueOperation> issued = new ArrayList<>();
        synchronized (this) {
            for (OperationParts each : wholes) {
                if (parts.size() < limit) {
                    parts.add(each);
                }
            }
            for (QueueOperation each = first;
                    each != null && parts.size() + issued.size() < limit;
                    each = each.nextIssued) {
                issued.add(each);
            }
        }
        long now = System.nanoTime();
        List<PendingOperation> described = new ArrayList<>(parts.size() + issued.size());
        parts.forEach(each -> described.add(each.describe(now)));
        for (QueueOperation each : issued) {
            MemoryHolder call = each.holder;
            described.add(new PendingOperation(
                    each.name(),
                    Duration.ofNanos(now - each.issuedAt),
                    false,
                    0,
                    "",
                    List.of(),
                    PendingOperation.pointsOf(each.signal),
                    call == null ? "" : call.operations().program(),
                    call == null ? "" : call.name()));
        }
        return described;
    }
}
