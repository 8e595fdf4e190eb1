package io.github.iree4j.lab;

import io.github.iree4j.async.FrontierTracker;
import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.hal.pool.Pool;
import io.github.iree4j.hal.pool.PoolObserver;
import io.github.iree4j.hal.pool.Reservation;
import io.github.iree4j.hal.pool.ReservationRequest;
import io.github.iree4j.lab.LabResult.Block;
import io.github.iree4j.lab.LabResult.Reuse;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Objects;
import java.util.SequencedSet;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The blocks chosen by the pools for the buffers of a run, by buffer name, and the line of requests. Confined to a single
 * thread.
 */
final class LabBlocks implements PoolObserver {
    private final FrontierTracker tracker;
    private final Map<String, Placed> placed = new HashMap<>(); // by the name of the buffer
    private final Map<Integer, Integer> slabs = new HashMap<>(); // numbered from 0 in every run
    private final SequencedSet<String> line = new LinkedHashSet<>(); // names of buffers; failed requests stay
    private long reservations;

    private static final class Placed {
        final Reservation reservation;
        final Reuse reuse;

        @Nullable
        Frontier death;

        Placed(Reservation reservation, Reuse reuse) {
            this.reservation = reservation;
            this.reuse = reuse;
        }
    }

    LabBlocks(FrontierTracker tracker) {
        this.tracker = tracker;
    }

    @Override
    public long reserved(Reservation reservation, ReservationRequest request) {
        line.remove(request.consumer());
        placed.put(request.consumer(), new Placed(reservation, reuse(reservation)));
        return ++reservations;
    }

    private Reuse reuse(Reservation reservation) {
        Frontier death = reservation.death();
        if (!reservation.waits().isEmpty()) {
            return Reuse.AFTER_WAIT;
        }
        if (death.size() == 0) {
            return Reuse.UNUSED;
        }
        return death.isCompleted(tracker) ? Reuse.COMPLETED : Reuse.KNOWN_BEFORE;
    }

    @Override
    public void released(Reservation reservation, Frontier death) {
        placed.values().stream()
                .filter(each -> each.reservation.number() == reservation.number())
                .forEach(each -> each.death = death);
    }

    @Override
    public void waits(Pool pool, ReservationRequest request) {
        line.add(request.consumer());
    }

    /** Takes the buffer whose request joined the line first, and may have failed by now; null for none. */
    @Nullable
    String nextInLine() {
        return line.isEmpty() ? null : line.removeFirst();
    }

    /** Returns the block of a buffer at the allocation. */
    Block allocated(String buffer, Function<Frontier, @Nullable Map<String, Long>> values) {
        Placed its = Objects.requireNonNull(placed.get(buffer), buffer);
        return block(its, its.reuse, values.apply(its.reservation.death()));
    }

    /** Returns the block of a buffer at the release. */
    Block released(String buffer, Function<Frontier, @Nullable Map<String, Long>> values) {
        Placed its = Objects.requireNonNull(placed.get(buffer), buffer);
        Frontier death = its.death == null ? Frontier.EMPTY : its.death;
        return block(its, Reuse.FREED, values.apply(death));
    }

    private Block block(Placed its, Reuse reuse, @Nullable Map<String, Long> frontier) {
        int slab = slabs.computeIfAbsent(its.reservation.slab().number(), _ -> slabs.size());
        return new Block(slab, its.reservation.offset() / LabMemory.UNIT, reuse, frontier);
    }
}
