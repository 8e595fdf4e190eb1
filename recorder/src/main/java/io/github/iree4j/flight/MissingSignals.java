package io.github.iree4j.flight;

import io.github.iree4j.flight.FlightEvent.Point;
import io.github.iree4j.flight.PendingWaits.Wait;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Finds the points awaited by hanging work and signalled by nobody in a recording. Confined to one thread.
 *
 * <p>The search goes backwards: from the missing signals to the waiting work, to the work waiting for a signal of this
 * work, and so on. Work belongs to the missing signal the fewest signallers away; the other points awaited by the work
 * are counted.
 */
final class MissingSignals {
    private final Hangs hangs;
    private final Map<OpenWork, Reason> reasons = new HashMap<>();
    private final Map<OpenWork, Set<Point>> unsignalled = new HashMap<>();
    private final Map<OpenWork, Set<Point>> hanging = new HashMap<>(); // the same, and points with hanging signallers

    /**
     * A wait holding work back.
     *
     * @param point the awaited point
     * @param behind the work to signal the point; null for the missing signal
     * @param root the missing signal
     * @param length number of points from here to the missing signal
     */
    private record Reason(Point point, @Nullable OpenWork behind, Point root, int length) {}

    MissingSignals(Hangs hangs) {
        this.hangs = hangs;
        add(hangs.unsignalled(), unsignalled);
        add(hangs.unsignalled(), hanging);
        add(hangs.signalled(), hanging);
    }

    private static void add(List<Wait> waits, Map<OpenWork, Set<Point>> points) {
        waits.forEach(each ->
                points.computeIfAbsent(each.waiter(), unused -> new HashSet<>()).add(each.point()));
    }

    /** Returns a problem for each missing signal. */
    Stream<RecordedProblem> find() {
        follow();
        Map<Point, List<OpenWork>> byRoot = new LinkedHashMap<>();
        for (OpenWork each : hangs.work()) {
            Reason reason = reasons.get(each);
            if (reason != null) {
                byRoot.computeIfAbsent(reason.root(), unused -> new ArrayList<>())
                        .add(each);
            }
        }
        return byRoot.entrySet().stream().map(each -> problem(each.getKey(), each.getValue()));
    }

    private void follow() {
        Deque<OpenWork> next = new ArrayDeque<>();
        for (Wait each : hangs.unsignalled()) {
            Reason reason = new Reason(each.point(), null, each.point(), 1);
            if (reasons.putIfAbsent(each.waiter(), reason) == null) {
                next.add(each.waiter());
            }
        }
        PendingWaits waits = new PendingWaits(hangs.signalled());
        while (!next.isEmpty()) {
            OpenWork before = next.remove();
            Reason behind = reason(before);
            for (Wait each : waits.release(before)) {
                Reason reason = new Reason(each.point(), before, behind.root(), behind.length() + 1);
                if (reasons.putIfAbsent(each.waiter(), reason) == null) {
                    next.add(each.waiter());
                }
            }
        }
    }

    private Reason reason(OpenWork work) {
        return Objects.requireNonNull(reasons.get(work));
    }

    private RecordedProblem problem(Point root, List<OpenWork> all) {
        OpenWork first = all.getFirst();
        boolean isKnown = hangs.missing().isEmpty();
        String signal = first.describe(root);
        long missing = all.stream()
                .flatMap(each -> unsignalled.getOrDefault(each, Set.of()).stream())
                .distinct()
                .count();
        return new RecordedProblem(
                isKnown ? "unsignalled-fence" : RecordedProblem.UNKNOWN,
                "%s; waiting for the signal%s: %s"
                        .formatted(
                                isKnown
                                        ? "nobody in the recording signals " + signal
                                        : "not known who signals %s: %s".formatted(signal, hangs.missing()),
                                besides(missing - 1),
                                RecordedProblem.count(all)),
                RecordedProblem.oldest(all),
                RecordedProblem.calls(all),
                links(shown(all)),
                RecordedProblem.listed(all.stream()
                        .map(each -> each.line(reason(each).point()) + besides(points(each) - 1))
                        .toList()),
                isKnown
                        ? "signal the timeline, submit the work that does, or fail it; otherwise cancel what waits"
                        : "if no work is to signal the timeline, signal or fail it; otherwise cancel what waits");
    }

    private int points(OpenWork work) {
        return hanging.getOrDefault(work, Set.of()).size();
    }

    /** Says for how many points work waits besides a point; empty for none. */
    private static String besides(long points) {
        return points == 0 ? "" : ", and for " + RecordedCalls.count(points, "more point");
    }

    /** Returns the most telling work: a call if there are calls, with the most other work in between. */
    private OpenWork shown(List<OpenWork> all) {
        OpenWork shown = all.getFirst(); // calls are first, the oldest at the beginning
        for (OpenWork each : all) {
            boolean isLonger = reason(each).length() > reason(shown).length();
            shown = isLonger && each.isCall() == shown.isCall() ? each : shown;
        }
        return shown;
    }

    private List<String> links(OpenWork work) {
        List<String> links = new ArrayList<>(List.of(work.title()));
        Reason reason = reason(work);
        while (reason.behind() != null) {
            links.add(work.describe(reason.point()));
            links.add(reason.behind().title());
            reason = reason(reason.behind());
        }
        links.add(work.describe(reason.root()));
        return RecordedProblem.shortened(links);
    }
}
