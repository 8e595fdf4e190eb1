package io.github.iree4j.hal.stream;

import io.github.iree4j.hal.collective.Agreement;
import io.github.iree4j.hal.collective.Arrival;
import io.github.iree4j.hal.collective.ChannelGroup;
import io.github.iree4j.hal.collective.CollectiveArrival;
import io.github.iree4j.hal.collective.CollectiveBackend;
import io.github.iree4j.hal.collective.GroupChannel;
import io.github.iree4j.hal.collective.GroupWork;
import io.github.iree4j.hal.collective.Meetings;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The participants of a group on devices with streams, and their meetings. Each meeting is a group call of the driver's
 * library, on a lane of each participant, behind everything issued by the participant's queue before. Meetings are held
 * back until all participants here have joined.
 */
final class StreamGroup implements GroupWork {
    /** The backend of devices able to meet: all devices of a single library. */
    record Backend(StreamCollectives library) implements CollectiveBackend {
        @Override
        public GroupWork begin(ChannelGroup group) {
            return new StreamGroup(group, library);
        }

        @Override
        public boolean spansProcesses(String id) {
            return library.isId(id);
        }
    }

    /*
     * STREAM-8: group calls reach the lanes of all participants in the same order: the order of launch under the lock
     * of the group. Each lane takes a part of a call only together with the other lanes. Participants in other
     * processes see the order of tickets.
     */
    private final ChannelGroup group;
    private final StreamCollectives library;
    private final Object idLock = new Object();
    private @Nullable String id; // guarded by idLock

    // Guarded by this.
    private final Map<Integer, Member> members = new HashMap<>(); // by rank
    private final List<List<Meetings.Meeting>> waiting = new ArrayList<>();
    // waiting meetings of a group spanning processes, by number
    private final TreeMap<Long, Meetings.Meeting> inTurn = new TreeMap<>();
    private final Set<Launched> underWay = new LinkedHashSet<>();
    private int joined;
    private long nextNumber;
    private @Nullable IreeException failure;

    private StreamGroup(ChannelGroup group, StreamCollectives library) {
        this.group = group;
        this.library = library;
    }

    /** A participant in this process. */
    private static final class Member {
        final StreamDevice device;
        final int rank;

        @Nullable
        Communicator communicator;

        long tickets; // number of tickets of the lane
        int runs; // number of runs in flight
        boolean left;

        Member(StreamDevice device, int rank) {
            this.device = device;
            this.rank = rank;
        }

        Communicator communicator() {
            Communicator own = communicator;
            if (own == null) {
                throw new IllegalStateException("participant " + rank + " has no communicator");
            }
            return own;
        }
    }

    private String id() {
        synchronized (idLock) {
            String own = id;
            if (own == null) {
                own = group.spansProcesses() ? group.name().id() : library.createId();
                id = own;
            }
            return own;
        }
    }

    /** Begins to join the group; the channel has its rank. */
    synchronized void add(StreamDevice device, GroupChannel channel) {
        Member member = new Member(device, channel.rank());
        member.communicator = library.communicators()
                .join(library, device.driver(), this::id, member.rank, group.count(), cause -> changed(member, cause));
        members.put(member.rank, member);
        if (failure != null) {
            member.communicator.abort();
        }
    }

    private void changed(Member member, @Nullable IreeException cause) {
        if (cause != null) {
            group.fail(describe(member.rank, cause));
            return;
        }
        synchronized (this) {
            joined++;
        }
        launchReady();
    }

    private IreeException describe(int rank, IreeException cause) {
        String doing;
        synchronized (this) {
            doing = underWay.isEmpty() ? "" : " in " + underWay.iterator().next();
        }
        return IreeException.of(
                cause.code(),
                "participant %d of %d of a channel failed%s: %s"
                        .formatted(rank, group.count(), doing, cause.getMessage()),
                cause);
    }

    /** Removes a closed channel whose work has ended or failed. */
    void remove(int rank) {
        Member member;
        boolean busy;
        synchronized (this) {
            member = members.get(rank);
            if (member == null) {
                return;
            }
            member.left = true;
            busy = member.runs > 0;
        }
        if (busy) {
            member.communicator().abort();
        } else {
            member.communicator().close();
        }
    }

    @Override
    public void hold(List<Meetings.Meeting> meetings) {
        for (Meetings.Meeting each : meetings) {
            if (!group.spansProcesses()) { // otherwise the library detects a disagreement, or hangs
                Agreement.of(each);
            }
        }
        IreeException cause;
        synchronized (this) {
            cause = failure;
            if (cause == null && group.spansProcesses()) {
                meetings.forEach(each -> inTurn.put(each.number(), each));
            } else if (cause == null) {
                waiting.add(meetings);
            }
        }
        if (cause != null) {
            throw cause;
        }
        launchReady();
    }

    private void launchReady() {
        List<Launched> launched = new ArrayList<>();
        synchronized (this) {
            if (failure != null || joined < (group.spansProcesses() ? 1 : group.count())) {
                return;
            }
            List<Meetings.Meeting> turn = new ArrayList<>(0);
            for (Meetings.Meeting next; (next = inTurn.remove(nextNumber)) != null; nextNumber++) {
                turn.add(next);
            }
            if (!turn.isEmpty()) {
                waiting.add(turn);
            }
            for (List<Meetings.Meeting> each : waiting) {
                launched.add(launch(each));
            }
            waiting.clear();
        }
        launched.forEach(Launched::watch);
    }

    /** STREAM-8: passes a group call to the lanes; under the lock. */
    private Launched launch(List<Meetings.Meeting> meetings) {
        Launched launched = new Launched(meetings);
        TreeMap<Integer, List<StreamArrival>> byRank = new TreeMap<>();
        for (Meetings.Meeting meeting : meetings) {
            for (Arrival each : meeting.arrivals()) {
                StreamArrival own = (StreamArrival) each;
                byRank.computeIfAbsent(own.rank(), rank -> new ArrayList<>()).add(own);
            }
        }
        underWay.add(launched);
        launched.left = byRank.size();
        List<Member> parties = byRank.keySet().stream().map(members::get).toList();
        GroupCall together;
        try {
            List<CollectiveCall> calls = new ArrayList<>();
            parties.forEach(each -> Objects.requireNonNull(byRank.get(each.rank))
                    .forEach(one -> calls.add(one.call(each.communicator()))));
            together = new GroupCall(
                    library, parties.stream().map(Member::communicator).toList(), calls);
        } catch (RuntimeException | Error e) {
            parties.forEach(each -> launched.refuse(each, e));
            return launched;
        }
        for (int i = 0; i < parties.size(); i++) {
            Member member = parties.get(i);
            List<StreamArrival> arrivals = Objects.requireNonNull(byRank.get(member.rank));
            member.runs++;
            CollectiveRun run = null;
            try {
                TimelineWaits waits = new TimelineWaits();
                arrivals.forEach(each -> each.addTo(waits));
                run = new CollectiveRun(
                        member.device,
                        member.communicator().lane(),
                        ++member.tickets,
                        together,
                        cause -> launched.over(member, cause));
                run.submit(waits);
                launched.runs.add(run);
                launched.arrivals.add(arrivals);
            } catch (RuntimeException | Error e) {
                CollectiveRun made = run;
                if (made == null) {
                    launched.refuse(member, e);
                } else {
                    launched.refusals.add(() -> made.end(cause(e)));
                }
            }
        }
        return launched;
    }

    private static IreeException cause(Throwable thrown) {
        return thrown instanceof IreeException own
                ? own
                : IreeException.of(StatusCode.INTERNAL, "collective failed: " + thrown, thrown);
    }

    /** A group call. */
    private final class Launched {
        final List<Meetings.Meeting> meetings;
        final List<CollectiveRun> runs = new ArrayList<>();
        final List<List<StreamArrival>> arrivals = new ArrayList<>(); // arrivals of each run
        final List<Runnable> refusals = new ArrayList<>(0);
        final List<StreamDevice> entries =
                // devices whose uses end with the last part; guarded by the group, like the next field
                new ArrayList<>();
        int left;

        @Nullable
        IreeException first;

        Launched(List<Meetings.Meeting> meetings) {
            this.meetings = meetings;
        }

        void refuse(Member member, Throwable thrown) {
            refusals.add(() -> ended(member, cause(thrown), false));
        }

        /** Reports refusals and watches the runs; with no lock held. */
        void watch() {
            refusals.forEach(Runnable::run);
            if (refusals.isEmpty() && !group.spansProcesses()) { // otherwise participants elsewhere may delay waiters
                for (int i = 0; i < runs.size(); i++) {
                    ForeignPoint point = runs.get(i).point();
                    arrivals.get(i).forEach(each -> each.issued(point));
                }
            }
            runs.forEach(CollectiveRun::watch);
        }

        /**
         * Handles the end of a part on its lane. A refused part may have been submitted partially: the library must
         * first let go of the part.
         */
        void over(Member member, @Nullable IreeException cause) {
            if (cause == null || member.device.driver().isLost()) {
                ended(member, cause, true);
                return;
            }
            group.fail(describe(member.rank, cause)); // other participants may wait for this part
            member.communicator().whenEnded(() -> drain(member, cause));
        }

        /** Waits for the lane's remaining work, after the library has let go. */
        private void drain(Member member, IreeException cause) {
            CollectiveRun last;
            synchronized (StreamGroup.this) {
                last = new CollectiveRun(
                        member.device,
                        member.communicator().lane(),
                        ++member.tickets,
                        null,
                        ignored -> ended(member, cause, true));
            }
            IreeException refusal = ChannelGroup.attempt(() -> last.submit(TimelineWaits.NONE));
            if (refusal == null) {
                last.watch();
            } else {
                last.end(refusal);
            }
        }

        /**
         * Ends a part after the last use of the part's memory. The memory of all parts, and the devices, stay until the
         * last part has ended.
         */
        private void ended(Member member, @Nullable IreeException cause, boolean entered) {
            if (cause != null) {
                group.fail(describe(member.rank, cause));
            }
            boolean last;
            boolean closes;
            IreeException outcome;
            IreeException failed = group.failure(); // set before failed() is called, possibly by another thread
            synchronized (StreamGroup.this) {
                first = first == null ? failed : first;
                outcome = first;
                last = --left == 0;
                if (entered) {
                    entries.add(member.device);
                }
                if (last) {
                    underWay.remove(this);
                }
                closes = --member.runs == 0 && member.left;
            }
            if (closes) {
                member.communicator().close();
            }
            if (last) {
                meetings.forEach(each -> group.over(each, outcome));
                entries.forEach(StreamDevice::exit);
            }
        }

        void notifyFailed(IreeException cause) {
            for (Meetings.Meeting each : meetings) {
                each.arrivals().forEach(arrival -> ((CollectiveArrival) arrival).notifyFailed(cause));
            }
        }

        @Override
        public String toString() {
            return ((CollectiveArrival) meetings.getFirst().arrivals().getFirst()).operation()
                    + (meetings.size() > 1 ? " and " + (meetings.size() - 1) + " more" : "");
        }
    }

    @Override
    public void failed(IreeException cause) {
        List<Meetings.Meeting> held = new ArrayList<>();
        List<Launched> begun;
        List<Member> all;
        synchronized (this) {
            failure = cause;
            waiting.forEach(held::addAll);
            waiting.clear();
            held.addAll(inTurn.values());
            inTurn.clear();
            begun = List.copyOf(underWay);
            all = List.copyOf(members.values());
        }
        all.forEach(each -> each.communicator().abort());
        held.forEach(each -> group.over(each, cause));
        begun.forEach(each -> each.notifyFailed(cause));
    }
}
