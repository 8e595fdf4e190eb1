package io.github.iree4j.hal.pool;

import java.util.Map;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** The shares of a gate: the limit of the device and the quotas. The bytes of a call with a quota are committed in both. */
final class Shares {
    /** The limit of the device. */
    final Share all;

    private final Map<String, Share> quotas;

    Shares(PoolSetBuilder builder) {
        long limit = Math.min(builder.budget, builder.provider.capacity());
        long most = limit / 16;
        this.all = new Share(limit, Math.min(most, builder.sharedSlabs()), Math.min(most, builder.lost()));
        this.quotas = builder.quotas.entrySet().stream()
                .collect(Collectors.toUnmodifiableMap(Map.Entry::getKey, each -> new Share(each.getValue(), 0, 0)));
    }

    /** The share of a consumer; null without a quota. */
    @Nullable
    Share quota(String consumer) {
        return quotas.isEmpty() ? null : quotas.get(consumer);
    }

    /** The limit of a consumer's calls: the quota, or the limit of the device for null. */
    Share limit(@Nullable Share quota) {
        return quota == null ? all : quota;
    }

    /**
     * Returns the commitment for a call that might hold more memory than exists, since nothing is known of how many
     * such calls fit beside each other: everything, or the quota, whichever bounds the call; 0 for other calls.
     */
    long unknown(@Nullable Share quota, MemoryEstimate estimate) {
        long most = estimate.most();
        if (most <= estimate.bytes()) {
            return 0;
        }
        if (quota != null && most > quota.limit() && quota.limit() < all.limit()) {
            return quota.limit();
        }
        return most > all.limit() ? Long.MAX_VALUE : 0;
    }

    /** Commits the need of a call; returns the full share, null when the need is committed. */
    @Nullable
    Share commit(@Nullable Share quota, long need, long had) {
        return commit(quota, share -> share.tryCommit(need, had), need, had);
    }

    private @Nullable Share commit(@Nullable Share quota, Predicate<Share> commit, long need, long had) {
        if (quota != null && !commit.test(quota)) {
            return quota;
        }
        if (commit.test(all)) {
            return null;
        }
        if (quota != null) {
            quota.release(need, had);
        }
        return all;
    }

    /** Commits everything, or a quota, to a call with an unknown need; returns the share in use, null when committed. */
    @Nullable
    Share commitAll(PlaceInLine call, long most) {
        long had = call.inputs();
        long inputs = call.estimate.inputs();
        Predicate<Share> commit =
                share -> most >= share.limit() ? share.tryCommitAll(inputs, had) : share.tryCommit(most, had);
        return commit(call.quota, commit, most, had);
    }

    /** Commits the inputs of a call that waits for its fence; returns the full share, null when committed. Under the lock of the gate. */
    @Nullable
    Share commitAhead(PlaceInLine call) {
        long inputs = call.estimate.inputs();
        long whole = Math.max(call.estimate.bytes(), unknown(call.quota, call.estimate));
        if (call.quota != null && !call.quota.tryCommitAhead(inputs, whole)) {
            return call.quota;
        }
        if (all.tryCommitAhead(inputs, whole)) {
            return null;
        }
        if (call.quota != null) {
            call.quota.release(inputs, 0);
            call.quota.releaseAhead(inputs);
        }
        return all;
    }

    /** Commits the need of a call without room. */
    void commitAnyway(@Nullable Share quota, long need, long had) {
        all.commit(need, had);
        if (quota != null) {
            quota.commit(need, had);
        }
    }

    /** Releases committed bytes, except for a rest. */
    void release(@Nullable Share quota, long bytes, long rest) {
        all.release(bytes, all.part(rest));
        if (quota != null) {
            quota.release(bytes, quota.part(rest));
        }
    }

    /** Releases the bytes committed to a call that ends. */
    void exit(Admission call) {
        long needed = call.estimate.bytes(); // the need shown by the call, if successful
        all.needs(needed);
        if (call.quota != null) {
            call.quota.needs(needed);
        }
        release(call.quota, call.committed(), 0);
    }

    /** Records an admission after a wait. Under the lock of the gate. */
    void moves(@Nullable Share quota, long now) {
        all.lastAdmitted = now;
        if (quota != null) {
            quota.lastAdmitted = now;
        }
    }

    /** Stops counting the inputs of a call as inputs of a call admitted for the inputs alone. Under the lock of the gate. */
    void releaseAhead(PlaceInLine call) {
        long inputs = call.inputs();
        all.releaseAhead(inputs);
        if (call.quota != null) {
            call.quota.releaseAhead(inputs);
        }
    }

    /** Adds to the memory kept by the host or programs, or subtracts. Under the lock of the set. */
    void keep(@Nullable Share quota, long bytes, boolean byProgram) {
        all.keep(bytes, byProgram);
        if (quota != null) {
            quota.keep(bytes, byProgram);
        }
    }
}
