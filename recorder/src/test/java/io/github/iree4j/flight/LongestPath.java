package io.github.iree4j.flight;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.flight.FlightEvent.Point;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The longest path over the event times of a recording, from its records alone: no code is shared with {@link
 * OperationGraph}, and no way of thinking either. A wait is for the first value of the timeline at or above the awaited
 * value, whatever was decided about the wait. An operation has ended when the host learnt of its end, or of any
 * operation with a frontier that covers it, or when anything began behind such an operation on a stream.
 */
public final class LongestPath {
    private static final long NEVER = Long.MAX_VALUE;

    private final Map<Long, Node> nodes = new HashMap<>(); // by number
    private final List<Node> order = new ArrayList<>(); // as issued
    private final Set<Long> streams = new HashSet<>();
    private final Map<Long, FlightEvent.Reserved> reservations = new HashMap<>();
    private final List<FlightEvent.Released> releases = new ArrayList<>();

    private static final class Node {
        final FlightEvent.Submitted submitted;
        final Map<Long, Long> waitsOver = new HashMap<>(); // by index: when
        FlightEvent.@Nullable Issued issued;
        boolean held;
        long completed = NEVER;
        long began = NEVER;
        long known = NEVER; // completed, or the begin of anything behind it on its stream
        RecordedFrontier frontier = RecordedFrontier.EMPTY;
        long end = NEVER;
        long begin; // the time when the last need was there
        long length; // of the longest path to the operation's end, from time 0

        @Nullable
        Node after; // the previous operation on the path

        boolean tied; // several things were there last

        Node(FlightEvent.Submitted submitted) {
            this.submitted = submitted;
        }

        long epoch() {
            return frontier.epochOf(submitted.axis());
        }

        long issueNumber() {
            return issued == null ? NEVER : issued.sequence();
        }
    }

    private LongestPath(FlightRecording recording) {
        recording.queues().stream().filter(RecordedQueue::stream).forEach(queue -> streams.add(queue.axis()));
        recording.events().forEach(this::read);
        nodes.values().stream().filter(node -> node.issued != null).forEach(order::add);
        order.sort(Comparator.comparingLong(Node::issueNumber));
        order.forEach(node -> node.known = known(node));
        order.forEach(node -> node.end = end(node));
        order.forEach(this::extend);
    }

    private void read(FlightEvent event) {
        switch (event) {
            case FlightEvent.Submitted e -> nodes.put(e.operation(), new Node(e));
            case FlightEvent.WaitOver e -> {
                Node node = nodes.get(e.operation());
                if (node != null) {
                    node.waitsOver.put(e.index(), e.time());
                }
            }
            case FlightEvent.Held e -> {
                Node node = nodes.get(e.operation());
                if (node != null) {
                    node.held = true;
                }
            }
            case FlightEvent.Issued e -> {
                Node node = nodes.get(e.operation());
                if (node != null) {
                    node.issued = e;
                    node.frontier = e.frontier();
                }
            }
            case FlightEvent.Began e -> {
                Node node = nodes.get(e.operation());
                if (node != null) {
                    node.began = e.time();
                }
            }
            case FlightEvent.Completed e -> {
                Node node = nodes.get(e.operation());
                if (node != null) {
                    node.completed = e.time();
                }
            }
            case FlightEvent.Over e -> {
                Node node = nodes.get(e.operation());
                if (node != null && !e.frontier().entries().isEmpty()) {
                    node.frontier = e.frontier();
                }
            }
            case FlightEvent.Reserved e -> reservations.put(e.reservation(), e);
            case FlightEvent.Released e -> releases.add(e);
            default -> {}
        }
    }

    /** The time at which the host learnt of the end, or anything behind it on its stream began. */
    private long known(Node node) {
        return streams.contains(node.submitted.axis())
                ? order.stream()
                        .filter(other ->
                                other.submitted.axis() == node.submitted.axis() && other.epoch() > node.epoch())
                        .mapToLong(other -> other.began)
                        .reduce(node.completed, Math::min)
                : node.completed;
    }

    /** The earliest time of a known end: by its own end, or the end of a successor. */
    private long end(Node node) {
        long end = node.known;
        long epoch = node.epoch();
        if (epoch > 0) {
            for (Node other : order) {
                if (other.frontier.epochOf(node.submitted.axis()) >= epoch) {
                    end = Math.min(end, other.known);
                }
            }
        }
        return end;
    }

    /** Extends the longest of the paths to the needs of an operation. */
    private void extend(Node node) {
        node.begin = -1;
        arrive(node, null, node.submitted.time());
        for (int i = 0; i < node.submitted.waits().size(); i++) {
            Node signaller = signaller(node.submitted.waits().get(i));
            if (signaller != null && signaller.issueNumber() < node.issueNumber()) {
                arrive(node, signaller, signaller.end);
            } else if (signaller == null && node.waitsOver.get((long) i) instanceof Long over) {
                arrive(node, null, over); // the host signalled meanwhile
            }
        }
        if (streams.contains(node.submitted.axis())) {
            Node previous = null;
            for (Node other : order) {
                if (other.submitted.axis() == node.submitted.axis()
                        && other.epoch() < node.epoch()
                        && other.epoch() > (previous == null ? 0 : previous.epoch())) {
                    previous = other;
                }
            }
            if (previous != null) {
                arrive(node, previous, previous.end);
            }
        }
        FlightEvent.Reserved memory = memory(node);
        if (memory != null) {
            for (RecordedFrontier.Entry mark : memory.marks()) {
                Node user = at(mark.axis(), mark.epoch());
                if (user != null && user.issueNumber() < node.issueNumber()) {
                    arrive(node, user, user.end);
                }
            }
            if (node.held) {
                arrive(node, null, memory.time());
            }
        }
        node.length += node.end == NEVER ? 0 : node.end - node.begin;
    }

    private static void arrive(Node node, @Nullable Node before, long time) {
        long at = Math.min(time, node.end);
        node.tied = at == node.begin || node.tied && at < node.begin;
        if (at > node.begin) {
            node.begin = at;
            node.after = before;
            node.length = before == null ? at : before.length + at - before.end;
        }
    }

    /** The signaller of a timeline's value, or of the next higher value if there is none. */
    private @Nullable Node signaller(Point wait) {
        Node found = null;
        long value = NEVER;
        for (Node node : nodes.values()) {
            for (Point signal : node.submitted.signals()) {
                if (signal.timeline() == wait.timeline() && signal.value() >= wait.value() && signal.value() < value) {
                    found = node;
                    value = signal.value();
                }
            }
        }
        return found;
    }

    private @Nullable Node at(long axis, long epoch) {
        for (Node node : order) {
            if (node.submitted.axis() == axis && node.epoch() == epoch) {
                return node;
            }
        }
        return null;
    }

    /**
     * The allocation of an operation: of the two with the name of a reservation at their issue, the second releases the
     * memory.
     */
    private FlightEvent.@Nullable Reserved memory(Node node) {
        long reservation = node.issued == null ? 0 : node.issued.reservation();
        for (Node other : order) {
            if (other.issued != null
                    && other.issued.reservation() == reservation
                    && other.issueNumber() < node.issueNumber()) {
                return null;
            }
        }
        FlightEvent.Reserved found = reservations.get(reservation);
        return found == null || found.persistent() ? null : found;
    }

    private Node node(RecordedOperation operation) {
        return nodes.get(operation.number());
    }

    /** The time when the last need of an operation was there. */
    private long begin(RecordedOperation operation) {
        return node(operation).begin;
    }

    /** When an operation had ended. */
    private long end(RecordedOperation operation) {
        return node(operation).end;
    }

    /** The length of the longest path, from the opening of the recorder. */
    private long length() {
        return order.stream()
                .filter(node -> node.end != NEVER)
                .mapToLong(node -> node.length)
                .max()
                .orElse(0);
    }

    /**
     * The numbers of the operations on the longest path, the last first, as far as the path is unique: up to the first
     * operation let begin by two events at the same time.
     */
    private List<Long> operations() {
        List<Long> path = new ArrayList<>();
        Node node = order.stream()
                .filter(each -> each.end != NEVER)
                .max(Comparator.comparingLong(each -> each.length))
                .orElse(null);
        while (node != null) {
            path.add(node.submitted.operation());
            node = node.tied ? null : node.after;
        }
        return path;
    }

    /**
     * Compares the critical path of a recording with the longest path over the event times; returns the number of
     * operations.
     */
    public static int assertIsCriticalPath(FlightRecording recording, String what) {
        LongestPath longest = new LongestPath(recording);
        List<CriticalPath.Step> steps =
                CriticalPath.of(new OperationGraph(recording)).steps();
        assertThat(steps).as(what).isNotEmpty();
        assertThat(steps.getLast().end()).as(what).isEqualTo(longest.length());
        for (CriticalPath.Step step : steps) {
            assertThat(step.begin())
                    .as("%s: begin of %s", what, step.operation())
                    .isEqualTo(longest.begin(step.operation()));
            assertThat(step.end()).as("%s: end of %s", what, step.operation()).isEqualTo(longest.end(step.operation()));
        }
        List<Long> operations = longest.operations();
        assertThat(steps.reversed().stream().limit(operations.size()))
                .as(what)
                .extracting(step -> step.operation().number())
                .isEqualTo(operations);
        return operations.size();
    }
}
