package io.github.iree4j.flight;

import io.github.iree4j.async.Fence;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.flight.FlightEvent.Point;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.Known;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Timelines representing the recorded timelines. Confined to one thread. */
final class ReplayTimelines implements AutoCloseable {
    private final Map<Long, TimelineSemaphore> timelines = new HashMap<>();
    private final List<Fence> fences = new ArrayList<>();

    ReplayTimelines(List<RecordedOperation> operations) {
        Map<Point, List<RecordedOperation>> signallers = new HashMap<>();
        for (RecordedOperation each : operations) {
            for (Point point : each.signals()) {
                signallers.computeIfAbsent(point, unused -> new ArrayList<>()).add(each);
            }
        }
        signallers.values().removeIf(all -> all.size() == 1);
        Set<Point> found = new HashSet<>(); // by decisions, reached or promised
        for (RecordedOperation each : signallers.isEmpty() ? List.<RecordedOperation>of() : operations) {
            for (FlightEvent.Decided decided : each.decided) {
                for (int i = 0; i < decided.decisions().size(); i++) {
                    long value = decided.decisions().get(i).value();
                    found.add(new Point(each.waits().get(i).timeline(), value));
                }
            }
        }
        signallers.forEach((point, all) -> {
            long signals = found.contains(point) ? accepted(point, all) : all.size();
            if (signals > 1 && isPossible(point.value())) {
                timeline(point).expectSignals(point.value(), (int) signals);
            }
        });
    }

    /**
     * Returns how many signals have brought a timeline to a value: one, or all where the application expected several.
     * Signals still to come would be refused.
     */
    private static long accepted(Point point, List<RecordedOperation> signallers) {
        return signallers.stream()
                .filter(each -> each.over != null && each.isAccepted(point) != Known.NO)
                .count();
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
