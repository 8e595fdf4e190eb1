package io.github.iree4j.async.io;

import io.github.iree4j.lifetime.Resource;
import io.github.iree4j.nativeaccess.EventDescriptor;
import io.github.iree4j.nativeaccess.EventPoller;
import io.github.iree4j.status.IreeException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.function.ToIntFunction;

/**
 * Completions reported by the operating system. Each makes a descriptor readable, so a single epoll waits for everything:
 * external events, file transfers, and wake-ups of the owner.
 */
final class SystemSource implements CompletionSource {
    private static final long WAKE = 0;
    private static final long FILES = 1;

    /** How long the owner sleeps before retrying after a lack of kernel resources. A guess. */
    private static final long RETRY_NANOS = 1_000_000;

    private final EventPoller poller;
    private final EventDescriptor wakeup;
    private final EventWatches watches;
    private final FileBackend files;
    private final ArrayDeque<Resource> resources = new ArrayDeque<>(); // closed in reverse order of creation
    private boolean looked; // owner only

    SystemSource(FileBackend files, ToIntFunction<EventDescriptor> outcome) {
        this.files = files;
        try {
            poller = kept(EventPoller.create());
            watches = new EventWatches(poller, outcome);
            wakeup = kept(EventDescriptor.create());
            poller.keep(wakeup, WAKE);
            EventDescriptor transfers = files.readiness();
            if (transfers != null) {
                poller.keep(kept(transfers), FILES);
            }
        } catch (RuntimeException | Error e) {
            close();
            throw e;
        }
    }

    private <R extends Resource> R kept(R resource) {
        resources.addFirst(resource);
        return resource;
    }

    EventWatches watches() {
        return watches;
    }

    @Override
    public void await(long timeoutNanos) {
        long timeout = timeoutNanos;
        if (files.retries() && (timeout < 0 || timeout > RETRY_NANOS)) {
            timeout = RETRY_NANOS;
        }
        look(timeout);
        looked = true;
    }

    private void look(long timeoutNanos) {
        poller.await(Duration.ofNanos(timeoutNanos), (token, isReadable) -> {
            if (token == WAKE) {
                wakeup.take();
            } else if (token >= EventWatches.FIRST_TOKEN) {
                watches.reported(token, isReadable);
            }
        });
    }

    @Override
    public void wake() {
        wakeup.signal(1);
    }

    @Override
    public int poll(int limit) {
        if (!looked && watches.pending() > 0) {
            look(0);
        }
        looked = false;
        return files.poll(limit) + watches.poll(limit);
    }

    @Override
    public int pending() {
        return files.pending() + watches.pending();
    }

    @Override
    public void stop(IreeException cause) {
        watches.stop(cause);
        files.stop(cause);
    }

    @Override
    public void close() {
        files.close();
        resources.forEach(Resource::release);
        resources.clear();
    }
}
