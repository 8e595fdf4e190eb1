package io.github.iree4j.cluster.identity;

import io.github.iree4j.frontier.Axis;
import io.github.iree4j.hal.remote.NodeIdentity;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.function.LongSupplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** An {@link IdentityStore} for nodes in a single JVM, in tests. All grants are forgotten at the end of the store. */
public final class MemoryIdentityStore implements IdentityStore {

    private final long clusterId;
    private final int machines;
    private final LongSupplier nanoTime;
    private final int[] sessions; // guarded by this, like the rest
    private final @Nullable Held[] holders;
    private long incarnations;
    private @Nullable IreeException outage;

    /**
     * Creates a store without granted slots.
     *
     * @param clusterId the cluster's id
     * @param machines the number of machine indices, 1 to 256
     * @param nanoTime the clock of the leases, in nanoseconds
     */
    public MemoryIdentityStore(long clusterId, int machines, LongSupplier nanoTime) {
        this.clusterId = clusterId;
        this.machines = machines;
        this.nanoTime = nanoTime;
        this.sessions = new int[machines];
        this.holders = new Held[machines];
    }

    /**
     * Makes every call fail, or no longer.
     *
     * @param cause the failure; null for none
     */
    public synchronized void fail(@Nullable IreeException cause) {
        outage = cause;
    }

    /** Ends a lease now. */
    synchronized void end(IdentityLease lease) {
        ((Held) lease).ends = nanoTime.getAsLong();
    }

    /** The unreleased leases. */
    synchronized List<IdentityLease> held() {
        return Stream.<IdentityLease>of(holders).filter(Objects::nonNull).toList();
    }

    @Override
    public synchronized IdentityLease acquire(Duration duration) {
        check();
        int free = -1;
        boolean exhausted = false;
        for (int machine = 0; machine < machines; machine++) {
            Held holder = holders[machine];
            if (holder != null && holder.ends - nanoTime.getAsLong() > 0) {
                continue;
            }
            if (sessions[machine] == Axis.MAXIMUM_SESSION) {
                exhausted = true;
            } else if (free < 0 || sessions[machine] < sessions[free]) {
                free = machine;
            }
        }
        if (free < 0) {
            throw Slots.noneFree(machines, exhausted);
        }
        Held held = new Held(
                new NodeIdentity(clusterId, free, ++sessions[free], ++incarnations),
                duration.toNanos(),
                nanoTime.getAsLong() + duration.toNanos());
        holders[free] = held;
        return held;
    }

    private void check() {
        if (outage != null) {
            throw IreeException.of(outage.code(), outage.getMessage(), outage);
        }
    }

    /** A lease. */
    private final class Held implements IdentityLease {
        private final NodeIdentity identity;
        private final long nanos;
        private long ends; // guarded by the store

        Held(NodeIdentity identity, long nanos, long ends) {
            this.identity = identity;
            this.nanos = nanos;
            this.ends = ends;
        }

        @Override
        public NodeIdentity identity() {
            return identity;
        }

        @Override
        public void renew() {
            synchronized (MemoryIdentityStore.this) {
                check();
                long now = nanoTime.getAsLong();
                if (holders[identity.machine()] != this || ends - now <= 0) {
                    throw IreeException.of(StatusCode.ABORTED, "the lease of " + identity + " has ended");
                }
                ends = now + nanos;
            }
        }

        @Override
        public void release() {
            synchronized (MemoryIdentityStore.this) {
                if (holders[identity.machine()] == this) {
                    holders[identity.machine()] = null;
                }
            }
        }
    }
}
