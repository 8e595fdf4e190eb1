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
 * The participants of a group on devices with streams, and their meetings: each is a group call of the driver's library, on a lane of each
 * participant, behind what its queue has issued before. Held back until all participants here have joined.
 */
final class StreamGroup implements GroupWork {
    /** Devices with one library can meet. */
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
     * STREAM-8: group calls reach the lanes of all participants in one order, that of their launch under the lock of the group: each lane takes
     * its part of a call only together with the others. Participants in other processes see the order of tickets.
     */
    private final ChannelGroup group;
    private final StreamCollectives library;
    private final Object idLock = new Object();
    private @Nullable String id; // guarded by idLock

    // Guarded by this.
    private final Map<Integer, Member> members = new HashMap<>(); // by rank
    private final List<List<Meetings.Meeting>> waiting = new ArrayList<>();
    private final TreeMap<Long, Meetings.Meeting> inTurn = new TreeMap<>(); // the same for a group that spans processes
    private final Set<Launched> underWay = new LinkedHashSet<>();
    private int joined;
    private long nextNumber;
    private @Nullable IreeException failure;

    private StreamGroup(ChannelGroup group, StreamCollectives library) {
        this.group = group;
        this.library = library;
    }

    /** A participant here. */
    private static final class Member {
        final StreamDevice device;
        final int rank;

        @Nullable
        Communicator communicator;

        long tickets; // of its lane
        int runs; // under way
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

    /** A channel has its rank: begins to join. */
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
        return new IreeException(
                cause.code(),
                "participant %d of %d of a channel failed%s: %s"
                        .formatted(rank, group.count(), doing, cause.getMessage()),
                cause);
    }

    /** A channel is closed; its work has ended, or failed. */
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
            if (!group.spansProcesses()) { // else the library finds out, or hangs
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

    /** STREAM-8: under the lock, gives the lanes a group call. */
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
                : new IreeException(StatusCode.INTERNAL, "collective failed: " + thrown, thrown);
    }

    /** A group call. */
    private final class Launched {
        final List<Meetings.Meeting> meetings;
        final List<CollectiveRun> runs = new ArrayList<>();
        final List<List<StreamArrival>> arrivals = new ArrayList<>(); // of each
        final List<Runnable> refusals = new ArrayList<>(0);
        final List<StreamDevice> entries =
                new ArrayList<>(); // whose uses end with the last part; guarded by the group, like the next
        int left;

        @Nullable
        IreeException first;

        Launched(List<Meetings.Meeting> meetings) {
            this.meetings = meetings;
        }

        void refuse(Member member, Throwable thrown) {
            refusals.add(() -> ended(member, cause(thrown), false));
        }

        /** With no lock held. */
        void watch() {
            refusals.forEach(Runnable::run);
            if (refusals.isEmpty() && !group.spansProcesses()) { // else others may keep them waiting
                for (int i = 0; i < runs.size(); i++) {
                    ForeignPoint point = runs.get(i).point();
                    arrivals.get(i).forEach(each -> each.issued(point));
                }
            }
            runs.forEach(CollectiveRun::watch);
        }

        /**
         * One part has ended on its lane. One that was refused may have been given in part: the library is to let go of it first.
         */
        void over(Member member, @Nullable IreeException cause) {
            if (cause == null || member.device.driver().isLost()) {
                ended(member, cause, true);
                return;
            }
            group.fail(describe(member.rank, cause)); // the others may wait for it
            member.communicator().whenEnded(() -> drain(member, cause));
        }

        /** The library has let go: waits for what the lane has. */
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

        /** The memory of one part is not used any more; that of all stays until then, and so do the devices. */
        private void ended(Member member, @Nullable IreeException cause, boolean entered) {
            if (cause != null) {
                group.fail(describe(member.rank, cause));
            }
            boolean last;
            boolean closes;
            IreeException outcome;
            IreeException failed = group.failure(); // known before failed() is called, which others may be about to
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

        void tell(IreeException cause) {
            for (Meetings.Meeting each : meetings) {
                each.arrivals().forEach(arrival -> ((CollectiveArrival) arrival).tell(cause));
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
        begun.forEach(each -> each.tell(cause));
    }
}
