package io.github.iree4j.hal.pool;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.async.Cancellation;
import io.github.iree4j.async.FrontierTracker;
import io.github.iree4j.frontier.Axis;
import io.github.iree4j.frontier.CausalDomain;
import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.status.IreeException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Named consumers that request memory of a set of pools, are granted memory at once or in line, and release the memory.
 */
abstract class MemoryLine {
    static final long MB = 1_000_000;
    static final long AXIS = Axis.of(1, 0, CausalDomain.QUEUE, 1);
    static final long OTHER = Axis.of(1, 0, CausalDomain.QUEUE, 0);

    final FrontierTracker tracker = FrontierTracker.create();
    final FakeSlabs slabs = new FakeSlabs();
    final AtomicLong clock = new AtomicLong(1_000_000);
    boolean busy = true;
    final Map<String, Reservation> got = new HashMap<>();
    final Map<String, IreeException> failed = new HashMap<>();
    final List<String> order = new ArrayList<>();

    final PoolSetBuilder builder(long budget) {
        return PoolSet.builder(slabs, tracker)
                .clock(clock::get)
                .delayed(_ -> _ -> {}) // in real time the end would come between; tests of alarms have a timer
                .busy(() -> busy)
                .budget(budget);
    }

    final PoolSet set(long budget) {
        return builder(budget).pool(PoolOptions.tlsf("t", 64, 64 * MB)).build();
    }

    /** A request of a consumer of this name. The consumer releases a grant. */
    final Cancellation ask(PoolSet set, String name, long size) {
        return set.reserve(ReservationRequest.of(size).withConsumer(name), (reservation, failure) -> {
            order.add(name);
            if (reservation != null) {
                reservation.announceRelease();
                got.put(name, reservation);
            } else {
                failed.put(name, failure);
            }
        });
    }

    final void release(String name) {
        assertThat(got.remove(name).release(Frontier.EMPTY)).isTrue();
    }
}
