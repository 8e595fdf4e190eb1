package io.github.iree4j.hal.collective;

import io.github.iree4j.frontier.CausalDomain;
import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.frontier.MutableFrontier;
import io.github.iree4j.hal.ChannelParams;
import io.github.iree4j.hal.SchedulingDomain;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.IntUnaryOperator;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The participants of collective operations in this process, and their meetings. The last arrival has the
 * {@link GroupWork} do the work for all; no thread blocks. A meeting is an epoch of the group's axis, regardless of the
 * number of participants.
 *
 * <p>A group across processes has a single participant here, meeting the others in the backend's library. So each
 * ticket is for a meeting of a single participant, regardless of kind, in the order of the tickets.
 *
 * <p>GROUP-1: an arrival is notified of the outcome exactly once, by the thread removing the meeting of the arrival
 * from the open meetings under the lock.
 */
public final class ChannelGroup {
    /** Limit on open tickets, to catch a program submitting collectives without other participants. A guess, not measured. */
    private static final int OPEN_LIMIT = 1 << 16;

    private final SchedulingDomain domain;
    private final CollectiveBackend backend;
    private final GroupWork work;
    private final int count;
    private final int here; // participants in this process: all, or one
    private final ChannelParams name;
    private final long axis;
    private final AtomicLong epochs = new AtomicLong();

    private final Object lock = new Object();
    // Everything below is guarded by lock.
    private final Meetings collectives;
    private final Meetings splits;
    private final Map<Pair, Meetings> transfers = new HashMap<>();
    private final BitSet joined = new BitSet();
    private final BitSet left = new BitSet();
    private int open; // open tickets
    private @Nullable IreeException failure; // set when the group has failed

    ChannelGroup(SchedulingDomain domain, CollectiveBackend backend, int count) {
        this(domain, backend, count, count, ChannelParams.of(ChannelParams.DEFAULT, count));
    }

    private ChannelGroup(SchedulingDomain domain, CollectiveBackend backend, int count, int here, ChannelParams name) {
        this.domain = domain;
        this.backend = backend;
        this.count = count;
        this.here = here;
        this.name = name;
        this.axis = domain.axes().allocate(CausalDomain.COLLECTIVE);
        domain.tracker().register(axis);
        this.collectives = new Meetings(Meetings.Kind.COLLECTIVE, here);
        this.splits = new Meetings(Meetings.Kind.SPLIT, here);
        this.work = backend.begin(this);
    }

    /** Creates a group whose other participants may be in other processes. */
    static ChannelGroup across(SchedulingDomain domain, CollectiveBackend backend, int count, ChannelParams params) {
        if (params.rank() == ChannelParams.DEFAULT) {
            throw IreeException.of(
                    StatusCode.INVALID_ARGUMENT,
                    "a participant of a channel of %d that spans processes needs a rank".formatted(count));
        }
        ChannelGroup group = new ChannelGroup(domain, backend, count, 1, params);
        group.join(params.rank());
        return group;
    }

    /**
     * Returns the number of participants.
     *
     * @return the count
     */
    public int count() {
        return count;
    }

    /**
     * Returns the name of a group across processes.
     *
     * @return parameters of the group; parameters of the unnamed group for other groups
     */
    public ChannelParams name() {
        return name;
    }

    /**
     * Returns whether other participants may be in other processes.
     *
     * @return true for a group with one participant here
     */
    public boolean spansProcesses() {
        return here < count;
    }

    CollectiveBackend backend() {
        return backend;
    }

    /**
     * Returns the worker of the group.
     *
     * @return the result of {@link CollectiveBackend#begin}
     */
    public GroupWork work() {
        return work;
    }

    /**
     * Returns the failure of the group.
     *
     * @return the cause; null without a failure
     */
    public @Nullable IreeException failure() {
        synchronized (lock) {
            return failure;
        }
    }

    /**
     * Takes a rank.
     *
     * @param wanted the rank, or -1 for the lowest free rank
     * @return the rank; -1 when the rank is taken
     */
    int join(int wanted) {
        synchronized (lock) {
            int rank = wanted < 0 ? joined.nextClearBit(0) : wanted;
            if (rank >= count || joined.get(rank)) {
                return -1;
            }
            joined.set(rank);
            return rank;
        }
    }

    boolean isComplete() {
        synchronized (lock) {
            return joined.cardinality() == here;
        }
    }

    /**
     * Gives up a rank; the participant takes no further part. Fails the group if a participant waits for the rank, or
     * the group was never complete.
     */
    void leave(int rank) {
        boolean missed;
        boolean last;
        synchronized (lock) {
            if (failure != null) {
                return;
            }
            left.set(rank);
            missed = joined.cardinality() < here || collectives.isAnyHopeless(rank) || splits.isAnyHopeless(rank);
            for (Map.Entry<Pair, Meetings> each : transfers.entrySet()) {
                int party = each.getKey().party(rank);
                missed |= party >= 0 && each.getValue().isAnyHopeless(party);
            }
            last = left.cardinality() == here;
        }
        if (missed) {
            fail(gone(rank));
        } else if (last) {
            domain.tracker().retire(axis);
        }
    }

    private IreeException gone(int rank) {
        return IreeException.of(
                StatusCode.ABORTED,
                "participant %d of %d closed its channel while others count on it".formatted(rank, count));
    }

    /** Admits a participant to the next collective with all others. */
    Meetings.Ticket collective(int rank) {
        return ticket(() -> collectives, spansProcesses() ? 0 : rank, gone -> gone);
    }

    /** Admits a participant to the next split. */
    Meetings.Ticket split(int rank) {
        return ticket(() -> splits, spansProcesses() ? 0 : rank, gone -> gone);
    }

    /** Admits a participant to the next transfer with another participant, as the sender or as the receiver. */
    Meetings.Ticket transfer(int from, int to, boolean sends) {
        if (spansProcesses()) {
            return collective(sends ? from : to);
        }
        Pair pair = new Pair(from, to);
        return ticket(
                () -> transfers.computeIfAbsent(pair, p -> new Meetings(Meetings.Kind.TRANSFER, 2)),
                sends ? 0 : 1,
                pair::party);
    }

    /** Sender and receiver. */
    private record Pair(int from, int to) {
        /** Returns the party of a rank, -1 for none. A rank sending to itself is both parties; only called once the rank has left. */
        int party(int rank) {
            return rank == from ? 0 : rank == to ? 1 : -1;
        }
    }

    private Meetings.Ticket ticket(Supplier<Meetings> sequence, int party, IntUnaryOperator partyOf) {
        IreeException hopeless;
        synchronized (lock) {
            if (failure != null) {
                throw failure;
            }
            if (open >= OPEN_LIMIT) {
                throw IreeException.of(
                        StatusCode.RESOURCE_EXHAUSTED,
                        "%d collectives of a channel wait for other participants, the limit; wait for some of them"
                                .formatted(open));
            }
            Meetings meetings = sequence.get();
            Meetings.Ticket ticket = meetings.ticket(party);
            int missing = -1;
            for (int gone = left.nextSetBit(0); gone >= 0 && missing < 0; gone = left.nextSetBit(gone + 1)) {
                int other = partyOf.applyAsInt(gone);
                if (other >= 0 && meetings.isHopeless(ticket.meeting().number, other)) {
                    missing = gone;
                }
            }
            if (missing < 0) {
                open++;
                return ticket;
            }
            hopeless = gone(missing);
        }
        fail(hopeless);
        throw hopeless;
    }

    /** Adds the arrival of a participant. After the last arrival, the work begins before this call returns. */
    void arrive(Meetings.Ticket ticket, Arrival arrival) {
        arrive(List.of(ticket), List.of(arrival));
    }

    /** Adds arrivals at several meetings, beginning together. */
    void arrive(List<Meetings.Ticket> tickets, List<? extends Arrival> all) {
        List<Meetings.Meeting> complete = new ArrayList<>(tickets.size());
        IreeException failed;
        synchronized (lock) {
            failed = failure;
            for (int i = 0; failed == null && i < tickets.size(); i++) {
                Meetings.Meeting meeting = tickets.get(i).meeting();
                meeting.arrivals[tickets.get(i).party()] = all.get(i);
                if (++meeting.arrived < meeting.arrivals.length) {
                    continue;
                }
                meeting.sequence.close(meeting); // GROUP-1
                open -= meeting.arrivals.length;
                complete.add(meeting);
            }
        }
        if (failed != null) {
            all.forEach(arrival -> arrival.over(failed, Frontier.EMPTY));
        } else if (!complete.isEmpty()) {
            hold(complete);
        }
    }

    private void hold(List<Meetings.Meeting> complete) {
        List<Meetings.Meeting> splitting = new ArrayList<>(0);
        List<Meetings.Meeting> working = new ArrayList<>(complete.size());
        complete.forEach(each -> (each.kind() == Meetings.Kind.SPLIT ? splitting : working).add(each));
        for (Meetings.Meeting each : splitting) {
            over(each, attempt(() -> GroupChannel.form(domain, backend, each.arrivals())));
        }
        if (!working.isEmpty()) {
            IreeException cause = attempt(() -> work.hold(working));
            if (cause != null) { // no meeting has begun
                working.forEach(each -> over(each, cause));
            }
        }
    }

    /**
     * Does some of the work.
     *
     * @param step the work
     * @return the failure; null on success
     */
    public static @Nullable IreeException attempt(Runnable step) {
        try {
            step.run();
            return null;
        } catch (IreeException e) {
            return e;
        } catch (RuntimeException | Error e) {
            return IreeException.of(StatusCode.INTERNAL, "collective failed: " + e, e);
        }
    }

    /**
     * Ends a meeting after the work: notifies the participants. Once for each meeting.
     *
     * @param meeting a meeting given to {@link GroupWork#hold}
     * @param cause the failure of the meeting, and with it of the group; null on success
     */
    public void over(Meetings.Meeting meeting, @Nullable IreeException cause) {
        List<Arrival> arrivals = meeting.arrivals();
        if (cause != null) {
            fail(cause);
            arrivals.forEach(each -> each.over(cause, Frontier.EMPTY));
            return;
        }
        MutableFrontier gathered = new MutableFrontier(domain.frontierCapacity());
        for (Arrival each : arrivals) {
            gathered.merge(each.frontier, domain.tracker());
        }
        // As on an unordered queue, the epoch is assigned on completion, so epochs follow the order of completion.
        long epoch = epochs.incrementAndGet();
        Frontier outcome = gathered.produce(axis, epoch, domain.tracker());
        domain.tracker().advance(axis, epoch);
        arrivals.forEach(each -> each.over(null, outcome));
    }

    /**
     * Fails the group: current and later arrivals get the cause. The first cause stays.
     *
     * @param cause the cause
     */
    public void fail(IreeException cause) {
        List<Arrival> waiting = new ArrayList<>();
        domain.tracker().fail(axis, cause); // before arriving participants are notified
        IreeException recorded = domain.tracker().failure(axis);
        IreeException first = recorded == null ? cause : recorded;
        synchronized (lock) {
            if (failure != null) {
                return;
            }
            failure = first;
            takeArrivals(collectives, waiting); // GROUP-1
            takeArrivals(splits, waiting);
            transfers.values().forEach(each -> takeArrivals(each, waiting));
        }
        ChannelRegistry.ended(this);
        waiting.forEach(each -> each.over(first, Frontier.EMPTY));
        work.failed(first);
    }

    private static void takeArrivals(Meetings meetings, List<Arrival> waiting) {
        for (Meetings.Meeting meeting : meetings.open()) {
            for (Arrival each : meeting.arrivals) {
                if (each != null) {
                    waiting.add(each);
                }
            }
        }
        meetings.clear();
    }
}
