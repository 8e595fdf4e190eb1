package io.github.iree4j.hal.remote;

import io.github.iree4j.async.Cancellation;
import io.github.iree4j.async.SignalRecord;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.async.Timepoint;
import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.hal.stream.RunRequests;
import io.github.iree4j.status.IreeException;
import org.jspecify.annotations.Nullable;

/**
 * A peer's subscription to a semaphore of this node: sends each reached value, with the value's frontier. Nothing is
 * queued: while the stream is full, the history of the semaphore holds the values. Once the history is full too, later
 * values replace unsent values.
 */
final class Subscription implements Timepoint {
    private final Subscriptions owner;
    private final long number;
    private final TimelineSemaphore semaphore;
    private final boolean once;
    private final RunRequests sends = new RunRequests();
    private final SignalRecord found = new SignalRecord(); // guarded by this, like the rest
    private long next; // least value not sent
    private @Nullable Cancellation registration;
    private boolean over;

    Subscription(Subscriptions owner, long number, TimelineSemaphore semaphore, long from, boolean once) {
        this.owner = owner;
        this.number = number;
        this.semaphore = semaphore;
        this.next = from;
        this.once = once;
    }

    @Override
    public void reached(long value, @Nullable IreeException failure) {
        if (failure == null) {
            send();
        } else if (end()) {
            owner.ended(number);
            owner.post(new FrameWriter(FrameType.FAIL).u64(number).status(failure));
        }
    }

    /** Sends the due values, as far as the stream has room, and waits for the rest. One thread at a time. */
    void send() {
        if (!sends.ask()) {
            return;
        }
        do {
            boolean more = true;
            while (more) {
                more = sendNext();
            }
        } while (sends.again());
    }

    /** Sends a value; returns false when no value is due or the stream is full. */
    private boolean sendNext() {
        FrameWriter frame;
        boolean last;
        synchronized (this) {
            if (over) {
                return false;
            }
            if (!owner.hasRoom()) {
                owner.stalled(this);
                return false;
            }
            long value = semaphore.value();
            if (value < next) {
                register();
                return false;
            }
            Frontier frontier = Frontier.UNKNOWN;
            if (semaphore.lookup(next, found) && found.isReached()) {
                value = found.value();
                frontier = found.frontier();
            }
            frame = new FrameWriter(FrameType.ADVANCE).u64(number).u64(value).frontier(frontier);
            next = value + 1;
            last = once;
            over = once;
        }
        owner.post(frame);
        if (last) {
            owner.ended(number);
        }
        return !last;
    }

    private void register() {
        Cancellation before = registration;
        if (before != null) {
            before.cancel();
        }
        registration = semaphore.whenReached(next, this); // may call back at once, which requests another run
    }

    /** Ends the subscription; returns false when ended before. */
    synchronized boolean end() {
        if (over) {
            return false;
        }
        over = true;
        if (registration != null) {
            registration.cancel();
        }
        return true;
    }
}
