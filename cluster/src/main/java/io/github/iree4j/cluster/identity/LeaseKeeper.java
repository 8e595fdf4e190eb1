package io.github.iree4j.cluster.identity;

import io.github.iree4j.hal.remote.NodeIdentity;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.time.Duration;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Renews a lease after a third of the duration, and fences the node when five sixths have passed without success: a
 * node must stop using the slot before the store may grant the machine index to another node. A failed renewal is
 * repeated after a sixtieth of the duration, so a store that comes back shortly before the end is used.
 *
 * <p>The owner calls {@link #look()} regularly, at least every sixtieth of the duration. The time of a renewal is taken
 * before sending: the store counts from a later time. Thread-safe.
 */
public final class LeaseKeeper {

    private static final Logger log = LoggerFactory.getLogger(LeaseKeeper.class);

    /** Where a lease stands. */
    public enum State {
        /** The node may use the slot. */
        HELD,
        /** The lease was lost, or may be about to end. The node must not use the slot, ever again. */
        FENCED,
        /** The owner released the lease. */
        RELEASED
    }

    private final IdentityLease lease;
    private final long nanos;
    private final LongSupplier nanoTime;
    private final Executor executor;
    private final Consumer<IreeException> fence;

    private State state = State.HELD; // guarded by this, like the rest
    private long renewed;
    private long tried; // the start of the last renewal
    private long failed; // the end of the last failed renewal
    private boolean renewing;
    private long renewals;
    private long lastRenewalNanos;
    private @Nullable IreeException failure;

    private LeaseKeeper(
            IdentityLease lease,
            Duration duration,
            long acquired,
            LongSupplier nanoTime,
            Executor executor,
            Consumer<IreeException> fence) {
        this.lease = lease;
        this.nanos = duration.toNanos();
        this.renewed = acquired;
        this.tried = acquired;
        this.nanoTime = nanoTime;
        this.executor = executor;
        this.fence = fence;
    }

    /**
     * Leases a slot. Some stores wait to see whether another holder lives; after a long wait the lease is renewed once.
     *
     * @param store grants the slot
     * @param duration the lease's duration
     * @param nanoTime the clock, never going back
     * @param executor runs renewals; renewals may block
     * @param fence called once when the lease is lost, on the detecting thread; MUST NOT block
     * @return the keeper of the lease
     * @throws IreeException as of {@link IdentityStore#acquire}, and ABORTED when the lease has ended already
     */
    public static LeaseKeeper acquire(
            IdentityStore store,
            Duration duration,
            LongSupplier nanoTime,
            Executor executor,
            Consumer<IreeException> fence) {
        long before = nanoTime.getAsLong();
        IdentityLease lease = store.acquire(duration);
        long now = nanoTime.getAsLong();
        if (now - before >= duration.toNanos() / 6) {
            before = now;
            try {
                lease.renew();
            } catch (IreeException e) {
                lease.release();
                throw e;
            }
        }
        return new LeaseKeeper(lease, duration, before, nanoTime, executor, fence);
    }

    /**
     * Returns the identity of the lease's holder.
     *
     * @return the identity
     */
    public NodeIdentity identity() {
        return lease.identity();
    }

    /** Renews the lease when a renewal is due, and fences the node when a renewal comes too late. Does not block. */
    public void look() {
        long now = nanoTime.getAsLong();
        IreeException lost = null;
        boolean due = false;
        synchronized (this) {
            if (state != State.HELD) {
                return;
            }
            long age = now - renewed;
            if (age >= nanos / 6 * 5) {
                lost = IreeException.of(
                        StatusCode.ABORTED,
                        "the lease of %s was last renewed %d ms ago, and must be renewed within %d ms, five sixths of its %d ms%s%s"
                                .formatted(
                                        identity(),
                                        age / 1_000_000,
                                        nanos / 6 * 5 / 1_000_000,
                                        nanos / 1_000_000,
                                        renewing
                                                ? "; the store has not answered for %d ms"
                                                        .formatted((now - tried) / 1_000_000)
                                                : "",
                                        failure == null ? "" : "; " + failure.getMessage()),
                        failure);
                state = State.FENCED;
            } else if (!renewing && age >= nanos / 3 && (failure == null || now - failed >= nanos / 60)) {
                renewing = true;
                tried = now;
                due = true;
            }
        }
        if (lost != null) {
            fence(lost);
        } else if (due) {
            try {
                executor.execute(() -> renew(now));
            } catch (RejectedExecutionException e) {
                ended(IreeException.of(StatusCode.UNAVAILABLE, "no thread to renew the lease of " + identity(), e));
            }
        }
    }

    private void renew(long sent) {
        try {
            lease.renew();
        } catch (IreeException e) {
            ended(e);
            return;
        } catch (RuntimeException | Error e) { // no memory or no thread, for instance: the next renewal may succeed
            ended(IreeException.of(StatusCode.UNAVAILABLE, "cannot renew the lease of " + identity() + ": " + e, e));
            return;
        }
        boolean late;
        synchronized (this) {
            renewing = false;
            failure = null;
            late = state != State.HELD;
            if (!late) {
                renewed = sent;
                renewals++;
                lastRenewalNanos = nanoTime.getAsLong() - sent;
            }
        }
        if (late) {
            lease.release();
        }
    }

    private void ended(IreeException e) {
        boolean lost;
        synchronized (this) {
            renewing = false;
            failure = e;
            failed = nanoTime.getAsLong();
            lost = e.code() == StatusCode.ABORTED && state == State.HELD;
            if (lost) {
                state = State.FENCED;
            }
        }
        if (lost) {
            fence(e);
        } else {
            log.warn("the lease of {} could not be renewed: {}", identity(), e.getMessage());
        }
    }

    private void fence(IreeException cause) {
        log.error("fenced: {}", cause.getMessage());
        fence.accept(cause);
    }

    /** Releases the lease. May block; does nothing the second time. A fenced lease is released too, since nothing uses the slot any more. */
    public void release() {
        synchronized (this) {
            if (state == State.RELEASED) {
                return;
            }
            state = State.RELEASED;
        }
        lease.release();
    }

    /**
     * Returns the state of the lease, by the clock and not by the last {@link #look()}.
     *
     * @return the state
     */
    public synchronized State state() {
        return state == State.HELD && nanoTime.getAsLong() - renewed >= nanos / 6 * 5 ? State.FENCED : state;
    }

    /**
     * Returns how long ago the lease was renewed.
     *
     * @return the age
     */
    public synchronized Duration age() {
        return Duration.ofNanos(nanoTime.getAsLong() - renewed);
    }

    /**
     * Returns how long the store may be away from now on: without a renewal the node is fenced then.
     *
     * @return the time, never negative
     */
    public synchronized Duration left() {
        return Duration.ofNanos(Math.max(0, nanos / 6 * 5 - (nanoTime.getAsLong() - renewed)));
    }

    /**
     * Returns how long the last renewal took.
     *
     * @return the time; zero before the first
     */
    public synchronized Duration lastRenewal() {
        return Duration.ofNanos(lastRenewalNanos);
    }

    /**
     * Returns how often the lease was renewed.
     *
     * @return the number of renewals
     */
    public synchronized long renewals() {
        return renewals;
    }
}
