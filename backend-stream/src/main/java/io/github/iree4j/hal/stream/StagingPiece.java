package io.github.iree4j.hal.stream;

import io.github.iree4j.async.Cancellation;
import io.github.iree4j.status.IreeException;
import java.lang.foreign.MemorySegment;
import java.util.Objects;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Staging memory of a part of a transfer, or the part's request in line. The memory of a file replaces staging memory
 * where the driver registers such memory. Held by the operations of the part while in flight, and by the submitter
 * until the operations are submitted.
 */
final class StagingPiece {
    final int size;
    private final @Nullable FileWindow window; // onto the memory of the file; null for staging memory in any case
    private final MemorySegment own; // bytes of the file, in the window
    private int holders = 1; // including the submitter; guarded by this, like the other fields
    private Staging.@Nullable Lease lease;
    private @Nullable Cancellation waiting;
    private boolean over;

    StagingPiece(int size) {
        this(size, null, MemorySegment.NULL);
    }

    /**
     * Creates a part, transferred in place if the window can be registered; a part of the window until the last holder
     * ends.
     */
    StagingPiece(int size, @Nullable FileWindow window, MemorySegment own) {
        this.size = size;
        this.window = window;
        this.own = own;
    }

    /** Returns whether the memory is of the file itself; known once there is memory. */
    boolean isInPlace() {
        return window != null && window.isOpen();
    }

    synchronized void hold() {
        holders++;
    }

    synchronized boolean tryLease(Staging staging) {
        if (window != null && !window.isRefused()) {
            return window.isOpen();
        }
        if (lease == null && !over) {
            lease = staging.tryLease(size);
        }
        return lease != null;
    }

    void lease(Staging staging, Consumer<@Nullable IreeException> done) {
        if (window == null || window.isRefused()) {
            leaseStaging(staging, done);
            return;
        }
        window.open(registered -> {
            if (isOver()) {
                return; // the request was withdrawn
            }
            try {
                if (registered) {
                    done.accept(null);
                } else {
                    leaseStaging(staging, done);
                }
            } catch (IreeException e) {
                done.accept(e);
            }
        });
    }

    private void leaseStaging(Staging staging, Consumer<@Nullable IreeException> done) {
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
        return isInPlace() ? Objects.requireNonNull(window).storage(own) : Objects.requireNonNull(lease).storage;
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
        if (window != null) {
            window.end();
        }
    }
}
