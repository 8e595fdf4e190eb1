package io.github.iree4j.hal.local;

import io.github.iree4j.frontier.CausalDomain;
import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.frontier.MutableFrontier;
import io.github.iree4j.hal.SchedulingDomain;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.IntUnaryOperator;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The participants of collective operations in this process, and their meetings. The last arrival does the work for all, on its
 * thread; no thread blocks. A meeting is one epoch of the group's axis, whatever the number of participants.
 *
 * <p>GROUP-1: an arrival is told the outcome exactly once: the thread that removes its meeting from the open ones, under the lock, notifies it.
 */
final class ChannelGroup {
    /** Limit on open tickets, which catches a program that submits collectives which no participant joins. A guess, not measured. */
    private static final int OPEN_LIMIT = 1 << 16;

    private final SchedulingDomain domain;
    private final int count;
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

    ChannelGroup(SchedulingDomain domain, int count) {
        this.domain = domain;
        this.count = count;
        this.axis = domain.axes().allocate(CausalDomain.COLLECTIVE);
        domain.tracker().register(axis);
        this.collectives = new Meetings(Meetings.Kind.COLLECTIVE, count);
        this.splits = new Meetings(Meetings.Kind.SPLIT, count);
    }

    int count() {
        return count;
    }

    /**
     * Takes a rank.
     *
     * @param wanted the rank, or -1 for the lowest that is free
     * @return the rank; -1 when it is taken
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
            return joined.cardinality() == count;
        }
    }

    /** Gives up a rank, which takes no further part. Fails the group if a participant waits for it, or the group was never complete. */
    void leave(int rank) {
        boolean missed;
        boolean last;
        synchronized (lock) {
            if (failure != null) {
                return;
            }
            left.set(rank);
            missed = joined.cardinality() < count || collectives.isAnyHopeless(rank) || splits.isAnyHopeless(rank);
            for (Map.Entry<Pair, Meetings> each : transfers.entrySet()) {
                int party = each.getKey().party(rank);
                missed |= party >= 0 && each.getValue().isAnyHopeless(party);
            }
            last = left.cardinality() == count;
        }
        if (missed) {
            fail(gone(rank));
        } else if (last) {
            domain.tracker().retire(axis);
        }
    }

    private IreeException gone(int rank) {
        return new IreeException(
                StatusCode.ABORTED,
                "participant %d of %d closed its channel while others count on it".formatted(rank, count));
    }

    /** Admits a participant to its next collective with all others. */
    Meetings.Ticket collective(int rank) {
        return ticket(() -> collectives, rank, gone -> gone);
    }

    /** Admits a participant to its next split. */
    Meetings.Ticket split(int rank) {
        return ticket(() -> splits, rank, gone -> gone);
    }

    /** Admits a participant to its next transfer with another, as the sender or as the receiver. */
    Meetings.Ticket transfer(int from, int to, boolean sends) {
        Pair pair = new Pair(from, to);
        return ticket(
                () -> transfers.computeIfAbsent(pair, p -> new Meetings(Meetings.Kind.TRANSFER, 2)),
                sends ? 0 : 1,
                pair::party);
    }

    /** Sender and receiver. */
    private record Pair(int from, int to) {
        /** Which party a rank is, -1 for none. A rank that sends to itself is both; only called once it has left. */
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
                throw new IreeException(
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

    /** A participant arrives. If it is the last, the meeting takes place before this returns. */
    void arrive(Meetings.Ticket ticket, Arrival arrival) {
        Meetings.Meeting meeting = ticket.meeting();
        IreeException failed;
        synchronized (lock) {
            failed = failure;
            if (failed == null) {
                meeting.arrivals[ticket.party()] = arrival;
                if (++meeting.arrived < meeting.arrivals.length) {
                    return;
                }
                meeting.sequence.close(meeting); // GROUP-1
                open -= meeting.arrivals.length;
            }
        }
        if (failed != null) {
            arrival.over(failed, Frontier.EMPTY);
        } else {
            hold(meeting);
        }
    }

    private void hold(Meetings.Meeting meeting) {
        List<Arrival> arrivals = new ArrayList<>(meeting.arrivals.length);
        for (Arrival each : meeting.arrivals) {
            arrivals.add(Objects.requireNonNull(each)); // all have arrived
        }
        IreeException cause = work(meeting.sequence.kind, arrivals);
        if (cause != null) {
            fail(cause);
            arrivals.forEach(each -> each.over(cause, Frontier.EMPTY));
            return;
        }
        MutableFrontier gathered = new MutableFrontier(domain.frontierCapacity());
        for (Arrival each : arrivals) {
            gathered.merge(each.frontier, domain.tracker());
        }
        // As on an unordered queue: the epoch is assigned on completion, so epochs follow the order of completion.
        long epoch = epochs.incrementAndGet();
        Frontier outcome = gathered.produce(axis, epoch, domain.tracker());
        domain.tracker().advance(axis, epoch);
        arrivals.forEach(each -> each.over(null, outcome));
    }

    private @Nullable IreeException work(Meetings.Kind kind, List<Arrival> arrivals) {
        try {
            switch (kind) {
                case COLLECTIVE -> CollectiveWork.all(arrivals);
                case TRANSFER -> CollectiveWork.transfer(arrivals);
                case SPLIT -> LocalChannel.form(domain, arrivals);
            }
            return null;
        } catch (IreeException e) {
            return e;
        } catch (RuntimeException | Error e) {
            return new IreeException(StatusCode.INTERNAL, "collective failed: " + e, e);
        }
    }

    /** Fails the group: current and later arrivals get the cause. The first cause stays. */
    void fail(IreeException cause) {
        List<Arrival> waiting = new ArrayList<>();
        synchronized (lock) {
            if (failure != null) {
                return;
            }
            failure = cause;
            takeArrivals(collectives, waiting); // GROUP-1
            takeArrivals(splits, waiting);
            transfers.values().forEach(each -> takeArrivals(each, waiting));
        }
        ChannelRegistry.ended(this);
        domain.tracker().fail(axis, cause);
        waiting.forEach(each -> each.over(cause, Frontier.EMPTY));
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
