package io.github.iree4j.flight;

import io.github.iree4j.flight.OpenCalls.Awaited;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Finds the points that open work waits for and nobody in a recording signals. Confined to one thread.
 *
 * <p>The search goes backwards: from the missing signals to the open operations waiting for one, to the operations
 * waiting for a signal of these, and so on. An operation belongs to the missing signal the fewest operations away.
 */
final class MissingSignals {
    private final Explanation explanation;
    private final Map<RecordedOperation, Reason> reasons = new HashMap<>();
    private final Map<String, List<Work>> byRoot = new LinkedHashMap<>();

    /**
     * A wait holding work back.
     *
     * @param point the awaited point
     * @param behind the operation to signal the point; null for the missing signal
     * @param root the missing signal
     * @param length number of points from here to the missing signal
     */
    private record Reason(String point, @Nullable RecordedOperation behind, String root, int length) {}

    /**
     * Waiting work.
     *
     * @param waited the age in words
     * @param call the number of the call, or of an operation's call; 0 for none
     */
    private record Work(String text, boolean isCall, long age, String waited, long call, Reason reason) {}

    /** An operation waiting for a point to be signalled by another. */
    private record Waiter(RecordedOperation operation, String point) {}

    MissingSignals(Explanation explanation) {
        this.explanation = explanation;
    }

    /** Returns a problem for each missing signal. */
    Stream<RecordedProblem> find() {
        List<RecordedOperation> open = explanation.open();
        follow(open);
        for (OpenCalls.Waiting each : explanation.inProgress(OpenRecords.MAXIMUM)) {
            each.waits().stream()
                    .map(this::reason)
                    .filter(Objects::nonNull)
                    .findFirst()
                    .ifPresent(reason -> add(new Work(
                            OpenCalls.title(each.call()),
                            true,
                            each.call().age(),
                            Explanation.duration(each.call().age()),
                            each.call().call(),
                            reason)));
        }
        for (RecordedOperation each : open) {
            Reason reason = reasons.get(each);
            if (reason != null) {
                OperationStates states = explanation.states();
                add(new Work(
                        explanation.title(each),
                        false,
                        states.waited(each),
                        states.waiting(each),
                        each.call(),
                        reason));
            }
        }
        return byRoot.entrySet().stream().map(each -> problem(each.getKey(), each.getValue()));
    }

    private void add(Work work) {
        byRoot.computeIfAbsent(work.reason().root(), unused -> new ArrayList<>())
                .add(work);
    }

    /** Returns how a wait leads to a missing signal; null if the wait does not. */
    private @Nullable Reason reason(Awaited wait) {
        if (wait.signaller() == null) {
            return new Reason(wait.point(), null, wait.point(), 1);
        }
        Reason behind = reasons.get(wait.signaller());
        return behind == null ? null : new Reason(wait.point(), wait.signaller(), behind.root(), behind.length() + 1);
    }

    private void follow(List<RecordedOperation> open) {
        Map<RecordedOperation, List<Waiter>> waiters = new HashMap<>();
        Deque<RecordedOperation> next = new ArrayDeque<>();
        for (RecordedOperation each : open) {
            for (Awaited wait : explanation.states().awaited(each)) {
                if (wait.signaller() != null) {
                    waiters.computeIfAbsent(wait.signaller(), unused -> new ArrayList<>())
                            .add(new Waiter(each, wait.point()));
                } else if (reasons.putIfAbsent(each, new Reason(wait.point(), null, wait.point(), 1)) == null) {
                    next.add(each);
                }
            }
        }
        while (!next.isEmpty()) {
            RecordedOperation before = next.remove();
            for (Waiter each : waiters.getOrDefault(before, List.of())) {
                Reason reason = reason(new Awaited(each.point(), before));
                if (reason != null && reasons.putIfAbsent(each.operation(), reason) == null) {
                    next.add(each.operation());
                }
            }
        }
    }

    private RecordedProblem problem(String root, List<Work> all) {
        long calls = all.stream().filter(Work::isCall).count();
        // Calls are first, the oldest at the beginning; of operations the one with the most others in between tells
        // most.
        Work shown = calls > 0
                ? all.getFirst()
                : all.stream()
                        .max(Comparator.comparingInt(each -> each.reason().length()))
                        .orElseThrow();
        return new RecordedProblem(
                "unsignalled-fence",
                "nobody in the recording signals %s; waiting for the signal: %s"
                        .formatted(root, RecordedProblem.count(calls, all.size() - calls)),
                all.stream().mapToLong(Work::age).max().orElse(0),
                RecordedProblem.calls(all.stream().mapToLong(Work::call)),
                links(shown),
                RecordedProblem.listed(all.stream()
                        .map(each -> "%s, has waited %s for %s"
                                .formatted(
                                        each.text(),
                                        each.waited(),
                                        each.reason().point()))
                        .toList()),
                "signal the timeline, submit the work that does, or fail it; otherwise cancel what waits");
    }

    private List<String> links(Work work) {
        List<String> links = new ArrayList<>(List.of(work.text()));
        Reason reason = work.reason();
        while (reason.behind() != null) {
            links.add(reason.point());
            links.add(explanation.title(reason.behind()));
            reason = Objects.requireNonNull(reasons.get(reason.behind()));
        }
        links.add(reason.root());
        return RecordedProblem.shortened(links);
    }
}
