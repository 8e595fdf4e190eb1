package io.github.iree4j.flight;

import io.github.iree4j.async.Fence;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.flight.FlightEvent.Point;
import io.github.iree4j.status.IreeException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** Timelines representing the recorded timelines. Confined to one thread. */
final class ReplayTimelines implements AutoCloseable {
    private final Map<Long, TimelineSemaphore> timelines = new HashMap<>();
    private final List<Fence> fences = new ArrayList<>();

    ReplayTimelines(List<RecordedOperation> operations) {
        Map<Long, TreeMap<Long, Integer>> signals = new HashMap<>();
        Set<Long> ids = new HashSet<>();
        for (RecordedOperation each : operations) {
            each.waits().forEach(point -> ids.add(point.timeline()));
            for (Point point : each.signals()) {
                ids.add(point.timeline());
                signals.computeIfAbsent(point.timeline(), unused -> new TreeMap<>())
                        .merge(point.value(), 1, Integer::sum);
            }
        }
        for (long id : ids) {
            TimelineSemaphore timeline = TimelineSemaphore.create(0);
            timelines.put(id, timeline);
            signals.getOrDefault(id, new TreeMap<>()).forEach((value, count) -> {
                if (count > 1 && isPossible(value)) {
                    timeline.expectSignals(value, count);
                }
            });
        }
    }

    private TimelineSemaphore timeline(Point point) {
        return timelines.computeIfAbsent(point.timeline(), id -> TimelineSemaphore.create(0));
    }

    private static boolean isPossible(long value) {
        return value > 0 && value <= TimelineSemaphore.MAXIMUM_VALUE;
    }

    /** Signals for the host, unless already signalled. */
    void signal(Point point) {
        TimelineSemaphore timeline = timeline(point);
        if (isPossible(point.value()) && timeline.failure() == null && timeline.value() < point.value()) {
            timeline.signal(point.value());
        }
    }

    /** Fails a timeline for the host. */
    void fail(Point point, IreeException cause) {
        timeline(point).fail(cause);
    }

    /** Returns a fence at points; null for none. Closed with these timelines. */
    @Nullable
    Fence fence(List<Point> points) {
        return fence(points, null);
    }

    /** Returns a fence at points, and at 1 of another timeline if there is such a timeline; null for none. Closed with these timelines. */
    @Nullable
    Fence fence(List<Point> points, @Nullable TimelineSemaphore last) {
        List<Fence.Entry> entries = new ArrayList<>();
        for (Point point : points) {
            if (isPossible(point.value())) {
                entries.add(new Fence.Entry(timeline(point), point.value()));
            }
        }
        if (last != null) {
            entries.add(new Fence.Entry(last, 1));
        }
        if (entries.isEmpty()) {
            return null;
        }
        Fence fence = Fence.of(entries);
        fences.add(fence);
        return fence;
    }

    @Override
    public void close() {
        fences.forEach(Fence::close);
        timelines.values().forEach(TimelineSemaphore::close);
    }
}
