package io.github.iree4j.hal.pool;

import io.github.iree4j.api.NotForApplications;
import io.github.iree4j.async.FrontierTracker;
import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.LongFunction;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import java.util.function.ToIntFunction;

/** Builds a {@link PoolSet}. Confined to one thread. */
@NotForApplications
public final class PoolSetBuilder {
    /**
     * Parts wasted by blocks: the limit for blocks with much waste, and a part for each of sixteen other blocks.
     * Sixteen is a guess, not measured.
     */
    private static final int LOST_PARTS = Waste.PARTS + 16;

    final SlabProvider provider;
    final FrontierTracker tracker;
    final List<PoolOptions> pools = new ArrayList<>();
    final Map<String, Long> quotas = new HashMap<>();
    BooleanSupplier busy = () -> false;
    ToIntFunction<MemoryHolder> held = call -> 0;
    LongSupplier clock = System::nanoTime;
    LongFunction<Executor> delayed = nanos -> CompletableFuture.delayedExecutor(nanos, TimeUnit.NANOSECONDS);
    Executor growth = Runnable::run;
    long budget = Long.MAX_VALUE;
    long idleAfter = Long.MAX_VALUE;
    long patience = Long.MAX_VALUE;
    long hostPatience = Long.MAX_VALUE;
    PoolObservation observation = new PoolObservation();
    long waste = Long.MAX_VALUE;
    int frontierCapacity = Frontier.DEFAULT_CAPACITY;
    Supplier<String> owner = () -> "";

    PoolSetBuilder(SlabProvider provider, FrontierTracker tracker) {
        this.provider = Objects.requireNonNull(provider, "provider");
        this.tracker = Objects.requireNonNull(tracker, "tracker");
    }

    /**
     * Sets the executor on which the set acquires memory for requests in line after a release or completion. Acquiring
     * takes long, and must not delay the releasing thread.
     *
     * @param executor runs its tasks soon; the same thread unless set
     * @return this builder
     */
    public PoolSetBuilder growth(Executor executor) {
        this.growth = Objects.requireNonNull(executor, "executor");
        return this;
    }

    /**
     * Names the owner of the memory, for messages about shortage.
     *
     * @param name called for each such message, with the lock of the set held; empty, or a word like "device 'a'";
     *     empty unless set
     * @return this builder
     */
    public PoolSetBuilder owner(Supplier<String> name) {
        this.owner = Objects.requireNonNull(name, "name");
        return this;
    }

    /**
     * Sets the observation, through which observers follow the pools.
     *
     * @param shared the observation, borrowed; a new observation unless set
     * @return this builder
     */
    public PoolSetBuilder observation(PoolObservation shared) {
        this.observation = Objects.requireNonNull(shared, "shared");
        return this;
    }

    /**
     * Adds a pool. Requests are offered to pools in the order of addition.
     *
     * @param options the options of the pool
     * @return this builder
     */
    public PoolSetBuilder pool(PoolOptions options) {
        pools.add(Objects.requireNonNull(options, "options"));
        return this;
    }

    /**
     * Sets the common budget of all pools.
     *
     * @param bytes the budget; no limit unless set
     * @return this builder
     */
    public PoolSetBuilder budget(long bytes) {
        this.budget = bytes;
        return this;
    }

    /**
     * Sets the share of the budget that blocks with a slab of their own may waste, since a reused slab may be longer
     * than requested.
     *
     * @param bytes most bytes for each block, and never more than an eighth of its length; but all blocks with more
     *     waste may together waste {@value Waste#PARTS} times as much. An eighth of each block, and no more, unless set
     * @return this builder
     */
    public PoolSetBuilder waste(long bytes) {
        this.waste = bytes;
        return this;
    }

    /**
     * Sets the quota of a consumer.
     *
     * @param consumer the name of the consumer
     * @param bytes the quota; no limit unless set
     * @return this builder
     */
    public PoolSetBuilder quota(String consumer, long bytes) {
        quotas.put(consumer, bytes);
        return this;
    }

    /**
     * Sets the clock measuring the waits of requests and the idle times of slabs.
     *
     * @param nanos nanoseconds from an arbitrary origin; {@link System#nanoTime} unless set
     * @return this builder
     */
    public PoolSetBuilder clock(LongSupplier nanos) {
        this.clock = Objects.requireNonNull(nanos, "nanos");
        return this;
    }

    /**
     * Sets the time for which unused slabs are kept.
     *
     * @param nanos nanoseconds; for ever unless set
     * @return this builder
     */
    public PoolSetBuilder idleAfter(long nanos) {
        this.idleAfter = nanos;
        return this;
    }

    /**
     * Sets the longest wait of a request in line.
     *
     * @param nanos nanoseconds after which the request fails; for ever unless set
     * @return this builder
     */
    public PoolSetBuilder patience(long nanos) {
        this.patience = nanos;
        return this;
    }

    /**
     * Sets the longest wait of a request in line for memory that only the host can free.
     *
     * @param nanos nanoseconds after which the request fails; for ever unless set
     * @return this builder
     */
    public PoolSetBuilder hostPatience(long nanos) {
        this.hostPatience = nanos;
        return this;
    }

    /**
     * Sets the scheduler of looks for idle slabs and deadlocks when no more releases occur. A scheduled look does not keep
     * the set alive.
     *
     * @param executorAfter returns an executor running its tasks after the given number of nanoseconds; {@link
     *     CompletableFuture#delayedExecutor(long, TimeUnit)} unless set; called with no lock held
     * @return this builder
     */
    public PoolSetBuilder delayed(LongFunction<Executor> executorAfter) {
        this.delayed = Objects.requireNonNull(executorAfter, "executorAfter");
        return this;
    }

    /**
     * Sets the maximum number of entries in the joined death frontier of a block.
     *
     * @param entries 1 to {@link Frontier#MAXIMUM_CAPACITY}; {@link Frontier#DEFAULT_CAPACITY} unless set
     * @return this builder
     */
    public PoolSetBuilder frontierCapacity(int entries) {
        this.frontierCapacity = entries;
        return this;
    }

    /**
     * Sets the test for work in flight that ends without help, so that requests in line may wait for memory freed by
     * the work. {@link PoolSet#idle} must be called when the work has ended.
     *
     * @param underWay called with the lock of the set held, takes no locks; always false unless set
     * @return this builder
     */
    public PoolSetBuilder busy(BooleanSupplier underWay) {
        this.busy = Objects.requireNonNull(underWay, "underWay");
        return this;
    }

    /**
     * Sets the test for calls that do not continue before their requests are granted, whatever is in flight.
     *
     * @param requests returns the number of such requests, or 0 when unknown; called with the lock of the set held;
     *     always 0 unless set
     * @return this builder
     */
    public PoolSetBuilder held(ToIntFunction<MemoryHolder> requests) {
        this.held = Objects.requireNonNull(requests, "requests");
        return this;
    }

    /** Bytes of the shared slabs, one slab for each pool sharing slabs among blocks. */
    long sharedSlabs() {
        return pools.stream()
                .filter(each -> each.kind() == PoolKind.TLSF)
                .mapToLong(PoolOptions::slabMaximum)
                .sum();
    }

    /**
     * Bytes that blocks of running calls may take beyond their sizes: the shared slabs, and the unused ends of longer
     * slabs serving one block each.
     */
    long lost() {
        long shared = sharedSlabs();
        boolean isLong = pools.stream().anyMatch(each -> each.kind() == PoolKind.PASS_THROUGH);
        return isLong ? shared + Math.min(waste, Long.MAX_VALUE / 2 / LOST_PARTS) * LOST_PARTS : shared;
    }

    /**
     * Creates the set.
     *
     * @return the set, owned by the caller
     * @throws IreeException INVALID_ARGUMENT without pools, or for a budget or time below 0
     */
    public PoolSet build() {
        if (pools.isEmpty() || budget < 0 || idleAfter < 0 || patience < 0 || hostPatience < 0) {
            throw IreeException.of(
                    StatusCode.INVALID_ARGUMENT,
                    "a pool set has %d pools, budget %d, idle time %d and patience %d, %d for the host; it needs a pool, and none may be negative"
                            .formatted(pools.size(), budget, idleAfter, patience, hostPatience));
        }
        PoolSet set = new PoolSet(this);
        observation.add(set);
        return set;
    }
}
