package io.github.iree4j.cluster.membership;

import io.github.iree4j.api.NotForApplications;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A {@link ClusterMembership} by signs of life between all pairs of nodes, without a coordinator: a node is a member
 * after sending a sign of life to this node, or answering one, and until the node is silent for too long or leaves. The
 * members mentioned by a member are no members of this node's view, but addresses for this node to look at.
 *
 * <p>Of two members, the older sends and the younger answers. A younger member not hearing from the older sends, too.
 */
@NotForApplications
public final class HeartbeatMembership implements ClusterMembership {
    /*
     * All state is guarded by the monitor. Messages are sent, and names resolved, without the monitor; the listener is
     * called with the monitor, so that views arrive in order.
     */
    private static final Logger log = LoggerFactory.getLogger(HeartbeatMembership.class);
    private static final Duration FAREWELL = Duration.ofMillis(500);
    private static final Duration RESOLUTION = Duration.ofSeconds(5);
    private static final int MOST_DEPARTED = 1024;
    private static final int MOST_CONTACTS = 2 * Heartbeat.MOST; // besides the configured addresses
    private static final long SELF_NANOS = 60_000_000_000L; // an address of this node may become another node's

    private final MembershipOptions options;
    private final LongSupplier nanoTime;
    private final Map<InetSocketAddress, Contact> contacts = new HashMap<>();
    private final Map<Long, Known> members = new TreeMap<>(); // by incarnation, without this node
    // never come back; with the time of attention; without the earliest beyond a limit
    private final Map<ClusterMember, Long> departed = new LinkedHashMap<>();
    private final Set<ClusterMember> strangers = new HashSet<>(); // logged as no peers of this node
    private final Places places; // guarded by a separate lock
    private Standing standing = Standing.PEACE;
    private @Nullable Joined joined;
    private @Nullable ClusterView view; // last reported; null before the first round has ended
    private @Nullable ScheduledExecutorService timer;
    /*
     * The clock of silence: stands still while this process does, so a process continuing after a pause never takes
     * the pause for the silence of others.
     */
    private long attention;
    private long looked;

    /** This node while a member; equal to itself alone, since a node may join again. */
    static final class Joined {
        final ClusterMember self;
        final Carrier carrier;
        final Listener listener;
        final long at; // of the clock

        Joined(ClusterMember self, Carrier carrier, Listener listener, long at) {
            this.self = self;
            this.carrier = carrier;
            this.listener = listener;
            this.at = at;
        }

        long incarnation() {
            return self.identity().incarnation();
        }
    }

    /** A member. Times are of attention, but for the time of joining. */
    private static final class Known {
        final ClusterMember member;
        final InetSocketAddress address;
        long joined; // by the clock of this node
        Heartbeat heartbeat;
        long heard;
        long asked; // when the member last sent a sign of life

        @Nullable
        InetSocketAddress at; // where the member answers

        Known(ClusterMember member, Heartbeat heartbeat, long now, long never) {
            this.member = member;
            this.address = HeartbeatMembership.address(member);
            this.heartbeat = heartbeat;
            this.joined = joined(heartbeat, now);
            this.asked = never;
        }
    }

    /**
     * Creates a membership, not joined yet.
     *
     * @param options options for finding and watching the other nodes
     */
    public HeartbeatMembership(MembershipOptions options) {
        this(options, System::nanoTime);
    }

    /** Creates a membership with a clock. */
    HeartbeatMembership(MembershipOptions options, LongSupplier nanoTime) {
        this.options = options;
        this.nanoTime = nanoTime;
        this.places = new Places(options.discovery());
    }

    @Override
    public void join(ClusterMember self, Carrier carrier, Listener listener) {
        Joined begun = begin(self, carrier, listener);
        synchronized (this) {
            if (joined != begun) { // left meanwhile
                return;
            }
            ScheduledExecutorService looks = Executors.newSingleThreadScheduledExecutor(
                    Thread.ofPlatform().daemon().name("iree-cluster-membership").factory());
            long nanos = options.interval().toNanos();
            looks.scheduleWithFixedDelay(this::keepLooking, nanos, nanos, TimeUnit.NANOSECONDS);
            if (places.isNamed()) {
                looks.scheduleWithFixedDelay(
                        () -> Thread.startVirtualThread(places::resolve),
                        RESOLUTION.toSeconds(),
                        RESOLUTION.toSeconds(),
                        TimeUnit.SECONDS);
            }
            timer = looks;
        }
    }

    /** Joins without a timer: {@link #look} is to be called at each interval. */
    Joined begin(ClusterMember self, Carrier carrier, Listener listener) {
        Joined begun = new Joined(self, carrier, listener, nanoTime.getAsLong());
        synchronized (this) {
            if (joined != null) {
                throw IreeException.of(StatusCode.FAILED_PRECONDITION, self + " has joined already");
            }
            joined = begun;
            looked = begun.at;
        }
        try {
            Thread.startVirtualThread(places::resolve).join(options.timeout());
            look();
            endFirstRound();
            return begun;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            leave();
            throw IreeException.of(StatusCode.CANCELLED, self + " was interrupted while joining", e);
        }
    }

    /** Waits for the replies of the first round, so that the first view has the nodes that are there. */
    private synchronized void endFirstRound() throws InterruptedException {
        long deadline = System.nanoTime() + options.timeout().toNanos();
        while (contacts.values().stream().anyMatch(each -> each.asked)) {
            long left = deadline - System.nanoTime();
            if (left <= 0) {
                break;
            }
            TimeUnit.NANOSECONDS.timedWait(this, left);
        }
        view = ClusterView.EMPTY;
        publish();
    }

    private void keepLooking() {
        try {
            look();
        } catch (RuntimeException | Error e) { // would end the signs of life
            log.error("signs of life are sent again at the next interval", e);
        }
    }

    /** Drops silent members, and sends the due signs of life. To be called at each interval. */
    void look() {
        synchronized (this) {
            if (joined == null) {
                return;
            }
            long now = nanoTime.getAsLong();
            attention += Math.min(now - looked, 2 * options.interval().toNanos());
            looked = now;
            members.values()
                    .removeIf(each -> attention - each.heard > options.timeout().toNanos());
            publish();
        }
        askDue();
    }

    private void askDue() {
        List<InetSocketAddress> due = new ArrayList<>();
        Joined from;
        byte[] message;
        synchronized (this) {
            from = joined;
            if (from == null) {
                return;
            }
            Set<InetSocketAddress> wanted = wanted(from.self);
            contacts.entrySet().removeIf(each -> !each.getValue().asked && !wanted.contains(each.getKey()));
            for (Known each : members.values()) {
                if (each.at != null && !contacts.containsKey(each.at)) {
                    each.at = null;
                }
            }
            long now = nanoTime.getAsLong();
            for (InetSocketAddress each : wanted) {
                Contact contact = contacts.get(each);
                if (contact == null && contacts.size() < places.addresses().size() + MOST_CONTACTS) {
                    contact = new Contact(each);
                    contacts.put(each, contact);
                }
                if (contact != null && !contact.asked && contact.isDue(now) && asks(each, contact, from)) {
                    contact.asked = true;
                    due.add(each);
                }
            }
            message = heartbeat(from, false);
        }
        for (InetSocketAddress each : due) {
            from.carrier.ask(each, message, options.timeout(), new Answer(each, from));
        }
    }

    /** Returns the addresses where nodes may be. */
    private Set<InetSocketAddress> wanted(ClusterMember self) {
        Set<InetSocketAddress> wanted = new LinkedHashSet<>(places.addresses());
        for (Known each : members.values()) {
            wanted.add(each.address);
            for (InetSocketAddress seen : each.heartbeat.seen()) {
                if (wanted.size() < Heartbeat.MOST) {
                    wanted.add(seen);
                }
            }
        }
        wanted.remove(address(self));
        return wanted;
    }

    /** Returns whether this node sends signs of life to an address. */
    private boolean asks(InetSocketAddress address, Contact contact, Joined from) {
        ClusterMember last = contact.answered();
        if (last != null && last.equals(from.self)) {
            return attention - contact.answeredAt() > SELF_NANOS;
        }
        Known known = last == null ? at(address) : members.get(last.identity().incarnation());
        if (known == null) {
            return true;
        }
        if (known.at != null && !known.at.equals(address)) {
            return false; // the member answers at another address
        }
        return from.incarnation() < known.member.identity().incarnation()
                || attention - known.asked > 2 * options.interval().toNanos();
    }

    private @Nullable Known at(InetSocketAddress address) {
        for (Known each : members.values()) {
            if (each.address.equals(address)) {
                return each;
            }
        }
        return null;
    }

    private static InetSocketAddress address(ClusterMember member) {
        return InetSocketAddress.createUnresolved(member.host(), member.port());
    }

    private byte[] heartbeat(Joined here, boolean leaving) {
        List<InetSocketAddress> seen = new ArrayList<>();
        members.values().forEach(each -> seen.add(each.address));
        return new Heartbeat(leaving, age(here), leaving ? List.of() : seen, standing).encode();
    }

    /** Returns when the sender joined: too late by the time that the message took. */
    private static long joined(Heartbeat heartbeat, long now) {
        return now - TimeUnit.MILLISECONDS.toNanos(heartbeat.age());
    }

    private long age(Joined here) {
        return TimeUnit.NANOSECONDS.toMillis(nanoTime.getAsLong() - here.at);
    }

    @Override
    public byte[] asked(ClusterMember from, byte[] message) {
        Heartbeat heartbeat = Heartbeat.decode(message);
        byte[] answer;
        boolean more = false;
        synchronized (this) {
            Joined here = joined;
            if (here == null) {
                throw IreeException.of(StatusCode.UNAVAILABLE, "this node is in no cluster");
            }
            String obstacle = obstacle(from, here.self);
            if (obstacle != null) {
                warn(from, here, obstacle);
                return new Heartbeat(false, age(here), List.of(), Standing.PEACE).encode();
            }
            String refusal = refusal(from, heartbeat);
            if (refusal != null) {
                warn(from, here, refusal);
                throw IreeException.of(StatusCode.FAILED_PRECONDITION, refusal);
            }
            Known known = learn(from, heartbeat, here);
            if (known != null) {
                known.asked = attention;
                more = view == null && mentionsOthers(heartbeat, here.self); // others wait for the next look
            }
            publish();
            answer = heartbeat(here, false);
        }
        if (more) {
            askDue();
        }
        return answer;
    }

    private void warn(ClusterMember from, Joined here, String why) {
        if (strangers.size() < MOST_DEPARTED && strangers.add(from)) {
            log.warn("{} looks for {}, and {}", from, here.self, why);
        }
    }

    /** Receives the reply from an address. */
    private final class Answer implements Reply {
        private final InetSocketAddress address;
        private final Joined asker; // replies to an earlier incarnation are dropped

        Answer(InetSocketAddress address, Joined asker) {
            this.address = address;
            this.asker = asker;
        }

        @Override
        public void answered(ClusterMember from, byte[] answer) {
            HeartbeatMembership.this.answered(address, asker, from, answer);
        }

        @Override
        public void failed(IreeException cause) {
            HeartbeatMembership.this.failed(address, asker, cause);
        }
    }

    private void answered(InetSocketAddress address, Joined asker, ClusterMember from, byte[] answer) {
        Heartbeat heartbeat;
        try {
            heartbeat = Heartbeat.decode(answer);
        } catch (IreeException e) {
            failed(address, asker, e);
            return;
        }
        ClusterMember self = asker.self;
        String obstacle = obstacle(from, self);
        if (obstacle != null) {
            failed(address, asker, IreeException.of(StatusCode.FAILED_PRECONDITION, obstacle));
            return;
        }
        boolean more;
        synchronized (this) {
            Contact contact = contacts.get(address);
            if (joined != asker || contact == null) {
                return;
            }
            String refusal = refusal(from, heartbeat);
            if (refusal != null) {
                failed(address, asker, IreeException.of(StatusCode.FAILED_PRECONDITION, refusal));
                return;
            }
            contact.answered(from, attention);
            Known known = learn(from, heartbeat, asker);
            more = false;
            if (known != null) {
                members.values().forEach(each -> each.at = address.equals(each.at) ? null : each.at);
                known.at = address;
                more = view == null && mentionsOthers(heartbeat, self); // others wait for the next look
            }
            publish();
        }
        if (more) {
            askDue(); // before this reply counts, so that the first round has the mentioned nodes
        }
        synchronized (this) {
            Contact contact = contacts.get(address);
            if (joined == asker && contact != null) {
                contact.asked = false;
                notifyAll();
            }
        }
    }

    /** Returns why a node is no member; null for a member, this node, and a node that leaves. */
    private @Nullable String refusal(ClusterMember from, Heartbeat heartbeat) {
        long incarnation = from.identity().incarnation();
        Known known = members.get(incarnation);
        if (heartbeat.leaving() || known != null && known.member.equals(from)) {
            return null;
        }
        Long left = departed.get(from);
        if (left != null) { // at first a late message
            return attention - left <= options.timeout().toNanos()
                    ? null
                    : "%s has left, and a slot is leased once: the file or table of the identities was lost or restored"
                            .formatted(from);
        }
        if (known != null) {
            return "%s has the same identity".formatted(known.member);
        }
        Known there = at(address(from));
        if (there != null && there.member.identity().incarnation() > incarnation) {
            return "%s is a later process at its address".formatted(there.member);
        }
        return members.size() + 1 >= Heartbeat.MOST
                ? "the view is full, with %d nodes".formatted(Heartbeat.MOST)
                : null;
    }

    /** Returns why a node is no peer of this node; null for a peer, and for this node itself. */
    private static @Nullable String obstacle(ClusterMember there, ClusterMember here) {
        if (there.identity().clusterId() != here.identity().clusterId()) {
            return "it leases its identity elsewhere: the id of its cluster is %016x, the id of this node's cluster %016x"
                    .formatted(there.identity().clusterId(), here.identity().clusterId());
        }
        if (there.identity().incarnation() == here.identity().incarnation() && !there.equals(here)) {
            return "it has the identity of this node, %s: the file or table of the identities was copied or restored"
                    .formatted(here.identity());
        }
        return null;
    }

    private synchronized void failed(InetSocketAddress address, Joined asker, IreeException cause) {
        Contact contact = contacts.get(address);
        if (joined != asker || contact == null) {
            return;
        }
        contact.asked = false;
        contact.failed(cause, nanoTime.getAsLong(), options.interval().toNanos());
        for (Known each : members.values()) {
            if (address.equals(each.at)) {
                each.at = null; // the member may answer at another address
            }
        }
        if (at(address) == null) {
            contact.log();
        }
        notifyAll();
    }

    /** Returns the member heard now; null for this node and a node that leaves or has left. */
    private @Nullable Known learn(ClusterMember from, Heartbeat heartbeat, Joined here) {
        long incarnation = from.identity().incarnation();
        if (from.equals(here.self) || departed.containsKey(from)) {
            return null;
        }
        Known known = members.get(incarnation);
        if (heartbeat.leaving()) {
            if (known != null && known.member.equals(from)) { // and not in the name of another node
                depart(known);
            }
            return null;
        }
        if (known == null) {
            Known before = at(address(from));
            if (before != null) { // addresses of living processes differ
                depart(before);
            }
            known = new Known(
                    from,
                    heartbeat,
                    nanoTime.getAsLong(),
                    attention - options.timeout().toNanos());
            members.put(incarnation, known);
        }
        long joinedAt = joined(heartbeat, nanoTime.getAsLong());
        if (known.joined - joinedAt > options.interval().toNanos()) { // the first sign of life took long
            known.joined = joinedAt;
        }
        known.heard = attention;
        known.heartbeat = heartbeat;
        return known;
    }

    private void depart(Known gone) {
        members.remove(gone.member.identity().incarnation());
        departed.put(gone.member, attention);
        if (departed.size() > MOST_DEPARTED) {
            departed.remove(departed.keySet().iterator().next());
        }
    }

    private boolean mentionsOthers(Heartbeat heartbeat, ClusterMember self) {
        InetSocketAddress own = address(self);
        return heartbeat.seen().stream().anyMatch(each -> !each.equals(own) && !contacts.containsKey(each));
    }

    /** Reports the view, if it has changed. */
    private void publish() {
        Joined here = joined;
        if (here == null || view == null) {
            return;
        }
        List<ClusterMember> present = new ArrayList<>(List.of(here.self));
        Map<Long, Standing> standings = new HashMap<>(Map.of(here.incarnation(), standing));
        Map<Long, Long> times = new HashMap<>(Map.of(here.incarnation(), here.at));
        members.forEach((incarnation, each) -> {
            present.add(each.member);
            standings.put(incarnation, each.heartbeat.standing());
            times.put(incarnation, each.joined);
        });
        ClusterView next = new ClusterView(present, standings, times);
        if (!next.equals(view)) {
            view = next;
            here.listener.viewChanged(next);
        }
    }

    @Override
    public synchronized void report(Standing standing) {
        this.standing = standing;
        publish();
    }

    @Override
    public void leave() {
        Joined leaving;
        List<InetSocketAddress> told = new ArrayList<>();
        byte[] farewell;
        synchronized (this) {
            leaving = joined;
            if (leaving == null) {
                return;
            }
            farewell = heartbeat(leaving, true);
            members.values().forEach(each -> told.add(each.at == null ? each.address : each.at));
            joined = null;
            view = null;
            if (timer != null) {
                timer.shutdownNow();
                timer = null;
            }
            contacts.clear();
            members.clear();
            standing = Standing.PEACE;
            notifyAll();
        }
        CountDownLatch left = new CountDownLatch(told.size());
        Reply done = new Reply() {
            @Override
            public void answered(ClusterMember from, byte[] answer) {
                left.countDown();
            }

            @Override
            public void failed(IreeException cause) {
                left.countDown();
            }
        };
        told.forEach(each -> leaving.carrier.ask(each, farewell, FAREWELL, done));
        try {
            if (!left.await(FAREWELL.toMillis(), TimeUnit.MILLISECONDS)) {
                log.debug("{} members do not know that {} leaves", left.getCount(), leaving.self);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @Override
    public synchronized List<Unreached> unreached() {
        List<Unreached> unreached = new ArrayList<>(places.unreached());
        contacts.forEach((address, contact) -> {
            if (at(address) == null) {
                contact.unreached().ifPresent(unreached::add);
            }
        });
        return List.copyOf(unreached);
    }
}
