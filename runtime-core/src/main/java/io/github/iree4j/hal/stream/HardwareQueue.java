package io.github.iree4j.hal.stream;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A queue of the driver, used by one or several streams, and its timeline: every submission signals the next value, its <em>ticket</em>.
 * What is submitted here is submitted under the object's lock, which also guards the streams.
 */
final class HardwareQueue {
    /*
     * STREAM-1: a stream that is alone on its queue, on a device where all are, has the tickets of what it was issued before that is
     * submitted (reserve()), so that other queues can wait for them; it submits in that order. Otherwise tickets are given when
     * something is submitted, and nobody can wait for what is not: a queue that waits never keeps back what it waits for.
     */
    /** How much one call gives the driver at most, so that the first of many begins soon. A guess, not measured. */
    private static final int MOST_AT_ONCE = 256;

    final Lane lane;
    final boolean reserves;
    final DriverTimeline timeline;
    private final StreamDriver driver;
    final List<HardwareStream> streams = new ArrayList<>(); // before anything is issued

    // Guarded by this.
    private long tickets; // the last that was given
    private long reached; // as far as we have seen
    private final List<Submission> gathered = new ArrayList<>(); // to be given to the driver together

    HardwareQueue(StreamDriver driver, Lane lane, boolean reserves) {
        this.driver = driver;
        this.lane = lane;
        this.reserves = reserves;
        this.timeline = lane.timeline();
    }

    /** Under the lock: takes the next ticket for something that is submitted, or signalled, later. */
    long reserve() {
        return ++tickets;
    }

    /** Under the lock: the last ticket that was given or reserved. */
    long tickets() {
        return tickets;
    }

    /** Under the lock: how far the hardware is, as far as we have seen. */
    long reached() {
        return reached;
    }

    /**
     * Under the lock: puts something with what is submitted by the next {@link #flush}.
     *
     * @param waits what to wait for
     * @param work what to run; null for nothing
     * @param reserved its ticket; 0 for the next
     * @param entry told when the driver refuses it; null for nothing to be told
     * @return its ticket
     */
    long submit(TimelineWaits waits, @Nullable StreamWork work, long reserved, @Nullable StreamEntry entry) {
        if (gathered.size() == MOST_AT_ONCE) {
            flush();
        }
        long ticket = reserved == 0 ? ++tickets : reserved;
        gathered.add(new Submission(waits, work, ticket, entry));
        return ticket;
    }

    /** Under the lock: gives the driver what was gathered, in one call. */
    void flush() {
        if (gathered.isEmpty()) {
            return;
        }
        List<Submission> all = List.copyOf(gathered);
        gathered.clear();
        IreeException cause = tryGive(all);
        if (cause == null) {
            return;
        }
        if (all.size() == 1) {
            refused(all.getFirst(), cause);
            return;
        }
        for (Submission each : all) { // the driver has taken all or nothing
            IreeException ofOne = tryGive(List.of(each));
            if (ofOne != null) {
                refused(each, ofOne);
            }
        }
    }

    /** Gives the driver submissions; returns why it did not take them. */
    private @Nullable IreeException tryGive(List<Submission> submissions) {
        try {
            lane.submit(submissions);
            return null;
        } catch (IreeException e) {
            return e;
        } catch (RuntimeException | Error e) { // no memory for the words, for example
            return new IreeException(StatusCode.INTERNAL, "submission failed: " + e, e);
        }
    }

    /** The driver does not take something, whose ticket is given: its place is submitted without it. */
    private void refused(Submission submission, IreeException cause) {
        StreamEntry entry = submission.entry();
        if (entry == null) {
            throw cause;
        }
        IreeException without = driver.isLost() ? cause : tryGive(List.of(submission.withoutWork()));
        boolean hasPlace = without == null;
        entry.stream.refused(entry, cause, hasPlace);
    }

    /** Submits nothing but its signal, so that whoever waits for the next ticket looks up. */
    synchronized void nudge() {
        submit(TimelineWaits.NONE, null, 0, null);
        flush();
    }

    /** Under the lock: says on the timeline that everything up to a ticket is over, which the hardware is not going to say. */
    void signal(long ticket) {
        timeline.signal(ticket);
        reached = Math.max(reached, ticket);
    }

    /** The ticket that nothing before was seen to reach. */
    synchronized long next() {
        return reached + 1;
    }

    /** Looks how far the hardware is, and ends what is over; returns how many operations. */
    int look() {
        long now = timeline.value();
        Ended ended = new Ended();
        synchronized (this) {
            if (now > reached) {
                reached = now;
                for (HardwareStream stream : streams) {
                    stream.reached(ended);
                }
            }
        }
        return ended.tell();
    }

    /** Whether the hardware has something to do that it was given. */
    synchronized boolean isBusy() {
        for (HardwareStream stream : streams) {
            if (stream.isHardwareBusy()) {
                return true;
            }
        }
        return false;
    }

    /** Ends everything that the hardware has, which is lost. */
    void abandon(IreeException cause) {
        Ended ended = new Ended();
        synchronized (this) {
            for (HardwareStream stream : streams) {
                stream.abandon(cause, ended);
            }
        }
        ended.tell();
    }
}
