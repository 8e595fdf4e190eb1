package io.github.iree4j.hal.remote;

import io.github.iree4j.async.TimelineSemaphore;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/** The semaphores exported to peers by a node, by number. Safe from any thread. */
final class SemaphoreExports implements AutoCloseable {
    private final Map<Long, SemaphoreExport> byId = new ConcurrentHashMap<>();
    private final AtomicLong last = new AtomicLong();

    SemaphoreExport add(TimelineSemaphore semaphore) {
        semaphore.retain();
        semaphore.keepHistory(); // each value with its frontier
        SemaphoreExport export = new SemaphoreExport(this, last.incrementAndGet(), semaphore);
        byId.put(export.id(), export);
        return export;
    }

    @Nullable
    TimelineSemaphore find(long id) {
        SemaphoreExport export = byId.get(id);
        return export == null ? null : export.semaphore();
    }

    void remove(SemaphoreExport export) {
        if (byId.remove(export.id(), export)) {
            export.semaphore().release();
        }
    }

    @Override
    public void close() {
        byId.values().forEach(this::remove);
    }
}
