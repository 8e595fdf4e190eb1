package io.github.iree4j.hal.gpu;

import io.github.iree4j.async.CallThreads;
import io.github.iree4j.hal.gpu.GpuEvents.Event;
import io.github.iree4j.hal.stream.Doorbell;
import io.github.iree4j.hal.stream.DriverCommands;
import io.github.iree4j.hal.stream.DriverTimeline;
import io.github.iree4j.hal.stream.GroupCall;
import io.github.iree4j.hal.stream.Lane;
import io.github.iree4j.hal.stream.RunRequests;
import io.github.iree4j.hal.stream.Submission;
import io.github.iree4j.nativeaccess.gpu.GpuDevice;
import io.github.iree4j.nativeaccess.gpu.GpuWords;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * A stream, and a thread waiting for the stream's events.
 *
 * <p>A submission is passed to the stream at once if each awaited point is reached or has an event, and the stream has
 * room. Otherwise the submission is held back, and later submissions with it, until another lane records the missing
 * event or the stream has room.
 */
final class GpuLane implements Lane {
    /*
     *   submit -> held -> given (event recorded) -> over (ticket reached)
     *
     * The device fails if the driver refuses a call that must succeed, or the host is out of memory: nothing more is
     * given, and held submissions end after the submissions given before. Memory possibly used by streams is kept until
     * then.
     *
     * GPU-1: submissions are given in the order of tickets, by a single thread at a time: the first caller of feed()
     * repeats for calls made meanwhile. Feeding takes no queue's lock, so a thread holding a queue's lock, for a signal
     * of the host, may feed the lanes registered with the timeline.
     * GPU-2: no wait for an event is given before the event is recorded, or after the event was recorded for a later
     * point. A point is in `points`, with its event, from the record until the point is reached. A lane finding the
     * event there is a user of the event until the lane's own wait was given.
     * GPU-3: a held-back lane registers with the timeline before the last check, so no change is missed.
     * GPU-4: other threads give a stream commands only while few are in flight, so the stream is not full and does not
     * block these threads. A submission of more commands is given in parts, each with an event of the part; the points
     * of the parts before the last have the ticket before. The lane's own thread gives the rest: more waits, and commands
     * with a wait for the host in the middle.
     * GPU-5: work for the thread is added before the doorbell rings, and the thread clears the doorbell before polling.
     * GPU-9: while a device has a giver, callers leave added submissions to the giver, and lanes released by a new
     * event or value are left to the giver, too. A caller adds to `held` before looking for a giver; a former giver
     * feeds all lanes once more. Only a lane's own thread waits for the hardware while giving, and is no giver then.
     */
    /** Limit of commands in flight, waits and events included, for other threads to give more; streams have room for about a thousand. */
    static final int WINDOW = 512;

    /**
     * Attendance of a lane's thread after the last work, nanoseconds: longer than the time of a caller between two
     * short kernels. Meanwhile a single thread of the device gives the submissions of all queues, and waiting threads
     * leave the driver alone: the driver has a single lock, and the thread recording an event gives the submissions
     * behind the event.
     */
    static final long LINGER_NANOS = 50_000;

    /** Polling time before sleeping, without attendance: a short kernel's. On an H200 no polling was not better. */
    private static final long SPIN_NANOS = 20_000;

    /** Submissions of a lane given by a giver before the next lane and completions: less than 100 microseconds. */
    private static final int TURN = 16;

    private static final long PAUSE_NANOS = 10_000_000; // between polls, if waiting fails

    private final GpuHardware hardware;
    private final GpuDevice device;
    private final GpuEvents events;
    private final int index;
    private final int window;
    private final long linger;
    private final long stream;
    private final GpuTimeline timeline;
    private final ConcurrentLinkedQueue<Held> held = new ConcurrentLinkedQueue<>();
    private final RunRequests feeding = new RunRequests();
    private final AtomicInteger underWay = new AtomicInteger(); // commands
    private final GpuPoints points = new GpuPoints(); // guarded by its own monitor, like the next field
    private long lastSeen; // last ticket with an event seen complete

    // Owned by the feeding thread.
    private final GpuWords words = new GpuWords();
    private final AwaitedEvents awaited;
    private boolean stuck; // whether the end of the stream's work cannot be observed
    private @Nullable Held begun; // the first held submission, after its first part
    private int rest; // commands of `begun` to give
    private int position; // of the rest, in the commands' words

    private final Thread thread;
    private final Doorbell doorbell = new Doorbell(); // for the thread
    private volatile boolean attended; // the thread is looking for completions
    private volatile boolean due; // whether the first held submission is for the thread: GPU-4
    private volatile boolean stopped;

    /** A submission, and the event to be recorded after the submission. */
    private record Held(Submission submission, Event event) {}

    /**
     * Creates a lane, for {@link #start}.
     *
     * @param window limit of commands in flight for other threads to give more
     * @param linger nanoseconds of the thread's attendance after the last work; 0 for no attendance
     */
    GpuLane(GpuHardware hardware, int index, int window, long linger) {
        this.hardware = hardware;
        this.device = hardware.device();
        this.events = hardware.events();
        this.awaited = new AwaitedEvents(this, events);
        this.index = index;
        this.window = window;
        this.linger = linger;
        this.timeline = new GpuTimeline(hardware, this, null, 0);
        this.stream = device.createStream();
        this.thread = CallThreads.forNativeWaits("iree4j-stream " + hardware.id() + " " + index, this::run);
    }

    void start() {
        thread.start();
    }

    @Override
    public int family() {
        return 0;
    }

    @Override
    public boolean computes() {
        return true;
    }

    @Override
    public DriverTimeline timeline() {
        return timeline;
    }

    /** Returns the stream, for the lane's commands. */
    long stream() {
        return stream;
    }

    @Override
    public void submit(List<Submission> submissions) {
        hardware.checkTakesWork();
        List<Held> all = new ArrayList<>(submissions.size());
        try {
            for (Submission each : submissions) {
                all.add(new Held(each, events.take())); // a lane without events reaches no ticket
            }
        } catch (RuntimeException | Error e) {
            all.forEach(each -> events.release(each.event));
            hardware.checkNotLost(); // wakes the waiter after a loss
            throw e;
        }
        held.addAll(all);
    }

    @Override
    public void give() {
        if (linger == 0 || !hardware.hasGiver()) { // GPU-9
            feedHeld(Integer.MAX_VALUE);
        }
    }

    /** Returns whether the lane's thread is looking for completions. */
    boolean isAttended() {
        return attended;
    }

    /** Returns the number of submissions held back. */
    int heldCount() {
        return held.size();
    }

    /** Returns the event of the first submission raising the timeline to a value, with an additional user; null while none is given. */
    @Nullable
    Event event(long value) {
        synchronized (points) {
            Event event = points.at(value);
            if (event != null) {
                events.retain(event);
            }
            return event;
        }
    }

    /** Returns the last ticket with a completed event, whether or not the thread has noticed. Calls the driver without a lock. */
    long lastOver() {
        for (; ; ) {
            long last;
            long ticket;
            Event next;
            synchronized (points) {
                last = lastSeen;
                ticket = points.ticketFrom(last + 1);
                next = points.at(ticket);
                if (ticket == 0 || next == null) {
                    return last;
                }
                events.retain(next);
            }
            try {
                if (!device.isComplete(next.handle)) {
                    return last;
                }
            } finally {
                events.release(next);
            }
            synchronized (points) {
                lastSeen = Math.max(lastSeen, ticket);
            }
        }
    }

    // ---- Giving.

    /** Gives held submissions, if any, without waiting for the hardware; returns whether this thread gave some. */
    boolean feedHeld(int limit) {
        return !held.isEmpty() && feed(false, limit);
    }

    /**
     * Gives the stream as many submissions as possible, unless another thread does: GPU-1. Returns whether this thread gave
     * some.
     *
     * @param mayWait whether the caller is the lane's own thread, so that giving may wait for the hardware
     * @param limit maximum number of submissions, before the turn of other lanes
     */
    private boolean feed(boolean mayWait, int limit) {
        if (!feeding.ask()) {
            return false;
        }
        boolean gave = false;
        do {
            try {
                gave |= giveAll(mayWait, limit);
            } catch (RuntimeException | Error e) { // out of memory, for example
                if (device.isLost()) { // held submissions may have ended already
                    hardware.wakeWaiter();
                    return gave;
                }
                hardware.fail("stream " + index + " cannot be given work", e);
            }
        } while (feeding.again());
        return gave;
    }

    private boolean giveAll(boolean mayWait, int limit) {
        int given = 0;
        for (Held next; given < limit && !stopped && !stuck && (next = held.peek()) != null; ) {
            IreeException cause = hardware.failure();
            if (cause != null) {
                held.remove();
                begun = null;
                drop(next, cause);
                given++;
                continue;
            }
            DriverCommands all = next.submission.commands();
            GpuCommands commands = all instanceof GpuCommands own ? own : null;
            GroupCall launch = all instanceof GroupCall own ? own : null;
            int waits = begun == null ? next.submission.waitCount() : 0;
            int left = begun == null ? commands == null ? 0 : commands.count() : rest;
            boolean inParts = commands != null && !commands.needsHost() && (begun != null || waits + left >= window);
            int part = inParts ? Math.min(left, Math.max(1, window / 2)) : left;
            int count = waits + part + 1;
            int before = underWay.get();
            if (before > 0 && before + count > window) {
                break; // GPU-4: the thread continues once there is room
            }
            if (begun == null && !awaited.find(next.submission)) {
                break;
            }
            if (!mayWait && (count > window || launch != null || commands != null && commands.needsHost())) {
                awaited.forget();
                due = true;
                wake();
                break;
            }
            if (begun == null) {
                begun = new Held(next.submission.due(), next.event); // SCHED-8: all awaited submissions were given
                rest = left;
                position = 0;
            }
            boolean runs = begun.submission.commands() != null;
            if (give(begun, runs ? commands : null, runs ? launch : null, runs ? part : rest, count)) {
                held.remove();
                begun = null;
            }
            given++;
        }
        if (given > 0) {
            wake();
            timeline.changed();
        }
        return given > 0;
    }

    /**
     * Gives a submission, or the next part of its commands, and returns whether that was all.
     *
     * @param part commands of the part
     * @param count commands under way by the part, waits and event included
     */
    private boolean give(Held next, @Nullable GpuCommands commands, @Nullable GroupCall launch, int part, int count) {
        boolean isLast = part == rest;
        Event event = next.event;
        underWay.addAndGet(count);
        stuck = true;
        try {
            words.clear();
            awaited.addTo(words);
            if (commands != null && !commands.needsHost()) {
                position = words.call(commands.given(), position, part);
                rest -= part;
            }
            if (!isLast) {
                event = events.take();
            }
            if (launch != null) {
                device.run(stream, words.segment());
                launch.meet(this::lookOrGiveUp);
                record(event);
            } else {
                words.record(event.handle);
                if (commands == null || !commands.needsHost()) {
                    device.run(stream, words.segment());
                } else {
                    runToEnd(event); // the driver may block this thread for preceding commands
                    commands.giveInSteps(this);
                    record(event);
                }
            }
        } catch (RuntimeException | Error e) {
            if (event != next.event) {
                events.release(event);
            }
            isLast = true;
            event = next.event;
            refused(next, e);
        }
        awaited.forget();
        long ticket = next.submission.ticket();
        synchronized (points) {
            points.add(isLast ? ticket : ticket - 1, event, count);
        }
        stuck = false;
        return isLast;
    }

    /** Fails a submission taken in part by the driver. The ticket is reached after this part and the awaited events. */
    private void refused(Held next, Throwable thrown) {
        next.submission.fail(
                thrown instanceof IreeException cause
                        ? cause
                        : IreeException.of(
                                StatusCode.INTERNAL,
                                "%s on stream %d of device '%s' failed: %s"
                                        .formatted(next.submission.name(), index, hardware.id(), thrown),
                                thrown));
        if (device.isLost()) {
            hardware.wakeWaiter();
            return;
        }
        if (next.submission.commands() instanceof GpuCommands commands) {
            commands.refuseGraph();
        }
        words.clear();
        awaited.addTo(words); // the driver may not have processed these waits
        words.record(next.event.handle);
        try {
            device.run(stream, words.segment());
        } catch (IreeException e) {
            if (!device.isLost()) {
                throw e;
            }
            hardware.wakeWaiter(); // lost by this run
        }
    }

    /** Fails a submission that will not be given. The ticket is reached after the end of the submissions given before. */
    private void drop(Held next, IreeException cause) {
        next.submission.fail(cause);
        events.release(next.event);
        long ticket = next.submission.ticket();
        synchronized (points) {
            Event last = points.last();
            if (last != null) {
                events.retain(last);
                points.add(ticket, last, 0);
                return;
            }
        }
        timeline.raise(ticket);
    }

    private void record(Event event) {
        words.clear();
        words.record(event.handle);
        device.run(stream, words.segment());
    }

    /** On the lane's thread: gives commands, and waits for the end of the commands; reports earlier submissions. */
    void runToEnd(GpuWords some) {
        Event event = events.take();
        try {
            words.clear();
            words.call(some);
            words.record(event.handle);
            runToEnd(event);
        } finally {
            events.release(event);
        }
    }

    private void runToEnd(Event last) {
        device.run(stream, words.segment());
        while (awaitUnderWay()) {
            // the next submission
        }
        device.awaitEvent(last.handle, SPIN_NANOS);
    }

    /** On the lane's thread: gives commands. */
    void run(GpuWords some) {
        words.clear();
        words.call(some);
        device.run(stream, words.segment());
    }

    // ---- Waiting.

    /** Makes the thread look: GPU-5. */
    void wake() {
        doorbell.ring(thread);
    }

    private void run() {
        for (doorbell.clear(); !stopped; doorbell.clear()) {
            try {
                if (!awaitFirst()) {
                    doorbell.await();
                }
                if (linger > 0) {
                    attend();
                }
            } catch (RuntimeException | Error e) {
                if (device.isLost()) {
                    hardware.wakeWaiter(); // the waiter reports the loss
                    return;
                }
                hardware.fail("events of stream " + index + " cannot be waited for", e);
                LockSupport.parkNanos(PAUSE_NANOS); // waiting may succeed later
            }
        }
    }

    /** Reports ended submissions, and gives submissions of all lanes as the giver, until there was nothing to do for a while. */
    private void attend() {
        attended = true;
        try {
            for (long last = System.nanoTime(); !stopped && System.nanoTime() - last < linger; ) {
                doorbell.clear();
                boolean gave = hardware.tryBeGiver(this) && hardware.feedLanes(TURN);
                if (due) {
                    due = false;
                    hardware.endGiver(this); // this thread may have to wait for work of other lanes
                    gave |= feed(true, Integer.MAX_VALUE);
                }
                if (look() || gave) {
                    last = System.nanoTime();
                } else {
                    Thread.onSpinWait();
                }
            }
        } finally {
            attended = false;
            hardware.endGiver(this);
        }
    }

    /** Waits for the oldest submission and removes ended submissions; returns false when nothing is in flight. */
    private boolean awaitFirst() {
        if (awaitUnderWay()) {
            if (!held.isEmpty() && underWay.get() <= window / 2) {
                feed(true, Integer.MAX_VALUE);
            }
            return true;
        }
        if (held.isEmpty()) {
            return false;
        }
        feed(true, Integer.MAX_VALUE);
        synchronized (points) {
            return !points.isEmpty();
        }
    }

    private boolean awaitUnderWay() {
        Event first;
        synchronized (points) {
            first = points.first();
        }
        if (first == null) {
            return false;
        }
        device.awaitEvent(first.handle, linger > 0 ? 0 : SPIN_NANOS); // only this thread removes the event
        long ticket = removeFirst();
        try {
            while (isFirstOver()) {
                ticket = removeFirst();
            }
        } finally {
            timeline.raise(ticket);
        }
        return true;
    }

    private boolean isFirstOver() {
        Event first;
        synchronized (points) {
            first = points.first();
        }
        return first != null && device.isComplete(first.handle);
    }

    private void lookOrGiveUp() {
        hardware.checkTakesWork();
        look();
    }

    /** On the lane's thread: reports ended submissions; returns whether there were any. */
    private boolean look() {
        long ticket = 0;
        try {
            while (isFirstOver()) {
                ticket = removeFirst();
            }
        } finally {
            if (ticket > 0) {
                timeline.raise(ticket);
            }
        }
        return ticket > 0;
    }

    private long removeFirst() {
        long ticket;
        int count;
        Event event;
        synchronized (points) {
            ticket = points.firstTicket();
            count = points.firstCommands();
            event = points.remove();
            lastSeen = Math.max(lastSeen, ticket);
        }
        underWay.addAndGet(-count);
        if (event != null) {
            events.release(event);
        }
        return ticket;
    }

    /** Ends the thread. Nothing is in flight, or the device is lost. */
    void stop() {
        stopped = true;
        boolean interrupted = false;
        while (thread.isAlive()) {
            try {
                wake();
                thread.join(1000);
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    /** Releases the stream. All lanes have stopped: the threads of lanes feed the streams of other lanes. */
    void close() {
        for (Held next; (next = held.poll()) != null; ) {
            events.release(next.event);
        }
        synchronized (points) {
            while (!points.isEmpty()) {
                Event event = points.remove();
                if (event != null) {
                    events.release(event);
                }
            }
        }
        device.releaseStream(stream);
        timeline.close();
    }
}
