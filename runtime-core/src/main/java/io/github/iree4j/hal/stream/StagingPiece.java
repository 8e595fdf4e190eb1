package io.github.iree4j.hal.stream;

import io.github.iree4j.async.Cancellation;
import io.github.iree4j.status.IreeException;
import java.util.Objects;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Staging memory of a part of a transfer, or the part's request in line. Held by the operations of the part while in
 * flight, and by the submitter until the operations are submitted.
 */
final class StagingPiece {
    final int size;
    private int holders = 1; // including the submitter; guarded by this, like the other fields
    private Staging.@Nullable Lease lease;
    private @Nullable Cancellation waiting;
    private boolean over;

    StagingPiece(int size) {
        this.size = size;
    }

    synchronized void hold() {
        holders++;
    }

    synchronized boolean tryLease(Staging staging) {
        if (lease == null && !over) {
            lease = staging.tryLease(size);
        }
        return lease != null;
    }

    void lease(Staging staging, Consumer<@Nullable IreeException> done) {
        Cancellation line = staging.lease(
                size,
                granted -> {
                    if (keep(granted)) {
                        done.accept(null);
                    } else {
                        granted.close();
                    }
                },
                refused -> {
                    if (!isOver()) {
                        done.accept(refused);
                    }
                });
        boolean late;
        synchronized (this) {
            waiting = line;
            late = over;
        }
        if (late) {
            line.cancel();
        }
    }

    private synchronized boolean isOver() {
        return over;
    }

    private synchronized boolean keep(Staging.Lease granted) {
        if (over) {
            return false;
        }
        lease = granted;
        return true;
    }

    synchronized StreamStorage storage() {
        return Objects.requireNonNull(lease).storage;
    }

    /** Ends the use by one holder: the last holder returns the memory, or leaves the line. */
    void end() {
        Staging.Lease had;
        Cancellation line;
        synchronized (this) {
            if (--holders > 0) {
                return;
            }
            over = true;
            had = lease;
            line = waiting;
        }
        if (line != null) {
            line.cancel();
        }
        if (had != null) {
            had.close();
        }
    }
}
