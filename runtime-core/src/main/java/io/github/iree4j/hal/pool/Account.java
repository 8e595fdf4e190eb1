package io.github.iree4j.hal.pool;

import org.jspecify.annotations.Nullable;

/** The memory charged to a consumer. Guarded by the lock of the set. */
final class Account {
    final String consumer;
    final long quota;
    final @Nullable Share share; // null without a quota
    long transientLive;
    long persistentLive;
    long peak;
    long ofNoCallTransient; // live bytes not held by a call
    long ofNoCallPersistent;
    int users; // number of reservations and requests in line
    int hopeful; // holdings with memory that the last look found hopeful, see Hope
    boolean ended; // whether the last look found memory of a call that has ended

    @Nullable
    Claim claim; // null without a quota

    Account(String consumer, long quota, @Nullable Share share) {
        this.consumer = consumer;
        this.quota = quota;
        this.share = share;
    }

    /** The name for messages. */
    String name() {
        return consumer.isEmpty() ? "the unnamed consumer" : "'" + consumer + "'";
    }

    long live() {
        return transientLive + persistentLive;
    }

    boolean isOverQuota(long length) {
        return length > quota - live();
    }

    void add(long bytes, boolean persistent) {
        if (persistent) {
            persistentLive += bytes;
        } else {
            transientLive += bytes;
        }
        peak = Math.max(peak, live());
    }

    ConsumerStatistics statistics() {
        return new ConsumerStatistics(consumer, quota, transientLive, persistentLive, peak);
    }
}
