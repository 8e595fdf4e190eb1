package io.github.iree4j.flight;

import io.github.iree4j.lab.JsonText;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * A log for ShiViz, one event for the end of each operation: its first line is parsed by {@code (?<host>\S*) (?<clock>\{.*\})}, its second
 * says what it is. A stream is a host. An unordered queue is as many as it takes for each to have operations that follow one another: an
 * operation goes to the first of them whose last operation it follows, or to a new one. Clocks are counted from the recorded waits rather than taken from frontiers, which leave out what has
 * completed.
 */
final class ShivizExport {
    /** The most hosts of an unordered queue; what would need more is on the last one, as if in the order of ends. */
    static final int MAXIMUM_HOSTS = 64;

    private final OperationGraph graph;
    private final Map<Long, List<String>> names = new HashMap<>(); // of hosts, by axis
    private final Set<String> taken = new HashSet<>();

    ShivizExport(OperationGraph graph) {
        this.graph = graph;
    }

    String log() {
        List<RecordedOperation> ended = graph.operations().stream()
                .filter(each -> graph.end(each) != RecordedOperation.NEVER)
                .sorted(Comparator.comparingLong(graph::end).thenComparingLong(OperationGraph::issueNumber))
                .toList();
        Map<RecordedOperation, Map<String, Long>> clocks = new HashMap<>();
        Map<String, Map<String, Long>> hosts = new HashMap<>();
        StringBuilder log = new StringBuilder();
        for (RecordedOperation each : ended) {
            Map<String, Long> clock = new TreeMap<>();
            for (Dependency dependency : graph.dependencies(each)) {
                RecordedOperation before = dependency.before();
                if (before != null) {
                    clocks.getOrDefault(before, Map.of()).forEach((name, count) -> clock.merge(name, count, Math::max));
                }
            }
            String host = host(each.axis(), clock, hosts);
            hosts.getOrDefault(host, Map.of()).forEach((name, count) -> clock.merge(name, count, Math::max));
            clock.merge(host, 1L, Long::sum);
            hosts.put(host, clock);
            clocks.put(each, clock);
            write(log, host, clock, each);
        }
        return log.toString();
    }

    private static void write(StringBuilder log, String host, Map<String, Long> clock, RecordedOperation operation) {
        log.append(host).append(" {");
        String separator = "";
        for (Map.Entry<String, Long> each : clock.entrySet()) {
            log.append(separator);
            JsonText.quote(each.getKey(), log);
            log.append(':').append(each.getValue());
            separator = ", ";
        }
        log.append("}\n#%d %s".formatted(operation.number(), oneLine(operation.name())));
        if (!operation.function().isEmpty()) {
            log.append(" of ").append(oneLine(operation.function()));
        }
        log.append('\n');
    }

    private static String oneLine(String text) {
        return text.replaceAll("[\\p{Cc}\\u2028\\u2029]", " "); // all that ends a line for JavaScript
    }

    /** The host of an operation, given what it follows and the clocks of all hosts. */
    private String host(long axis, Map<String, Long> follows, Map<String, Map<String, Long>> hosts) {
        RecordedQueue queue = graph.queue(axis);
        List<String> own = names.computeIfAbsent(axis, unused -> new ArrayList<>());
        for (String each : own) {
            long last = hosts.getOrDefault(each, Map.of()).getOrDefault(each, 0L);
            if (queue == null || queue.stream() || follows.getOrDefault(each, 0L) >= last) {
                return each;
            }
        }
        if (own.size() < MAXIMUM_HOSTS) {
            own.add(name(queue));
        }
        return own.getLast();
    }

    /** A name that no host has yet, even if two devices have the same. */
    private String name(@Nullable RecordedQueue queue) {
        String name = queue == null
                ? "unknown"
                : "%s/%d".formatted(queue.device().replaceAll("[\\s\\p{Z}\\p{Cc}\\uFEFF]", "_"), queue.index());
        String host = name;
        for (int i = 2; !taken.add(host); i++) {
            host = "%s(%d)".formatted(name, i);
        }
        return host;
    }
}
