package io.github.iree4j.async;

import io.github.iree4j.nativeaccess.EventDescriptor;
import io.github.iree4j.nativeaccess.EventPoller;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Waits for the events of the operating system that timelines import, on one thread, which exists while there are any and a while
 * longer.
 */
final class EventWaiter {
    /*
     * An import is in `pending` until it is taken out, under `lock`, by the thread that reports its event or by whoever cancels it:
     * EVENT-1: taking it out is the right to end it, so it signals once, or never when it was cancelled, and lets go what it holds
     * once. The poller may report a token that is gone; then nothing happens. Tokens are not used again.
     */
    /** How long the thread outlives its last import. A guess. */
    private static final Duration IDLE = Duration.ofSeconds(10);

    private static final EventWaiter INSTANCE = new EventWaiter();

    private final Object lock = new Object();
    private final Map<Long, Import> pending = new HashMap<>(); // guarded by lock, like the rest
    private @Nullable EventPoller poller;
    private boolean running;
    private long tokens;

    private EventWaiter() {}

    /** One event on its way to a timeline. */
    private static final class Import implements Cancellation {
        private final SystemEvent event;
        private final EventDescriptor descriptor; // its own, so that one event can be imported several times
        private final TimelineSemaphore semaphore;
        private final long value;
        private final long token;

        Import(SystemEvent event, EventDescriptor descriptor, TimelineSemaphore semaphore, long value, long token) {
            this.event = event;
            this.descriptor = descriptor;
            this.semaphore = semaphore;
            this.value = value;
            this.token = token;
        }

        @Override
        public boolean cancel() {
            if (!INSTANCE.take(token)) {
                return false;
            }
            semaphore.withdrawPromise(value, event);
            release();
            return true;
        }

        void end(@Nullable IreeException failure) {
            try {
                if (failure == null) {
                    semaphore.signalExternal(value);
                } else {
                    semaphore.fail(failure);
                }
            } catch (IreeException e) {
                semaphore.fail(e);
            }
            release();
        }

        private void release() {
            descriptor.release();
            event.release();
            semaphore.release();
        }
    }

    static Cancellation register(SystemEvent event, TimelineSemaphore semaphore, long value) {
        event.retain();
        EventDescriptor descriptor = null;
        boolean retained = false;
        boolean promised = false;
        try {
            semaphore.retain();
            retained = true;
            descriptor = EventDescriptor.duplicate(event.descriptor());
            promise(semaphore, value, event);
            promised = true;
            return INSTANCE.add(event, descriptor, semaphore, value);
        } catch (IreeException e) {
            if (promised) {
                semaphore.withdrawPromise(value, event);
            }
            if (descriptor != null) {
                descriptor.release();
            }
            if (retained) {
                semaphore.release();
            }
            event.release();
            throw e;
        }
    }

    private static void promise(TimelineSemaphore semaphore, long value, SystemEvent event) {
        if (!semaphore.promiseExternal(value, event)) {
            IreeException failure = semaphore.failure();
            throw failure != null
                    ? failure.during("import of semaphore value " + value)
                    : new IreeException(
                            StatusCode.INVALID_ARGUMENT,
                            "semaphore value " + value + " is reached or promised already; the semaphore is at "
                                    + semaphore.value());
        }
    }

    private Import add(SystemEvent event, EventDescriptor descriptor, TimelineSemaphore semaphore, long value) {
        synchronized (lock) {
            EventPoller current = poller;
            if (current == null) {
                current = EventPoller.create();
                poller = current;
            }
            Import added = new Import(event, descriptor, semaphore, value, ++tokens);
            current.add(descriptor, added.token); // its report cannot be taken before the lock is free
            pending.put(added.token, added);
            if (!running) {
                EventPoller polled = current;
                running = true;
                Thread.ofPlatform().daemon().name("iree4j-events").start(() -> run(polled));
            }
            return added;
        }
    }

    /** Takes an import out; false when somebody else has. */
    private boolean take(long token) {
        return remove(token) != null;
    }

    private @Nullable Import remove(long token) {
        synchronized (lock) {
            Import taken = pending.remove(token); // EVENT-1
            if (taken != null && poller != null) {
                poller.remove(taken.descriptor);
            }
            return taken;
        }
    }

    private void run(EventPoller polled) {
        for (; ; ) {
            List<Import> readable = new ArrayList<>();
            List<Import> broken = new ArrayList<>();
            try {
                int reports = polled.await(IDLE, (token, isReadable) -> {
                    Import reported = remove(token);
                    if (reported != null) {
                        (isReadable ? readable : broken).add(reported);
                    }
                });
                if (reports == 0 && stopIfIdle()) {
                    return;
                }
            } catch (RuntimeException | Error e) { // whatever it is: nobody must wait for a thread that is gone
                List<Import> lost = stop(polled);
                lost.addAll(readable);
                lost.addAll(broken);
                lost.forEach(each -> each.end(unusable(each, e)));
                return;
            }
            readable.forEach(each -> each.end(null));
            broken.forEach(each -> each.end(new IreeException(
                    StatusCode.UNAVAILABLE,
                    each.event.describe() + " can no longer be signalled; its other end was closed")));
        }
    }

    private static IreeException unusable(Import waiting, Throwable thrown) {
        String doing = "waiting for " + waiting.event.describe();
        return thrown instanceof IreeException failure
                ? failure.during(doing)
                : new IreeException(StatusCode.INTERNAL, doing + " failed: " + thrown, thrown);
    }

    private boolean stopIfIdle() {
        synchronized (lock) {
            if (pending.isEmpty()) {
                running = false;
            }
            return !running;
        }
    }

    /** Gives up a poller that does not work; the next import tries another. Returns what it was waiting for. */
    private List<Import> stop(EventPoller polled) {
        synchronized (lock) {
            List<Import> all = new ArrayList<>(pending.values());
            pending.clear();
            polled.close();
            poller = null;
            running = false;
            return all;
        }
    }
}
