package io.github.iree4j.flight;

import io.github.iree4j.lab.JsonText;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * A log for ShiViz, one event for the end of each operation: its first line is parsed by {@code (?<host>\S*) (?<clock>\{.*\})}, its second
 * says what it is. A queue is a host. Clocks are counted from the recorded waits rather than taken from frontiers, which leave out what has
 * completed.
 */
final class ShivizExport {
    private final OperationGraph graph;
    private final Map<Long, String> names = new HashMap<>(); // by axis

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
            String host = host(each);
            Map<String, Long> clock = new TreeMap<>(hosts.getOrDefault(host, Map.of()));
            for (Dependency dependency : graph.dependencies(each)) {
                RecordedOperation before = dependency.before();
                if (before != null) {
                    clocks.getOrDefault(before, Map.of()).forEach((name, count) -> clock.merge(name, count, Math::max));
                }
            }
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

    /** A name of its own for each axis, even if two devices have the same. */
    private String host(RecordedOperation operation) {
        return names.computeIfAbsent(operation.axis(), axis -> {
            RecordedQueue queue = graph.queue(axis);
            String name = queue == null
                    ? "unknown"
                    : "%s/%d".formatted(queue.device().replaceAll("[\\s\\p{Z}\\p{Cc}\\uFEFF]", "_"), queue.index());
            String host = name;
            for (int i = 2; names.containsValue(host); i++) {
                host = "%s(%d)".formatted(name, i);
            }
            return host;
        });
    }
}
