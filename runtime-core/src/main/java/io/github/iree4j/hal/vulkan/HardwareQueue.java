package io.github.iree4j.hal.vulkan;

import io.github.iree4j.nativeaccess.VulkanHandle;
import io.github.iree4j.nativeaccess.VulkanTimeline;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A queue of the driver, used by one or several streams, and its timeline: every submission signals the next value, its <em>ticket</em>.
 * What is submitted here is submitted under the object's lock, which also guards the streams.
 */
final class HardwareQueue {
    /*
     * VULKAN-1: a stream that is alone on its queue, on a device where all are, has the tickets of what it was issued before that is
     * submitted (reserve()), so that other queues can wait for them; it submits in that order. Otherwise tickets are given when
     * something is submitted, and nobody can wait for what is not: a queue that waits never keeps back what it waits for.
     */
    private static final int INITIAL_WORDS = 64;

    private static final int WORD = Long.BYTES;

    /** How much one call gives the driver at most, so that the first of many begins soon. A guess, not measured. */
    private static final int MOST_AT_ONCE = 256;

    final int index;
    final int family;
    final boolean reserves;
    final VulkanTimeline timeline;
    private final VulkanHandle device;
    private final ValidationLog messages;
    final List<VulkanStream> streams = new ArrayList<>(); // before anything is issued

    // Guarded by this.
    private long tickets; // the last that was given
    private long reached; // as far as we have seen
    private final List<Submission> gathered = new ArrayList<>(); // to be given to the driver together
    private MemorySegment words = words(INITIAL_WORDS);

    HardwareQueue(VulkanHandle device, int index, int family, boolean reserves, ValidationLog messages) {
        this.messages = messages;
        this.device = device;
        this.index = index;
        this.family = family;
        this.reserves = reserves;
        this.timeline = device.createTimeline(0);
    }

    private static MemorySegment words(long count) {
        return Arena.ofAuto().allocate(count * WORD, WORD);
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
    long submit(NativeWaits waits, @Nullable VulkanWork work, long reserved, @Nullable StreamEntry entry) {
        if (gathered.size() == MOST_AT_ONCE) {
            flush();
        }
        long ticket = reserved == 0 ? ++tickets : reserved;
        gathered.add(new Submission(waits, work, ticket, entry));
        return ticket;
    }

    private record Submission(
            NativeWaits waits,
            @Nullable VulkanWork work,
            long ticket,
            @Nullable StreamEntry entry) {
        long words() {
            return 3 + 2L * waits.count() + 2 + 1;
        }

        Submission withoutWork() {
            return new Submission(waits, null, ticket, entry);
        }
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
            give(submissions);
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
        IreeException without = device.isLost() ? cause : tryGive(List.of(submission.withoutWork()));
        boolean hasPlace = without == null;
        entry.stream.refused(entry, cause, hasPlace);
    }

    private void give(List<Submission> submissions) {
        long needed = submissions.stream().mapToLong(Submission::words).sum();
        if (words.byteSize() < needed * WORD) {
            words = words(needed * 2);
        }
        int at = 0;
        for (Submission each : submissions) {
            NativeWaits waits = each.waits();
            int count = waits.count();
            at = put(at, count);
            at = put(at, 1);
            at = put(at, each.work() == null ? 0 : 1);
            for (int i = 0; i < count; i++) {
                at = put(at, waits.timeline(i).handle());
                at = put(at, waits.value(i));
            }
            at = put(at, timeline.handle());
            at = put(at, each.ticket());
            if (each.work() != null) {
                at = put(at, each.work().commands().handle());
            }
        }
        try {
            device.submit(index, words.asSlice(0, (long) at * WORD));
        } finally {
            messages.look("submitting", describe(submissions));
        }
    }

    private static String describe(List<Submission> submissions) {
        VulkanWork work = submissions.getFirst().work();
        String first = work == null ? "a wait" : work.name();
        return submissions.size() == 1 ? first : first + " and " + (submissions.size() - 1) + " more";
    }

    private int put(int at, long word) {
        words.setAtIndex(ValueLayout.JAVA_LONG, at, word);
        return at + 1;
    }

    /** Submits nothing but its signal, so that whoever waits for the next ticket looks up. */
    synchronized void nudge() {
        submit(NativeWaits.NONE, null, 0, null);
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
                for (VulkanStream stream : streams) {
                    stream.reached(ended);
                }
            }
        }
        return ended.tell();
    }

    /** Gives back what it holds. Nothing is under way. */
    void close() {
        timeline.close();
    }

    /** Whether the hardware has something to do that it was given. */
    synchronized boolean isBusy() {
        for (VulkanStream stream : streams) {
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
            for (VulkanStream stream : streams) {
                stream.abandon(cause, ended);
            }
        }
        ended.tell();
    }
}
