package io.github.iree4j.cluster.identity;

import io.github.iree4j.frontier.Axis;
import io.github.iree4j.hal.remote.NodeIdentity;
import io.github.iree4j.status.DurationText;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.InstantSource;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * An {@link IdentityStore} in the API of Kubernetes: a {@code Lease} for each machine index ever used, and a
 * {@code Lease} of the cluster to count sessions and incarnations. Every change compares the replaced version.
 *
 * <p>No clock of another machine is trusted. An unreleased lease counts as ended when this process has seen the same
 * version for the lease's whole duration, so {@link #acquire} may take as long when all machine indices are held.
 * Holders stop by their own clocks.
 *
 * <p>Deleting the lease of a machine index fences the holder. Deleting the lease of the cluster begins a new cluster,
 * and nodes of the old cluster do not communicate with the new cluster.
 */
public final class KubernetesIdentityStore implements IdentityStore {
    private static final Logger log = LoggerFactory.getLogger(KubernetesIdentityStore.class);
    private static final int MOST_CONFLICTS = 1000;
    private static final int RENEWAL_CONFLICTS = 3;
    private static final Duration LONGEST = Duration.ofHours(1);
    private static final long LOOK_NANOS = 1_000_000_000;
    private static final String LABEL = "io.github.iree4j/cluster";
    private static final String COUNTS = "io.github.iree4j/sessions";
    private static final DateTimeFormatter MICROSECONDS =
            DateTimeFormatter.ofPattern("uuuu-MM-dd'T'HH:mm:ss.SSSSSS'Z'").withZone(ZoneOffset.UTC);

    private final KubernetesLeases leases;
    private final String cluster;
    private final int machines;
    private final String holder;
    private final LongSupplier nanoTime;
    private final InstantSource clock;
    private final Pause pause;
    private final SecureRandom random = new SecureRandom();

    /** Lets time pass. */
    interface Pause {
        void pause(long nanos) throws InterruptedException;
    }

    /**
     * Creates a store. Connects at the first lease.
     *
     * @param options the address of the API
     * @param cluster the cluster's name, at most 63 lower case letters, digits and hyphens
     * @param machines the number of machine indices, 1 to 256
     * @param holder the holder named in leases, for people: a pod's name
     * @throws IreeException INVALID_ARGUMENT for another name or number
     */
    public KubernetesIdentityStore(KubernetesOptions options, String cluster, int machines, String holder) {
        this(options, cluster, machines, holder, System::nanoTime, InstantSource.system(), TimeUnit.NANOSECONDS::sleep);
    }

    KubernetesIdentityStore(
            KubernetesOptions options,
            String cluster,
            int machines,
            String holder,
            LongSupplier nanoTime,
            InstantSource clock,
            Pause pause) {
        if (!cluster.matches("[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")) {
            throw IreeException.of(
                    StatusCode.INVALID_ARGUMENT,
                    "'%s' cannot be in the name of a lease; for identities of Kubernetes, 'iree.cluster.name' has at most 63 lower case letters, digits and hyphens"
                            .formatted(cluster));
        }
        if (machines < 1 || machines > Axis.MAXIMUM_MACHINE + 1) {
            throw IreeException.of(
                    StatusCode.INVALID_ARGUMENT,
                    "%d machine indices are not within [1, %d]".formatted(machines, Axis.MAXIMUM_MACHINE + 1));
        }
        this.leases = new KubernetesLeases(options);
        this.cluster = cluster;
        this.machines = machines;
        this.holder = holder;
        this.nanoTime = nanoTime;
        this.clock = clock;
        this.pause = pause;
    }

    @Override
    public IdentityLease acquire(Duration duration) {
        if (duration.compareTo(LONGEST) > 0) {
            throw IreeException.of(
                    StatusCode.INVALID_ARGUMENT,
                    "a lease of %s is longer than %s, the longest wait of others; lower 'iree.cluster.identity.lease-duration'"
                            .formatted(DurationText.of(duration), DurationText.of(LONGEST)));
        }
        Map<Integer, Watched> watched = new HashMap<>();
        boolean told = false;
        for (int conflicts = 0; conflicts < MOST_CONFLICTS; ) {
            SessionCounts counts = counts(cluster());
            List<Slot> free = free(watched, counts);
            if (free.isEmpty()) {
                if (!told) {
                    log.info(
                            "all {} machine indices of cluster '{}' are leased; do all holders live?",
                            machines,
                            cluster);
                    told = true;
                }
                await(watched);
                continue;
            }
            Slot slot = free.getFirst();
            if (counts.isExhausted(slot.machine)) {
                throw Slots.noneFree(machines, true);
            }
            Held held = claim(slot, duration);
            if (held != null) {
                return grant(held);
            }
            conflicts++;
            watched.remove(slot.machine);
        }
        throw IreeException.of(
                StatusCode.UNAVAILABLE, MOST_CONFLICTS + " attempts to lease a slot met attempts of other nodes");
    }

    private String machineName(int machine) {
        return "iree-machine-" + machine + "-" + cluster;
    }

    /** The lease of the cluster, created if there is none. */
    private ObjectNode cluster() {
        String name = "iree-cluster-" + cluster;
        for (int conflicts = 0; conflicts < MOST_CONFLICTS; conflicts++) {
            ObjectNode found = leases.get(name);
            if (found == null) {
                ObjectNode made = lease(name);
                made.withObject("metadata")
                        .withObject("annotations")
                        .put(COUNTS, SessionCounts.of(random.nextLong()).toString());
                found = leases.create(made);
            }
            if (found != null) {
                return found;
            }
        }
        throw IreeException.of(StatusCode.UNAVAILABLE, "lease '" + name + "' comes and goes");
    }

    private SessionCounts counts(ObjectNode lease) {
        return SessionCounts.parse(
                lease.path("metadata").path("annotations").path(COUNTS).asString(""),
                "annotation '%s' of lease 'iree-cluster-%s'".formatted(COUNTS, cluster));
    }

    private ObjectNode lease(String name) {
        ObjectNode made = leases.object();
        made.put("apiVersion", "coordination.k8s.io/v1").put("kind", "Lease");
        made.withObject("metadata").put("name", name).withObject("labels").put(LABEL, cluster);
        made.withObject("spec");
        return made;
    }

    /** Machine indices available for a claim, with sessions left, the index with the fewest used sessions first. */
    private List<Slot> free(Map<Integer, Watched> watched, SessionCounts counts) {
        Map<String, ObjectNode> known = new HashMap<>();
        leases.list(LABEL, cluster)
                .forEach(each -> known.put(each.path("metadata").path("name").stringValue(), each));
        long now = nanoTime.getAsLong();
        List<Slot> free = new ArrayList<>();
        for (int machine = 0; machine < machines; machine++) {
            ObjectNode lease = known.get(machineName(machine));
            boolean taken = false;
            if (lease != null && !holderOf(lease).isEmpty()) {
                Watched next = Watched.of(lease, watched.get(machine), now);
                watched.put(machine, next);
                taken = !next.hasEnded(now);
            } else {
                watched.remove(machine);
            }
            if (!taken) {
                free.add(new Slot(machine, lease));
            }
        }
        free.sort(Comparator.<Slot>comparingInt(slot -> counts.session(slot.machine))
                .thenComparingInt(slot -> slot.machine));
        return free;
    }

    private static String holderOf(JsonNode lease) {
        return lease.path("spec").path("holderIdentity").asString("");
    }

    /** Waits until an unrenewed lease may have ended. */
    private void await(Map<Integer, Watched> watched) {
        long now = nanoTime.getAsLong();
        long left = Long.MAX_VALUE;
        for (Watched each : watched.values()) {
            if (!each.renewed) {
                left = Math.min(left, each.seen + each.nanos - now);
            }
        }
        if (left == Long.MAX_VALUE) {
            throw Slots.noneFree(machines, false);
        }
        try {
            pause.pause(Math.clamp(left, 1_000_000, LOOK_NANOS));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw IreeException.of(StatusCode.CANCELLED, "interrupted while waiting for a machine index", e);
        }
    }

    /** Makes this process the holder; null when another process was faster. */
    private @Nullable Held claim(Slot slot, Duration duration) {
        long now = nanoTime.getAsLong();
        String name = machineName(slot.machine);
        String token = "%s/%016x%016x".formatted(holder, random.nextLong(), random.nextLong());
        ObjectNode claimed = slot.lease == null ? lease(name) : slot.lease.deepCopy();
        JsonNode before = claimed.path("spec").path("leaseTransitions");
        ObjectNode spec = stamp(claimed, duration);
        spec.put("holderIdentity", token);
        spec.set("acquireTime", spec.get("renewTime"));
        spec.put("leaseTransitions", before.canConvertToInt() ? Math.max(0, before.intValue()) % 1_000_000 + 1 : 1);
        ObjectNode granted = slot.lease == null ? leases.create(claimed) : leases.replace(claimed);
        return granted == null ? null : new Held(slot.machine, token, duration, granted, now);
    }

    private ObjectNode stamp(ObjectNode lease, Duration duration) {
        ObjectNode spec = lease.withObject("spec");
        spec.put("leaseDurationSeconds", Math.toIntExact((duration.toMillis() + 999) / 1000));
        spec.put("renewTime", MICROSECONDS.format(clock.instant()));
        return spec;
    }

    /** Counts a session of the machine index held by this process. If the lease is lost meanwhile, the session is not used. */
    private IdentityLease grant(Held held) {
        try {
            for (int conflicts = 0; conflicts < MOST_CONFLICTS; conflicts++) {
                ObjectNode lease = cluster().deepCopy();
                SessionCounts counts = counts(lease);
                if (counts.isExhausted(held.machine)) {
                    throw Slots.exhausted(held.machine);
                }
                SessionCounts next = counts.next(held.machine);
                lease.withObject("metadata").withObject("annotations").put(COUNTS, next.toString());
                if (leases.replace(lease) != null) {
                    held.identity = new NodeIdentity(
                            next.clusterId(), held.machine, next.session(held.machine), next.incarnation());
                    return held;
                }
            }
            throw IreeException.of(
                    StatusCode.UNAVAILABLE,
                    MOST_CONFLICTS + " attempts to count a session met attempts of other nodes");
        } catch (IreeException e) {
            held.release();
            throw e;
        }
    }

    @Override
    public void close() {
        leases.close();
    }

    private record Slot(int machine, @Nullable ObjectNode lease) {}

    /**
     * A version of a lease, as seen by this process.
     *
     * @param seen when the version was first seen
     * @param nanos how long the lease lasts unrenewed
     * @param renewed whether the version followed another version of the same holder: the holder is alive
     */
    private record Watched(String version, String holder, long seen, long nanos, boolean renewed) {
        static Watched of(JsonNode lease, @Nullable Watched before, long now) {
            String version = lease.path("metadata").path("resourceVersion").stringValue();
            if (before != null && before.version.equals(version)) {
                return before;
            }
            JsonNode seconds = lease.path("spec").path("leaseDurationSeconds");
            long most = LONGEST.toSeconds(); // no node writes more
            long lasts = seconds.canConvertToInt() ? Math.clamp(seconds.intValue(), 1, most) : most;
            return new Watched(version, holderOf(lease), now, TimeUnit.SECONDS.toNanos(lasts), before != null);
        }

        boolean hasEnded(long now) {
            return now - seen >= nanos;
        }
    }

    /** A lease. */
    private final class Held implements IdentityLease {
        private final int machine;
        private final String token;
        private final Duration duration;
        private volatile @Nullable NodeIdentity identity; // set once, before other threads see this
        private ObjectNode lease; // the version last written by this holder; guarded by this, like the rest
        private long renewed;
        private boolean released;

        Held(int machine, String token, Duration duration, ObjectNode lease, long now) {
            this.machine = machine;
            this.token = token;
            this.duration = duration;
            this.lease = lease;
            this.renewed = now;
        }

        @Override
        public NodeIdentity identity() {
            NodeIdentity granted = identity;
            if (granted == null) {
                throw new IllegalStateException("not granted yet");
            }
            return granted;
        }

        @Override
        public synchronized void renew() {
            for (int conflicts = 0; conflicts < RENEWAL_CONFLICTS; conflicts++) {
                long now = nanoTime.getAsLong();
                if (released || now - renewed >= duration.toNanos()) {
                    throw ended();
                }
                ObjectNode next = lease.deepCopy();
                stamp(next, duration);
                ObjectNode written = leases.replace(next);
                if (written != null) {
                    lease = written;
                    renewed = now;
                    return;
                }
                lease = current();
            }
            throw IreeException.of(
                    StatusCode.UNAVAILABLE,
                    "%d attempts to renew the lease of %s met changes by others"
                            .formatted(RENEWAL_CONFLICTS, identity()));
        }

        /** Returns the current version, still held by this holder. */
        private ObjectNode current() {
            ObjectNode found = leases.get(machineName(machine));
            if (found == null || !holderOf(found).equals(token)) {
                throw ended();
            }
            return found;
        }

        private IreeException ended() {
            return IreeException.of(StatusCode.ABORTED, "the lease of " + identity + " has ended");
        }

        @Override
        public synchronized void release() {
            if (released) {
                return;
            }
            released = true;
            try {
                if (!tryRelease()) {
                    lease = current();
                    tryRelease();
                }
            } catch (IreeException e) {
                log.debug("the lease of {} ends by itself: {}", identity, e.getMessage());
            }
        }

        private boolean tryRelease() {
            ObjectNode next = lease.deepCopy();
            next.withObject("spec").remove("holderIdentity");
            return leases.replace(next) != null;
        }
    }
}
