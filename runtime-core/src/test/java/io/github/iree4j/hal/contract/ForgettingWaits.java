package io.github.iree4j.hal.contract;

import io.github.iree4j.async.Fence;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.frontier.CausalDomain;
import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.hal.SchedulingDomain;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/**
 * Points reached with as many entries as frontiers of a domain can have, all with greater epochs than the operations of
 * a test: a waiter forgets all other predecessors. The entries complete at the end.
 */
public final class ForgettingWaits implements AutoCloseable {
    private static final long EPOCH = 1_000_000;

    private final SchedulingDomain domain;
    private final List<Long> axes = new ArrayList<>();
    private final List<Fence> points = new ArrayList<>();

    /** Points of new axes of a domain. */
    public ForgettingWaits(SchedulingDomain domain) {
        this.domain = domain;
        for (int i = 0; i < domain.frontierCapacity(); i++) {
            long axis = domain.axes().allocate(CausalDomain.HOST);
            domain.tracker().register(axis);
            axes.add(axis);
            TimelineSemaphore timeline = TimelineSemaphore.create(0);
            timeline.signal(1, Frontier.producedBy(axis, EPOCH + i));
            points.add(Fence.adopt(timeline, 1));
        }
    }

    /** Returns a fence at these points and at the points of another fence, closed by the caller. */
    public Fence and(Fence other) {
        List<Fence> all = new ArrayList<>(points);
        all.add(other);
        return Objects.requireNonNull(Fence.joinNullable(all));
    }

    @Override
    public void close() {
        points.forEach(Fence::close);
        axes.forEach(axis -> domain.tracker().advance(axis, EPOCH + axes.size()));
    }
}
