package io.github.iree4j.flight;

import io.github.iree4j.flight.FlightEvent.Point;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The waits and signals of a scenario's operations. The laboratory takes the values of a timeline only in order: an
 * operation has to follow the signaller of the value before. Where only the host, or an unrecorded operation, kept this
 * order in the recording, the operation waits for the value before. An order that nothing in the recording keeps is
 * refused. Immutable.
 */
final class ScenarioWaits {
    private static final int MAXIMUM_LABEL = 128; // of a scenario
    private static final Pattern UNPRINTABLE = Pattern.compile("[\\p{Cc}\\p{Cs}\\p{Zl}\\p{Zp}\\uFFFE\\uFFFF]");
    private static final long MAXIMUM_VALUE = 1_000_000_000_000_000L; // of a scenario

    private final OperationGraph graph;
    private final boolean keepsOrder; // of streams, by timelines: beside a queue without order
    private final Map<Long, NavigableMap<Long, RecordedOperation>> signals = new TreeMap<>(); // by timeline and value
    private final Map<Long, NavigableMap<Long, RecordedOperation>> streams = new TreeMap<>(); // by axis and epoch
    private final Map<RecordedOperation, Map<String, Long>> waits = new HashMap<>();
    private final Map<RecordedOperation, Integer> numbers = new HashMap<>(); // of the operations with waits
    private final Map<RecordedOperation, BitSet> before = new HashMap<>(); // all predecessors

    /**
     * Finds the waits and signals.
     *
     * @param keepsOrder whether timelines keep the order of streams
     * @throws IreeException when the laboratory would refuse a value, or the order of signals
     */
    ScenarioWaits(OperationGraph graph, List<RecordedOperation> all, boolean keepsOrder) {
        this.graph = graph;
        this.keepsOrder = keepsOrder;
        for (RecordedOperation each : all) {
            last(each).forEach((timeline, value) -> {
                check(each, timeline, value);
                signals.computeIfAbsent(timeline, unused -> new TreeMap<>()).putIfAbsent(value, each);
            });
            RecordedQueue queue = graph.queue(each.axis());
            if (queue != null && queue.stream() && each.epoch() > 0) {
                streams.computeIfAbsent(each.axis(), unused -> new TreeMap<>()).put(each.epoch(), each);
            }
        }
        // An operation waits only for operations issued before.
        all.stream()
                .sorted(Comparator.comparingLong(OperationGraph::issueNumber))
                .forEach(this::add);
    }

    private static void check(RecordedOperation operation, long timeline, long value) {
        if (value < 1 || value > MAXIMUM_VALUE) {
            throw refusal("%s signals timeline %d at %d, and the values of a scenario are within [1, %d]; count from 0"
                    .formatted(operation, timeline, value, MAXIMUM_VALUE));
        }
    }

    private static IreeException refusal(String message) {
        return IreeException.of(StatusCode.OUT_OF_RANGE, message);
    }

    private void add(RecordedOperation operation) {
        Map<String, Long> own = new LinkedHashMap<>();
        BitSet past = new BitSet();
        waits(operation).forEach((timeline, value) -> {
            own.put(name(timeline), value);
            follow(past, signaller(timeline, value));
        });
        RecordedOperation earlier = keepsOrder ? previous(operation) : null;
        if (earlier != null) {
            own.put(order(operation.axis()), earlier.epoch());
            follow(past, earlier);
        }
        signalled(operation).forEach((timeline, value) -> {
            Map.Entry<Long, RecordedOperation> lower =
                    signals.getOrDefault(timeline, new TreeMap<>()).lowerEntry(value);
            if (lower == null || isIn(past, lower.getValue())) {
                return;
            }
            if (!isKnownToFollow(operation, lower.getValue(), new Point(timeline, lower.getKey()))) {
                throw refusal(
                        ("%s signals timeline %d at %d, and is not known to follow %s, which signals %d; the laboratory"
                                        + " needs the order: let the operation wait for the value, or use a timeline for each")
                                .formatted(operation, timeline, value, lower.getValue(), lower.getKey()));
            }
            own.merge(name(timeline), lower.getKey(), Math::max);
            follow(past, lower.getValue());
        });
        numbers.put(operation, numbers.size());
        before.put(operation, past);
        waits.put(operation, own);
    }

    private void follow(BitSet past, @Nullable RecordedOperation producer) {
        if (producer != null && numbers.get(producer) instanceof Integer number) {
            past.set(number);
            past.or(before.getOrDefault(producer, past));
        }
    }

    private boolean isIn(BitSet past, RecordedOperation producer) {
        Integer number = numbers.get(producer);
        return number != null && past.get(number);
    }

    /** Whether an operation ran after the signaller of a point, without a wait for an operation. */
    private boolean isKnownToFollow(RecordedOperation operation, RecordedOperation producer, Point point) {
        if (!numbers.containsKey(producer)) {
            return false; // issued later
        }
        FlightEvent ended = producer.completed == null ? producer.over : producer.completed;
        return isStreamed(operation)
                        && isStreamed(producer)
                        && producer.axis() == operation.axis()
                        && producer.epoch() < operation.epoch()
                || ended != null && ended.sequence() < OperationGraph.issueNumber(operation)
                || operation.waits().stream()
                        .anyMatch(each -> each.timeline() == point.timeline() && each.value() >= point.value());
    }

    private boolean isStreamed(RecordedOperation operation) {
        return operation.epoch() > 0 && streams.containsKey(operation.axis());
    }

    private @Nullable RecordedOperation previous(RecordedOperation operation) {
        Map.Entry<Long, RecordedOperation> found =
                streams.getOrDefault(operation.axis(), new TreeMap<>()).lowerEntry(operation.epoch());
        return found == null ? null : found.getValue();
    }

    /** Returns all timelines, as YAML. */
    List<String> timelines(OpenCalls calls) {
        List<String> names = new ArrayList<>();
        signals.keySet().forEach(each -> names.add(labelled(name(each), calls.name(each))));
        if (keepsOrder) {
            streams.keySet().forEach(each -> names.add(order(each)));
        }
        return names;
    }

    /** Returns the value awaited by an operation on each timeline, by name. */
    Map<String, Long> of(RecordedOperation operation) {
        return waits.getOrDefault(operation, Map.of());
    }

    /** Returns the value signalled by an operation on each timeline, by name. */
    Map<String, Long> signals(RecordedOperation operation) {
        Map<String, Long> named = new LinkedHashMap<>();
        signalled(operation).forEach((timeline, value) -> named.put(name(timeline), value));
        if (keepsOrder && isStreamed(operation)) {
            named.put(order(operation.axis()), operation.epoch());
        }
        return named;
    }

    /** Returns the points of an operation, without points signalled before by another operation. */
    private Map<Long, Long> signalled(RecordedOperation operation) {
        Map<Long, Long> own = last(operation);
        own.entrySet().removeIf(each -> !operation.equals(signaller(each.getKey(), each.getValue())));
        return own;
    }

    /** Returns the largest value of each timeline signalled by an operation: smaller values are reached along. */
    private static Map<Long, Long> last(RecordedOperation operation) {
        Map<Long, Long> own = new TreeMap<>();
        operation.signals().forEach(point -> own.merge(point.timeline(), point.value(), Math::max));
        return own;
    }

    private @Nullable RecordedOperation signaller(long timeline, long value) {
        NavigableMap<Long, RecordedOperation> values = signals.get(timeline);
        return values == null ? null : values.get(value);
    }

    /**
     * Returns the waits ended by exported operations, for the values signalled by these. Such an operation was issued
     * before the waiter. The host, or an operation left out, ended the others.
     */
    private Map<Long, Long> waits(RecordedOperation operation) {
        Map<Long, Long> found = new TreeMap<>();
        for (int i = 0; i < operation.waits().size(); i++) {
            long timeline = operation.waits().get(i).timeline();
            RecordedOperation producer = graph.producer(operation, i);
            if (producer != null
                    && last(producer).get(timeline) instanceof Long value
                    && signaller(timeline, value) instanceof RecordedOperation exported
                    && OperationGraph.issueNumber(exported) < OperationGraph.issueNumber(operation)) {
                found.merge(timeline, value, Math::max);
            }
        }
        return found;
    }

    /** Returns a timeline with the given name, as far as a label of a scenario can have the name. */
    private static String labelled(String id, String given) {
        String label = UNPRINTABLE.matcher(given).replaceAll(" ");
        if (label.length() > MAXIMUM_LABEL) {
            boolean isPair = Character.isHighSurrogate(label.charAt(MAXIMUM_LABEL - 1));
            label = label.substring(0, isPair ? MAXIMUM_LABEL - 1 : MAXIMUM_LABEL);
        }
        if (label.isBlank()) {
            return id;
        }
        StringBuilder yaml = new StringBuilder("{id: ").append(id).append(", label: ");
        JsonText.quote(label, yaml);
        return yaml.append('}').toString();
    }

    private static String name(long timeline) {
        return "t" + timeline;
    }

    /** Returns the name of a timeline keeping the order of a stream where lanes do not. */
    private static String order(long axis) {
        return "q" + Long.toHexString(axis);
    }
}
