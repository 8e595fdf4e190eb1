package io.github.iree4j.async;

import io.github.iree4j.nativeaccess.EventDescriptor;
import io.github.iree4j.nativeaccess.EventPoller;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Completions that the operating system reports: descriptors that become readable, all of them through one epoll. */
final class SystemSource implements CompletionSource {
    /*
     * A watch is in `watches` until it is taken out, under `lock`, by the owner that reports it or by whoever cancels it:
     * EVENT-1: taking it out is the right to end it. The poller may report a token that is gone; then nothing happens. Tokens are not
     * used again.
     */
    private static final Logger LOG = LoggerFactory.getLogger(SystemSource.class);
    private static final long WAKE = 0;

    private final EventPoller poller = EventPoller.create();
    private final EventDescriptor wakeup;
    private final Object lock = new Object();
    private final Map<Long, Watch> watches = new HashMap<>(); // guarded by lock, like the next two
    private @Nullable IreeException stopCause;
    private long tokens = WAKE;

    // Owner only.
    private final ArrayDeque<Watch> readable = new ArrayDeque<>();
    private final ArrayDeque<Watch> broken = new ArrayDeque<>();
    private boolean looked;

    SystemSource() {
        EventDescriptor created = null;
        boolean ready = false;
        try {
            created = EventDescriptor.create();
            poller.keep(created, WAKE);
            ready = true;
        } finally {
            if (!ready) {
                if (created != null) {
                    created.release();
                }
                poller.release();
            }
        }
        wakeup = created;
    }

    /** Waits for one descriptor, a duplicate of its own so that one event can be waited for several times. */
    private final class Watch implements Cancellation {
        private final SystemEvent event;
        private final EventDescriptor descriptor;
        private final Completion completion;
        private final long token;

        Watch(SystemEvent event, EventDescriptor descriptor, Completion completion, long token) {
            this.event = event;
            this.descriptor = descriptor;
            this.completion = completion;
            this.token = token;
        }

        @Override
        public boolean cancel() {
            if (remove(token) == null) {
                return false;
            }
            release();
            return true;
        }

        void end(@Nullable IreeException failure) {
            try {
                completion.ended(0, failure);
            } catch (Throwable t) {
                LOG.error("the completion of a wait for {} threw", event.describe(), t);
            } finally {
                release();
            }
        }

        private void release() {
            descriptor.release();
            event.release();
        }
    }

    /** Calls back once when an event becomes readable. The proactor is to be woken then. */
    Cancellation watch(SystemEvent event, Completion completion) {
        event.retain();
        EventDescriptor descriptor = null;
        boolean added = false;
        try {
            descriptor = EventDescriptor.duplicate(event.descriptor());
            synchronized (lock) {
                if (stopCause != null) {
                    throw stopCause.during("wait for " + event.describe());
                }
                Watch watch = new Watch(event, descriptor, completion, ++tokens);
                poller.add(descriptor, watch.token); // its report cannot be taken before the lock is free
                watches.put(watch.token, watch);
                added = true;
                return watch;
            }
        } finally {
            if (!added) {
                if (descriptor != null) {
                    descriptor.release();
                }
                event.release();
            }
        }
    }

    private @Nullable Watch remove(long token) {
        synchronized (lock) {
            Watch taken = watches.remove(token); // EVENT-1
            if (taken != null) {
                poller.remove(taken.descriptor);
            }
            return taken;
        }
    }

    @Override
    public void await(long timeoutNanos) {
        poller.await(Duration.ofNanos(timeoutNanos), this::reported);
        looked = true;
    }

    private void reported(long token, boolean isReadable) {
        if (token == WAKE) {
            wakeup.take();
            return;
        }
        Watch watch = remove(token);
        if (watch != null) {
            (isReadable ? readable : broken).add(watch);
        }
    }

    @Override
    public void wake() {
        wakeup.signal(1);
    }

    @Override
    public int poll(int limit) {
        if (!looked) {
            poller.await(Duration.ZERO, this::reported);
        }
        looked = false;
        int called = 0;
        for (Watch each; called < limit && (each = readable.poll()) != null; called++) {
            each.end(null);
        }
        for (Watch each; called < limit && (each = broken.poll()) != null; called++) {
            each.end(new IreeException(
                    StatusCode.UNAVAILABLE,
                    each.event.describe() + " can no longer be signalled; its other end was closed"));
        }
        return called;
    }

    @Override
    public int pending() {
        synchronized (lock) {
            return watches.size() + readable.size() + broken.size();
        }
    }

    @Override
    public void stop(IreeException cause) {
        List<Watch> all;
        synchronized (lock) {
            stopCause = cause;
            all = new ArrayList<>(watches.values());
            watches.clear();
            all.forEach(each -> poller.remove(each.descriptor));
        }
        all.addAll(readable);
        all.addAll(broken);
        readable.clear();
        broken.clear();
        all.forEach(each -> each.end(cause.during("wait for " + each.event.describe())));
    }

    @Override
    public void close() {
        poller.release();
        wakeup.release();
    }
}
