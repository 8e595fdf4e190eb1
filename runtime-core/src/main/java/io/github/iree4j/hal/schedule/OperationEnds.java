package io.github.iree4j.hal.schedule;

import io.github.iree4j.async.Fence;
import io.github.iree4j.hal.pool.MemoryHolder;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Retains the resources of operations, and ends operations: the resources are released before the signals are made, and
 * the operation is listed as in flight until the signals are made. Code of operations may throw anything; waiters are
 * not affected.
 */
final class OperationEnds {
    private static final Logger LOG = LoggerFactory.getLogger(OperationEnds.class);

    private final QueueScheduler scheduler;
    private final String device;

    OperationEnds(QueueScheduler scheduler, String device) {
        this.scheduler = scheduler;
        this.device = device;
    }

    /** Retains the operation's resources until completion; returns the failure to do so, or null. */
    static @Nullable IreeException retain(QueueOperation operation) {
        if (operation.retained) {
            return null;
        }
        try {
            operation.retain();
        } catch (RuntimeException | Error e) {
            return failure(operation, e);
        }
        Fence signal = operation.signal;
        if (signal != null) {
            try {
                signal.retain();
            } catch (IreeException e) {
                letGo(operation);
                return e;
            }
        }
        operation.retained = true;
        MemoryHolder holder = MemoryHolder.current(); // on the submitting thread: resuming threads find `retained`
        operation.holder = holder;
        if (holder != null) {
            holder.operationBegins();
        }
        return null;
    }

    private static void letGo(QueueOperation operation) {
        try {
            operation.release();
        } catch (RuntimeException | Error e) { // must not affect the waiters of the operation
            LOG.error("{} could not release its resources", operation.name(), e);
        }
    }

    /** Returns the failure of an operation whose own code, or whose backend, has thrown. */
    static IreeException failure(QueueOperation operation, Throwable thrown) {
        return thrown instanceof IreeException failure
                ? failure
                : IreeException.of(StatusCode.INTERNAL, operation.name() + " failed: " + thrown, thrown);
    }

    /** Ends an operation: releases its resources, and signals or fails its fence. */
    void finish(QueueOperation operation, @Nullable IreeException outcome) {
        List<Fence.Entry> refused = List.of();
        try {
            refused = end(operation, outcome);
        } finally {
            if (operation.listedAsIssued) {
                scheduler.issuedOnes.remove(operation); // after its signals
            }
            scheduler.siblings.over(operation, outcome, refused);
            MemoryHolder holder = operation.holder;
            if (holder != null && operation.retained) {
                holder.operationEnds();
            }
        }
    }

    /** Returns the signals of a successful operation that the timelines refused. */
    private List<Fence.Entry> end(QueueOperation operation, @Nullable IreeException outcome) {
        operation.ending = true;
        List<Fence.Entry> refused = List.of();
        if (outcome != null) {
            if (operation.whole == null) {
                scheduler.counts.failed.increment();
            }
            notifyFailed(operation, outcome);
        }
        Fence signal = operation.signal;
        if (operation.retained) {
            letGo(operation);
            MemoryHolder holder = operation.holder;
            if (holder != null) {
                holder.operationReleases();
            }
        }
        if (signal != null) {
            if (outcome == null) {
                refused = signal.signalOrFail(operation.frontier());
            } else {
                signal.fail(outcome);
            }
            if (operation.retained) {
                signal.release();
            }
        } else if (outcome != null) {
            report(operation, outcome);
        }
        return refused;
    }

    private static void notifyFailed(QueueOperation operation, IreeException outcome) {
        try {
            operation.failed(outcome);
        } catch (RuntimeException | Error e) { // as for release()
            LOG.error("{} threw from failed()", operation.name(), e);
        }
    }

    private void report(QueueOperation operation, IreeException outcome) {
        if (Thread.currentThread().equals(operation.submitter)) {
            operation.thrown = outcome;
        } else {
            LOG.error("{} without a signal fence failed on device '{}'", operation.name(), device, outcome);
        }
    }
}
