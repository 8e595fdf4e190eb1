package io.github.iree4j.hal.local;

import io.github.iree4j.async.Cancellation;
import io.github.iree4j.async.Fence;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The operations of a device that wait. Safe from any thread. */
final class PendingOperations {
    private static final Logger LOG = LoggerFactory.getLogger(PendingOperations.class);

    /** So many are a program that submits in a loop and never signals. A guess, not measured. */
    private static final int LIMIT = 1 << 20;

    private final String deviceId;
    private final Set<Pending> waiting = Collections.newSetFromMap(new IdentityHashMap<>()); // guarded by itself
    private boolean closed; // guarded by waiting

    PendingOperations(String deviceId) {
        this.deviceId = deviceId;
    }

    /**
     * Keeps an operation until its wait is over.
     *
     * @throws IreeException FAILED_PRECONDITION when something it uses is closed, or the device is
     */
    void add(Operation operation, Fence wait, @Nullable Fence signal) {
        operation.retain();
        try {
            if (signal != null) {
                signal.retain();
            }
        } catch (IreeException e) {
            operation.release();
            throw e;
        }
        Pending pending = new Pending(operation, signal);
        IreeException refused = null;
        synchronized (waiting) {
            if (closed) {
                refused = aborted(operation);
            } else if (waiting.size() >= LIMIT) {
                refused = new IreeException(
                        StatusCode.RESOURCE_EXHAUSTED,
                        "%s would be one more than the %d operations that may wait on device '%s'; wait for some of them"
                                .formatted(operation.name(), LIMIT, deviceId));
            } else {
                waiting.add(pending);
            }
        }
        if (refused != null) {
            pending.accept(refused);
            return;
        }
        try {
            pending.wait = wait.whenReached(pending);
        } catch (IreeException e) { // closed by somebody meanwhile
            pending.accept(e);
        }
    }

    /** Fails everything that waits, and everything added later. */
    void close() {
        List<Pending> rest;
        synchronized (waiting) {
            closed = true;
            rest = new ArrayList<>(waiting);
        }
        for (Pending pending : rest) {
            Cancellation wait = pending.wait;
            if (wait != null) {
                wait.cancel();
            }
            pending.accept(aborted(pending.operation));
        }
    }

    private IreeException aborted(Operation operation) {
        return new IreeException(
                StatusCode.ABORTED,
                "device '" + deviceId + "' was closed while " + operation.name() + " waited to run");
    }

    /** One operation that waits. Whoever turns {@code over} ends it. */
    private final class Pending implements Consumer<@Nullable IreeException> {
        private final Operation operation;
        private final @Nullable Fence signal;
        private final AtomicBoolean over = new AtomicBoolean();
        private volatile @Nullable Cancellation wait; // null until registered

        Pending(Operation operation, @Nullable Fence signal) {
            this.operation = operation;
            this.signal = signal;
        }

        /** The wait is over: run, or pass the failure on. */
        @Override
        public void accept(@Nullable IreeException failure) {
            if (!over.compareAndSet(false, true)) {
                return;
            }
            synchronized (waiting) {
                waiting.remove(this);
            }
            IreeException outcome = failure;
            if (outcome == null) {
                try {
                    LocalQueue.runNow(operation);
                } catch (IreeException e) {
                    outcome = e;
                }
            }
            if (outcome != null) {
                operation.fail(outcome);
            }
            operation.release();
            if (signal != null) {
                if (outcome == null) {
                    signal.signalOrFail();
                } else {
                    signal.fail(outcome);
                }
                signal.release();
            } else if (outcome != null) {
                LOG.error("{} without a signal fence failed on device '{}'", operation.name(), deviceId, outcome);
            }
        }
    }
}
