package io.github.iree4j.hal.remote;

import io.github.iree4j.async.TimelineSemaphore;

/**
 * A semaphore exported to peers under a number. Closing the export ends the peers' subscriptions with CANCELLED;
 * idempotent. Safe from any thread.
 */
public final class SemaphoreExport implements AutoCloseable {
    private final SemaphoreExports exports;
    private final long id;
    private final TimelineSemaphore semaphore;

    SemaphoreExport(SemaphoreExports exports, long id, TimelineSemaphore semaphore) {
        this.exports = exports;
        this.id = id;
        this.semaphore = semaphore;
    }

    /**
     * Returns the number, passed by peers to {@link RemoteSession#semaphore}.
     *
     * @return the number, unique within this run of the node
     */
    public long id() {
        return id;
    }

    TimelineSemaphore semaphore() {
        return semaphore;
    }

    @Override
    public void close() {
        exports.remove(this);
    }
}
