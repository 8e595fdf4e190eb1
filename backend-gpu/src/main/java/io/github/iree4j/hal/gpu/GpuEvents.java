package io.github.iree4j.hal.gpu;

import io.github.iree4j.nativeaccess.gpu.GpuDevice;
import java.util.ArrayDeque;
import java.util.concurrent.atomic.AtomicInteger;

/** Events of a device, reused: under steady load the driver creates none. Safe from any thread. */
final class GpuEvents implements AutoCloseable {
    /** An event, recorded again once the last record has no users. */
    static final class Event {
        final long handle;
        private final AtomicInteger users = new AtomicInteger();
        private final boolean foreign; // created outside this runtime

        Event(long handle, boolean foreign) {
            this.handle = handle;
            this.foreign = foreign;
        }
    }

    private final GpuDevice device;
    private final ArrayDeque<Event> idle = new ArrayDeque<>(); // guarded by its own monitor, like the next two fields
    private int made;
    private boolean closed;

    GpuEvents(GpuDevice device) {
        this.device = device;
    }

    /**
     * Takes an event, with one user.
     *
     * @throws io.github.iree4j.status.IreeException if the driver creates no more
     */
    Event take() {
        Event event;
        synchronized (idle) {
            event = idle.pollLast();
        }
        if (event == null) {
            event = new Event(device.createEvent(), false);
            synchronized (idle) {
                made++;
            }
        }
        event.users.set(1);
        return event;
    }

    /** Adds a user, while there is at least one. */
    void retain(Event event) {
        event.users.incrementAndGet();
    }

    /** Removes a user; the event is reused after the last user. */
    void release(Event event) {
        if (event.users.decrementAndGet() > 0 || event.foreign) {
            return;
        }
        synchronized (idle) {
            if (!closed) {
                idle.addLast(event);
                return;
            }
        }
        device.releaseEvent(event.handle);
    }

    /** Returns the number of events created by the driver. */
    int made() {
        synchronized (idle) {
            return made;
        }
    }

    @Override
    public void close() {
        synchronized (idle) {
            closed = true;
            idle.forEach(event -> device.releaseEvent(event.handle));
            idle.clear();
        }
    }
}
