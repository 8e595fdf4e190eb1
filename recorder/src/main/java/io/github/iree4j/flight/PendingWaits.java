package io.github.iree4j.flight;

import io.github.iree4j.flight.FlightEvent.Point;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Set;
import java.util.TreeMap;

/**
 * Waits of open work for points of timelines. A point is reached by any signal of the value or of a higher value, and
 * work ends once all awaited points are reached. Each wait is released once: the time is proportional to the number of
 * waits and signals, but for the search in a tree. Confined to one thread.
 */
final class PendingWaits {
    private final Map<Long, NavigableMap<Long, List<Wait>>> byTimeline = new HashMap<>(); // by timeline and value
    private final Map<OpenWork, Integer> left = new HashMap<>(); // number of waits
    private final List<Wait> all;
    private final Set<Wait> released = new HashSet<>();

    /** A wait of open work. */
    record Wait(OpenWork waiter, Point point) {}

    PendingWaits(List<Wait> waits) {
        all = waits;
        for (Wait each : waits) {
            byTimeline
                    .computeIfAbsent(each.point().timeline(), unused -> new TreeMap<>())
                    .computeIfAbsent(each.point().value(), unused -> new ArrayList<>())
                    .add(each);
            left.merge(each.waiter(), 1, Integer::sum);
        }
    }

    /** Releases the waits ended by the signal of a point. */
    List<Wait> release(Point signal) {
        return release(Long.MIN_VALUE, signal);
    }

    /**
     * Releases the waits ended by a signal of open work: work waiting for a value of a timeline does not bring the
     * timeline to this value, or a lower value.
     */
    List<Wait> release(OpenWork signaller, Point signal) {
        return release(signaller.awaits(signal.timeline()), signal);
    }

    /** Releases the waits ended by the signals of open work. */
    List<Wait> release(OpenWork signaller) {
        return signaller.signals().stream()
                .flatMap(each -> release(signaller, each).stream())
                .toList();
    }

    private List<Wait> release(long above, Point signal) {
        NavigableMap<Long, List<Wait>> values = byTimeline.get(signal.timeline());
        if (values == null || above >= signal.value()) {
            return List.of();
        }
        NavigableMap<Long, List<Wait>> reached = values.subMap(above, false, signal.value(), true);
        List<Wait> found = reached.values().stream().flatMap(List::stream).toList();
        reached.clear();
        released.addAll(found);
        found.forEach(each -> left.merge(each.waiter(), -1, Integer::sum));
        return found;
    }

    /**
     * Ends the work without unreleased waits, and the work waiting for this work, and so on; returns the other work.
     */
    List<OpenWork> endAllOf(Collection<OpenWork> work) {
        Deque<OpenWork> ending = new ArrayDeque<>();
        work.stream().filter(this::isReleased).forEach(ending::add);
        while (!ending.isEmpty()) {
            for (Wait each : release(ending.remove())) {
                if (isReleased(each.waiter())) {
                    ending.add(each.waiter());
                }
            }
        }
        return work.stream().filter(each -> !isReleased(each)).toList();
    }

    private boolean isReleased(OpenWork work) {
        return left.getOrDefault(work, 0) == 0;
    }

    /** Returns the waits not released, in the given order. */
    List<Wait> remaining() {
        return all.stream().filter(each -> !released.contains(each)).toList();
    }
}
