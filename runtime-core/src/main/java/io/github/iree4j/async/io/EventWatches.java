package io.github.iree4j.async.io;

import io.github.iree4j.async.Cancellation;
import io.github.iree4j.nativeaccess.EventDescriptor;
import io.github.iree4j.nativeaccess.EventPoller;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.ToIntFunction;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Watches for external descriptors that become readable once. */
final class EventWatches {
    /*
     * A watch is in `watches` until removed, under `lock`, by the owner reporting the watch or by the thread cancelling
     * it.
     * EVENT-1: the thread removing a watch ends it. Reports for tokens already removed are ignored. Tokens are never
     * reused.
     */
    private static final Logger LOG = LoggerFactory.getLogger(EventWatches.class);

    /** Smaller tokens belong to the poller's own descriptors. */
    static final long FIRST_TOKEN = 16;

    private static final int ECANCELED = 125;

    private final EventPoller poller;
    private final ToIntFunction<EventDescriptor> outcome;
    private final Object lock = new Object();
    private final Map<Long, Watch> watches = new HashMap<>(); // guarded by lock, like the next three fields
    private @Nullable IreeException stopCause;
    private long tokens = FIRST_TOKEN;
    private int live;

    // Owner only.
    private final ArrayDeque<Watch> readable = new ArrayDeque<>();
    private final ArrayDeque<Watch> broken = new ArrayDeque<>();

    EventWatches(EventPoller poller, ToIntFunction<EventDescriptor> outcome) {
        this.poller = poller;
        this.outcome = outcome;
    }

    /** Waits for one descriptor, a private duplicate: an event can be watched several times. */
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
            if (remove(token, true) == null) {
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

    /** Calls back once when an event becomes readable. The caller wakes the owner afterwards. */
    Cancellation add(SystemEvent event, Completion completion) {
        event.retain();
        EventDescriptor descriptor = null;
        boolean added = false;
        try {
            descriptor = EventDescriptor.duplicate(event.descriptor());
            synchronized (lock) {
                if (stopCause != null) {
                    throw stopCause.during("wait for " + event.describe());
                }
                Watch watch = new Watch(event, descriptor, completion, tokens++);
                poller.add(descriptor, watch.token); // a report cannot be handled before the lock is released
                watches.put(watch.token, watch);
                live++;
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

    private @Nullable Watch remove(long token, boolean isEnd) {
        synchronized (lock) {
            Watch taken = watches.remove(token); // EVENT-1
            if (taken != null) {
                poller.remove(taken.descriptor);
                live -= isEnd ? 1 : 0;
            }
            return taken;
        }
    }

    /** Handles a report of the poller. */
    void reported(long token, boolean isReadable) {
        Watch watch = remove(token, false);
        if (watch != null) {
            (isReadable ? readable : broken).add(watch);
        }
    }

    int poll(int limit) {
        int called = 0;
        for (Watch each; called < limit && (each = readable.poll()) != null; called++) {
            ended(each, failureOf(each));
        }
        for (Watch each; called < limit && (each = broken.poll()) != null; called++) {
            ended(
                    each,
                    IreeException.of(
                            StatusCode.UNAVAILABLE,
                            each.event.describe() + " can no longer be signalled; its other end was closed"));
        }
        return called;
    }

    private void ended(Watch watch, @Nullable IreeException failure) {
        synchronized (lock) {
            live--;
        }
        watch.end(failure);
    }

    /** Returns the failure of the work behind an event, or null: a sync_fd also becomes readable when its work has failed. */
    private @Nullable IreeException failureOf(Watch watch) {
        int code;
        try {
            code = outcome.applyAsInt(watch.descriptor);
        } catch (IreeException e) {
            return e.during("wait for " + watch.event.describe());
        }
        return code == 0
                ? null
                : IreeException.of(
                        code == ECANCELED ? StatusCode.CANCELLED : StatusCode.ABORTED,
                        "the work behind %s failed with errno %d".formatted(watch.event.describe(), code));
    }

    int pending() {
        synchronized (lock) {
            return live;
        }
    }

    void stop(IreeException cause) {
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
        all.forEach(each -> ended(each, cause.during("wait for " + each.event.describe())));
    }
}
