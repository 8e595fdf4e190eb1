package io.github.iree4j.flight;

import io.github.iree4j.hal.DeviceInfo;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.Known;
import io.github.iree4j.status.StatusCode;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * A scenario of the laboratory, as YAML readable by the laboratory: each ended operation, with the running time and the
 * time of the submission, in ticks of a nanosecond. Waits for the host's signals, for unrecorded operations and for
 * operations left out are left out, and so is memory.
 */
final class ScenarioExport {
    private static final int MAXIMUM_OPERATIONS = 16_384; // of a scenario
    private static final int MAXIMUM_QUEUES = 4096; // also chains of operations placed on lanes
    private static final int MAXIMUM_TIMELINES = 16_384;
    private static final int MAXIMUM_POINTS = 131_072;
    private static final int MAXIMUM_LANES = 64;
    private static final int MAXIMUM_HARDWARE = 256;
    private static final long LONGEST = 100_000_000_000L; // duration
    private static final long LATEST = 1_000_000_000_000_000L; // submission, from the first

    private final OperationGraph graph;
    private final Explanation explanation;
    private final Map<Long, RunAtOnce> runAtOnce; // by axis of a queue without order
    private final Map<Long, String> hardware = new HashMap<>(); // by axis

    ScenarioExport(OperationGraph graph) {
        this.graph = graph;
        this.explanation = new Explanation(graph);
        this.runAtOnce = RunAtOnce.of(graph, explanation);
    }

    String yaml() {
        List<RecordedOperation> all = graph.operations().stream()
                .filter(each -> graph.end(each) != RecordedOperation.NEVER
                        && graph.hasEnded(each) == Known.YES
                        && graph.queue(each.axis()) != null)
                .toList();
        if (all.isEmpty()) {
            throw IreeException.of(
                    StatusCode.RESOURCE_EXHAUSTED,
                    "the recording has no operations that ended, and a scenario has at least 1; record for a longer time");
        }
        int others = graph.operations().size() - all.size();
        boolean streams = graph.recording().queues().stream().allMatch(RecordedQueue::stream);
        int leftOut = leftOut(all);
        while (!streams && chains(all.subList(leftOut, all.size())) > MAXIMUM_QUEUES) {
            leftOut += Math.max(1, (all.size() - leftOut) / 16);
        }
        all = all.subList(leftOut, all.size());
        ScenarioWaits waits = new ScenarioWaits(graph, all, !streams);
        StringBuilder text = new StringBuilder("id: recorded\nlabel: Recorded from a running system\n");
        text.append("description: Ticks are nanoseconds; operations of ")
                .append(graph.recording().header().start())
                .append(
                        leftOut == 0
                                ? ""
                                : "; the latest %d of %d that ended".formatted(all.size(), leftOut + all.size()))
                .append(
                        others == 0
                                ? ""
                                : "; without %d that did not end, did not run, or lack records".formatted(others))
                .append(fewerLanes())
                .append(".\nplacement: ")
                .append(streams ? "queues" : "lanes")
                .append("\nhardware:\n");
        nameHardware(streams);
        hardware(streams, text);
        text.append("semaphores: [");
        text.append(String.join(", ", waits.timelines(explanation.openCalls()))).append("]\noperations:\n");
        long origin = all.getFirst().submittedAt();
        for (RecordedOperation each : all) {
            operation(each, waits, streams, origin, text);
        }
        return text.toString();
    }

    /** Returns how many of the first operations exceed the room of a scenario. */
    private int leftOut(List<RecordedOperation> all) {
        Set<Long> timelines = new HashSet<>();
        int points = 0;
        int first = all.size();
        while (first > 0 && all.size() - first < MAXIMUM_OPERATIONS) {
            RecordedOperation next = all.get(first - 1);
            // For the order of signals one wait each, and two points for the order of the stream.
            points += next.waits().size() + 2 * next.signals().size() + 2;
            next.signals().forEach(point -> timelines.add(point.timeline()));
            if (all.getLast().submittedAt() - next.submittedAt() > LATEST
                    || points > MAXIMUM_POINTS
                    || timelines.size() + graph.recording().queues().size() > MAXIMUM_TIMELINES) {
                break;
            }
            first--;
        }
        if (first == all.size()) {
            throw IreeException.of(
                    StatusCode.RESOURCE_EXHAUSTED,
                    "%s has %d waits and signals, and a scenario at most %d on %d timelines"
                            .formatted(all.getLast(), points, MAXIMUM_POINTS, MAXIMUM_TIMELINES));
        }
        return first;
    }

    /**
     * Returns the number of chains of operations, each waiting for the operation before: the laboratory makes a queue
     * for each chain of a queue without order, and for each stream.
     */
    private int chains(List<RecordedOperation> some) {
        Set<RecordedOperation> ends = new HashSet<>();
        Set<Long> streams = new HashSet<>();
        int chains = 0;
        for (RecordedOperation each : some) {
            RecordedQueue queue = graph.queue(each.axis());
            if (queue != null && queue.stream()) {
                chains += streams.add(each.axis()) ? 1 : 0;
                continue;
            }
            RecordedOperation before = null;
            for (int i = 0; i < each.waits().size() && before == null; i++) {
                RecordedOperation producer = graph.producer(each, i);
                boolean follows = producer != null && producer.axis() == each.axis() && ends.contains(producer);
                before = follows ? producer : null;
            }
            chains += before == null ? 1 : 0;
            ends.remove(before);
            ends.add(each);
        }
        return chains;
    }

    private void hardware(boolean streams, StringBuilder text) {
        Map<String, Integer> lanes = new LinkedHashMap<>();
        Map<String, Integer> machines = new HashMap<>();
        for (RecordedQueue queue : graph.recording().queues()) {
            int needed = streams
                    ? queue.index() + 1
                    : runAtOnce.getOrDefault(queue.axis(), RunAtOnce.ONE).most();
            String id = hardware.getOrDefault(queue.axis(), "");
            lanes.merge(id, Math.min(MAXIMUM_LANES, needed), Math::max);
            machines.put(id, DeviceInfo.machine(queue.device(), queue.axis()));
        }
        boolean several = new HashSet<>(machines.values()).size() > 1;
        checkCount(lanes.size(), streams ? "devices" : "queues, some without order", MAXIMUM_HARDWARE);
        int queues = lanes.values().stream().mapToInt(Integer::intValue).sum();
        checkCount(streams ? queues : 0, "queues", MAXIMUM_QUEUES);
        lanes.forEach((id, count) -> text.append("  - {id: ")
                .append(id)
                .append(", lanes: ")
                .append(count)
                .append(several ? ", machine: machine_" + machines.get(id) : "")
                .append("}\n"));
    }

    /** Returns how many operations of a queue without order ran at once, if more than a scenario has lanes; else empty. */
    private String fewerLanes() {
        int most = runAtOnce.values().stream().mapToInt(RunAtOnce::most).max().orElse(0);
        return most > MAXIMUM_LANES
                ? "; %d operations of a queue ran at once, and %d lanes are the most of a scenario"
                        .formatted(most, MAXIMUM_LANES)
                : "";
    }

    private static void checkCount(int count, String what, int most) {
        if (count > most) {
            throw IreeException.of(
                    StatusCode.RESOURCE_EXHAUSTED,
                    "the recording has %d %s, and a scenario at most %d; record fewer devices in a domain"
                            .formatted(count, what, most));
        }
    }

    /** Names the hardware of each queue: the queues of a device share hardware if all are streams; devices never share hardware. */
    private void nameHardware(boolean streams) {
        Map<String, String> devices = new HashMap<>(); // by name
        Set<String> places = new HashSet<>(); // of queues; two devices may have the same id
        for (RecordedQueue queue : graph.recording().queues()) {
            String own = name(queue.device());
            String id = own;
            for (int i = 2; !isFree(id, queue, devices, places); i++) {
                id = own + "_" + i;
            }
            hardware.put(queue.axis(), streams ? id : id + "-" + queue.index());
        }
    }

    private static boolean isFree(String id, RecordedQueue queue, Map<String, String> devices, Set<String> places) {
        String other = devices.putIfAbsent(id, queue.device());
        return (other == null || other.equals(queue.device())) && places.add(id + "-" + queue.index());
    }

    /** Returns a name accepted unchanged by YAML and scenarios. */
    private static String name(String text) {
        String name = text.replaceAll("[^A-Za-z0-9_]", "_");
        return "d_" + name.substring(0, Math.min(64, name.length()));
    }

    private void operation(
            RecordedOperation operation, ScenarioWaits waits, boolean streams, long origin, StringBuilder text) {
        RecordedQueue queue = graph.queue(operation.axis());
        if (queue == null) {
            return;
        }
        String kind = operation.name().replaceAll("[^A-Za-z0-9_]", "_");
        text.append("  - {id: o").append(operation.number()).append('_').append(kind, 0, Math.min(64, kind.length()));
        text.append(", hw: ").append(hardware.getOrDefault(queue.axis(), ""));
        text.append(", duration: ").append(duration(operation));
        points(" wait", waits.of(operation), text);
        points(" signal", waits.signals(operation), text);
        if (streams) {
            text.append(", queue: ").append(Math.min(MAXIMUM_LANES - 1, queue.index()));
        }
        text.append(", submitted: ")
                .append(Math.max(0, operation.submittedAt() - origin))
                .append("}\n");
    }

    private long duration(RecordedOperation operation) {
        long running = explanation.times(operation).running();
        if (running > LONGEST) {
            throw IreeException.of(
                    StatusCode.OUT_OF_RANGE,
                    "%s ran for %d ns, and an operation of a scenario runs for at most %d; record shorter operations"
                            .formatted(operation, running, LONGEST));
        }
        return running;
    }

    private static void points(String key, Map<String, Long> points, StringBuilder text) {
        if (points.isEmpty()) {
            return;
        }
        text.append(',').append(key).append(": {");
        String separator = "";
        for (Map.Entry<String, Long> each : points.entrySet()) {
            text.append(separator).append(each.getKey()).append(": ").append(each.getValue());
            separator = ", ";
        }
        text.append('}');
    }
}
