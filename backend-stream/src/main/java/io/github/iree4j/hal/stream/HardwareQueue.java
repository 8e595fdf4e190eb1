package io.github.iree4j.hal.stream;

import io.github.iree4j.lifetime.UseGuard;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A queue of the driver and the queue's timeline, used by a single stream or several streams. Every submission signals
 * the next value: the submission's <em>ticket</em>. Submissions are made under the object's lock; the lock also guards
 * the streams.
 */
final class HardwareQueue {
    /*
     * STREAM-1: if every stream of the device is alone on its queue, a stream reserves the tickets of issued operations
     * before submission (reserve()). Other queues can then wait for these tickets; the stream submits in the order of
     * the tickets. Otherwise tickets are assigned at submission, and only submitted work can be waited for: a waiting
     * queue never holds back the awaited work.
     *
     * STREAM-13: the driver stays while a thread gives submissions. The given operations may end meanwhile, and another
     * thread may report the end, so the given operations do not keep the driver. A thread that issues operations keeps
     * the driver by the scheduler's line, on which the closing device waits (whenGiven()); the waiter, by the proactor; its
     * helpers, as work.
     * Other threads are users of the driver until the submissions are given: lockedInUse().
     */
    private static final Logger LOG = LoggerFactory.getLogger(HardwareQueue.class);

    /** Maximum number of submissions per driver call, so that the first of many begins soon. A guess, not measured. */
    private static final int MOST_AT_ONCE = 256;

    /** Interval between polls for the end. A guess, not measured. */
    private static final long PAUSE_NANOS = 1_000_000_000;

    final Lane lane;
    final boolean reserves;
    final DriverTimeline timeline;
    private final StreamDriver driver;
    private final UseGuard calls; // of the driver
    final List<HardwareStream> streams = new ArrayList<>(); // complete before the first issue

    // Guarded by this.
    private long tickets; // last assigned ticket
    private long reached; // as last observed
    private long given; // last ticket accepted by the driver
    private @Nullable IreeException broken; // why the driver accepts no more work although not lost
    private final List<Submission> gathered = new ArrayList<>(); // the batch of the next flush

    /**
     * Creates a queue.
     *
     * @param calls the uses of the driver by threads that hold nothing else; open until all work has ended
     * @param reserves whether every stream of the device is alone on its queue, and others can wait for the queue: STREAM-1
     */
    HardwareQueue(StreamDriver driver, UseGuard calls, Lane lane, boolean reserves) {
        this.driver = driver;
        this.calls = calls;
        this.lane = lane;
        this.reserves = reserves;
        this.timeline = lane.timeline();
    }

    /** Under the lock: reserves the next ticket for a later submission or signal. */
    long reserve() {
        return ++tickets;
    }

    /** Under the lock: returns the last ticket assigned or reserved. */
    long tickets() {
        return tickets;
    }

    /** Under the lock: returns the hardware's progress, as last observed. */
    long reached() {
        return reached;
    }

    /** Returns whether the hardware has passed a ticket of an operation; true once all work of the device has ended. */
    boolean hasPassed(long ticket) {
        if (!calls.tryEnter()) {
            return true;
        }
        try {
            return ticket <= timeline.value();
        } finally {
            calls.exit();
        }
    }

    /**
     * Under the lock: adds a submission to the batch of the next {@link #flush}.
     *
     * @param waits the points to wait for
     * @param work the commands; null for none
     * @param reserved the reserved ticket; 0 for the next ticket
     * @param entry notified if the driver refuses the submission; null for none
     * @return the submission's ticket
     */
    long submit(TimelineWaits waits, @Nullable StreamWork work, long reserved, @Nullable StreamEntry entry) {
        if (gathered.size() == MOST_AT_ONCE) {
            flush();
        }
        long ticket = reserved == 0 ? ++tickets : reserved;
        gathered.add(new Submission(waits, work, ticket, entry));
        return ticket;
    }

    /** Under the lock: returns the last ticket accepted by the driver. */
    long given() {
        return given;
    }

    /** Under the lock: submits the batch to the driver, in a single call. */
    void flush() {
        if (gathered.isEmpty()) {
            return;
        }
        List<Submission> all = gathered.stream().map(Submission::due).toList();
        gathered.clear();
        IreeException why = broken;
        if (why != null) {
            all.forEach(each -> refused(each, why));
            return;
        }
        IreeException cause = tryGive(all);
        if (cause == null) {
            return;
        }
        if (all.size() == 1) {
            refused(all.getFirst(), cause);
            return;
        }
        for (Submission each : all) { // the driver accepts all or none
            Submission due = each.due(); // SCHED-8: an earlier submission may have been refused just now
            IreeException ofOne = tryGive(List.of(due));
            if (ofOne != null) {
                refused(due, ofOne);
            }
        }
    }

    /** Passes submissions to the driver; returns the failure, or null. */
    private @Nullable IreeException tryGive(List<Submission> submissions) {
        try {
            lane.submit(submissions);
            given = submissions.getLast().ticket();
        } catch (IreeException e) {
            return e;
        } catch (RuntimeException | Error e) { // out of memory, for example
            return IreeException.of(StatusCode.INTERNAL, "submission failed: " + e, e);
        }
        // outside the try block: an observer's exception must not revoke accepted submissions
        streams.forEach(HardwareStream::lookAtHead);
        return null;
    }

    /** Handles a refused submission with an assigned ticket: submits an empty submission in the same place. */
    private void refused(Submission submission, IreeException cause) {
        StreamEntry entry = submission.entry();
        if (entry == null) {
            nudgeFromHost(submission.ticket(), cause);
            return;
        }
        boolean lost = driver.isLost();
        boolean hasPlace = !lost && broken == null && tryGive(List.of(submission.withoutWork())) == null;
        if (!lost && !hasPlace && broken == null) {
            broken = cause;
        }
        entry.stream.refused(entry, cause, hasPlace);
    }

    /** Nudges from the host. Work on the hardware completes without help and wakes the waiter; without work, the host may signal. */
    private void nudgeFromHost(long ticket, IreeException cause) {
        if (driver.isLost()) {
            throw cause;
        }
        long value = timeline.value();
        if (value >= given && value < ticket) { // endBroken() may have signalled already
            timeline.signal(ticket);
        }
    }

    /**
     * Under the lock: if the driver accepts no more work and has completed all accepted work, completes the rest.
     * Returns whether there was any.
     */
    boolean endBroken() {
        if (broken == null || reached < given || reached >= tickets) {
            return false;
        }
        try {
            if (timeline.value() < tickets) { // otherwise a nudge was the last submission
                timeline.signal(tickets); // other queues may wait for this ticket
            }
        } catch (RuntimeException | Error e) {
            LOG.error("a queue that takes nothing any more could not be ended for others that wait for it", e);
        }
        reached = tickets;
        return true;
    }

    /** Submits only the signal of the next ticket, to wake the waiter. */
    void nudge() {
        locked(() -> {
            submit(TimelineWaits.NONE, null, 0, null);
            flush();
        });
    }

    /** As {@link #locked}, by any thread. Does nothing once all work of the device has ended: nothing is left to be submitted. */
    void lockedInUse(Runnable action) {
        if (calls.tryEnter()) {
            try {
                locked(action);
            } finally {
                calls.exit();
            }
        }
    }

    /**
     * Runs a submitting action under the lock, then has the lane give the submissions without the lock. For threads that
     * keep the driver: STREAM-13.
     */
    void locked(Runnable action) {
        try {
            synchronized (this) {
                action.run();
            }
        } finally {
            lane.give();
        }
    }

    /**
     * Under the lock: signals the completion of everything up to a ticket from the host, because the hardware will not.
     */
    void signal(long ticket) {
        if (broken != null && ticket <= reached) {
            return; // signalled by endBroken()
        }
        try {
            timeline.signal(ticket);
            // other queues wait for the ticket: the lane, with nothing left before it, may signal
        } catch (RuntimeException | Error e) {
            if (driver.isLost() || tryGive(List.of(new Submission(TimelineWaits.NONE, null, ticket, null))) != null) {
                throw e;
            }
        }
        reached = Math.max(reached, ticket);
    }

    /** Returns the first ticket not observed as reached. */
    synchronized long next() {
        return reached + 1;
    }

    /** Reads the hardware's progress, and ends completed entries; returns the number of ended operations. For the waiter and its helpers. */
    int look() {
        long now = timeline.seenValue();
        if (!isNews(now)) {
            return 0;
        }
        Ended ended = new Ended();
        locked(() -> {
            reached = Math.max(reached, now);
            endBroken();
            for (HardwareStream stream : streams) {
                stream.reached(ended);
            }
        });
        return ended.report();
    }

    private synchronized boolean isNews(long now) {
        return now > reached || broken != null && reached < tickets;
    }

    /** Returns whether the hardware has work left. */
    synchronized boolean isBusy() {
        for (HardwareStream stream : streams) {
            if (stream.isHardwareBusy()) {
                return true;
            }
        }
        return false;
    }

    /** Returns whether operations off the hardware are on the way there, or being ended. */
    synchronized boolean isMoving() {
        for (HardwareStream stream : streams) {
            if (stream.isMoving()) {
                return true;
            }
        }
        return false;
    }

    /**
     * Returns whether all work accepted by the driver has completed, including nudges. False where the driver cannot
     * tell: the hardware may still use resources.
     */
    boolean isOver() {
        try {
            return driver.isLost() || timeline.value() >= lastGiven();
        } catch (RuntimeException | Error e) {
            return false;
        }
    }

    /**
     * Waits until {@link #isOver}, also for a driver without answers. Nothing is submitted any more, and no other
     * thread waits.
     */
    void awaitOver() {
        boolean told = false;
        while (!isOver()) {
            try {
                driver.awaitAny(new DriverTimeline[] {timeline}, new long[] {lastGiven()}, 1, PAUSE_NANOS);
                timeline.value();
            } catch (RuntimeException | Error e) {
                if (!told) {
                    LOG.error("whether the last submission of a queue is complete cannot be told; its driver stays", e);
                }
                told = true;
                LockSupport.parkNanos(PAUSE_NANOS);
            }
        }
    }

    private synchronized long lastGiven() {
        return given;
    }

    /** Ends all work given to the lost hardware. */
    void abandon(IreeException cause) {
        Ended ended = new Ended();
        synchronized (this) {
            abandon(cause, ended);
        }
        ended.report();
    }

    /** Ends all work given to the lost hardware; under the lock. */
    void abandon(IreeException cause, Ended ended) {
        List<Submission> never = new ArrayList<>(gathered);
        for (HardwareStream stream : streams) {
            stream.abandon(cause, ended, never);
        }
        if (driver.isLost()) {
            gathered.clear();
            never.add(new Submission(TimelineWaits.NONE, null, tickets, null)); // end of a host step
            lane.lost(never);
        }
    }
}
