package io.github.iree4j.flight;

import io.github.iree4j.status.Known;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.StringJoiner;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Finds the requests for memory that wait at the end of a recording, and the holders of the memory: requests of open
 * operations held back for memory, and of calls in progress. Of other requests the recording does not say whether the
 * requester has given up. Confined to one thread.
 */
final class MemoryShortages {
    private static final int MOST_HOLDERS = 5;
    private static final int UNKNOWN = -1; // the pools of a request not known to be in line for one

    private final OperationGraph graph;
    private final Explanation explanation;
    private final Map<Request, List<FlightEvent.InLine>> lines = new HashMap<>(); // without memory so far
    private final Map<Integer, String> devices = new HashMap<>(); // by the set of pools that their operations used

    /** What a request in line and the reservation for the request have in common. */
    private record Request(int set, long bytes, long call) {}

    /**
     * A waiting request.
     *
     * @param call the number of the requesting call, or of the requesting operation's call; 0 for none
     * @param set the pools that share a limit; UNKNOWN if not known
     * @param pool the name of the pool; empty if not known
     * @param queue the queue of the operation; null if not known
     */
    private record Work(
            String text,
            boolean isCall,
            long call,
            long bytes,
            long age,
            int set,
            String pool,
            @Nullable RecordedQueue queue) {}

    /**
     * Held memory.
     *
     * @param since the earliest reservation
     */
    private record Held(String consumer, long bytes, int blocks, long since) {
        Held and(Held other) {
            return new Held(consumer, bytes + other.bytes, blocks + other.blocks, Math.min(since, other.since));
        }
    }

    MemoryShortages(OperationGraph graph, Explanation explanation) {
        this.graph = graph;
        this.explanation = explanation;
    }

    /** Returns a problem for each set of pools. */
    Stream<RecordedProblem> find() {
        graph.operations().forEach(this::readDevice);
        for (FlightEvent each : graph.recording().events()) {
            if (each instanceof FlightEvent.InLine line) {
                lines.computeIfAbsent(
                                new Request(set(line.pool()), line.bytes(), line.call()), unused -> new ArrayList<>())
                        .add(line);
            } else if (each instanceof FlightEvent.Reserved given) {
                leave(given);
            }
        }
        for (RecordedOperation each : explanation.states().failed()) {
            if (each.held != null && each.issued == null) {
                take(each, each.held); // left the line with its failure
            }
        }
        List<Work> ofOperations = new ArrayList<>();
        for (RecordedOperation each : explanation.open()) {
            FlightEvent.Held held = each.held;
            if (held != null && explanation.states().isHeldForMemory(each) == Known.YES) {
                FlightEvent.InLine line = take(each, held);
                ofOperations.add(new Work(
                        explanation.title(each),
                        false,
                        each.call(),
                        held.bytes(),
                        explanation.age(held.time()),
                        line == null ? setOfDevice(each) : set(line.pool()),
                        line == null ? "" : pool(line),
                        graph.queue(each.axis())));
            }
        }
        Map<Integer, List<Work>> all = new LinkedHashMap<>();
        Stream.concat(ofCalls(), ofOperations.stream())
                .forEach(each -> all.computeIfAbsent(each.set(), unused -> new ArrayList<>())
                        .add(each));
        return all.entrySet().stream().map(each -> problem(each.getKey(), each.getValue()));
    }

    private void readDevice(RecordedOperation operation) {
        if (operation.reserved != null) {
            devices.put(set(operation.reserved.pool()), device(operation));
        }
    }

    private String device(RecordedOperation operation) {
        RecordedQueue queue = graph.queue(operation.axis());
        return queue == null ? "" : queue.device();
    }

    /** Takes the request of a reservation out of the line, unless the request never stood there. */
    private void leave(FlightEvent.Reserved given) {
        RecordedOperation allocator = graph.memory().allocator(given.reservation());
        if (allocator != null && allocator.held == null && graph.isWhole(allocator)) {
            return;
        }
        long held = allocator == null || allocator.held == null ? -1 : allocator.held.sequence();
        List<FlightEvent.InLine> all =
                lines.getOrDefault(new Request(set(given.pool()), given.size(), given.call()), List.of());
        all.stream().filter(each -> each.sequence() > held).findFirst().ifPresent(all::remove);
    }

    /** Takes the request of an operation out of the line; returns null when it is not known which request, if any, is the operation's. */
    private FlightEvent.@Nullable InLine take(RecordedOperation operation, FlightEvent.Held held) {
        List<Request> found = lines.entrySet().stream()
                .filter(each -> each.getKey().bytes() == held.bytes()
                        && each.getKey().call() == operation.call()
                        && devices.getOrDefault(each.getKey().set(), device(operation))
                                .equals(device(operation))
                        && each.getValue().stream().anyMatch(line -> line.sequence() > held.sequence()))
                .map(Map.Entry::getKey)
                .toList();
        if (found.size() != 1) {
            return null;
        }
        List<FlightEvent.InLine> all = lines.getOrDefault(found.getFirst(), List.of());
        FlightEvent.InLine first = all.stream()
                .filter(each -> each.sequence() > held.sequence())
                .findFirst()
                .orElseThrow();
        all.remove(first);
        return first;
    }

    /** Returns the only set of pools known to be of an operation's device. */
    private int setOfDevice(RecordedOperation operation) {
        List<Integer> sets = devices.entrySet().stream()
                .filter(each -> each.getValue().equals(device(operation)))
                .map(Map.Entry::getKey)
                .toList();
        return sets.size() == 1 ? sets.getFirst() : UNKNOWN;
    }

    private int set(int pool) {
        return graph.recording().pools().get(pool).set();
    }

    private String pool(FlightEvent.InLine line) {
        return graph.recording().pools().get(line.pool()).name();
    }

    private Stream<Work> ofCalls() {
        Map<Long, FlightEvent.Call> open = new HashMap<>();
        explanation
                .inProgress(OpenRecords.MAXIMUM)
                .forEach(each -> open.put(each.call().call(), each.call()));
        List<Work> found = new ArrayList<>();
        for (List<FlightEvent.InLine> each : lines.values()) {
            for (FlightEvent.InLine line : each) {
                FlightEvent.Call call = open.get(line.call());
                if (call != null && graph.isCompleteFrom(line)) { // else there may have been memory
                    found.add(new Work(
                            OpenCalls.title(call),
                            true,
                            call.call(),
                            line.bytes(),
                            explanation.age(line.time()),
                            set(line.pool()),
                            pool(line),
                            null));
                }
            }
        }
        return found.stream().sorted(Comparator.comparingLong(Work::age).reversed());
    }

    private RecordedProblem problem(int set, List<Work> all) {
        long calls = all.stream().filter(Work::isCall).count();
        return new RecordedProblem(
                "memory-shortage",
                "waiting for %d bytes of %s: %s; %s"
                        .formatted(
                                all.stream().mapToLong(Work::bytes).sum(),
                                memory(all),
                                RecordedProblem.count(calls, all.size() - calls),
                                holders(set)),
                all.stream().mapToLong(Work::age).max().orElse(0),
                RecordedProblem.calls(all.stream().mapToLong(Work::call)),
                List.of(),
                RecordedProblem.listed(all.stream()
                        .map(each -> "%s, has waited %s for %d bytes%s"
                                .formatted(
                                        each.text(),
                                        Explanation.duration(each.age()),
                                        each.bytes(),
                                        each.pool().isEmpty() ? "" : " of pool '" + each.pool() + "'"))
                        .toList()),
                "close results sooner, make fewer calls at once, or raise the limit of the memory");
    }

    /** Names the pools and the device, for example {@code pool 'large' of device 'local', limited to 16777216 bytes}. */
    private static String memory(List<Work> all) {
        List<String> pools = all.stream()
                .map(Work::pool)
                .filter(each -> !each.isEmpty())
                .distinct()
                .map(each -> "'" + each + "'")
                .toList();
        List<RecordedQueue> queues =
                all.stream().flatMap(each -> Stream.ofNullable(each.queue())).toList();
        return (pools.isEmpty() ? "memory" : (pools.size() == 1 ? "pool " : "pools ") + String.join(" and ", pools))
                + (queues.stream().map(RecordedQueue::device).distinct().count() == 1
                        ? " of device '%s', limited to %d bytes"
                                .formatted(
                                        queues.getFirst().device(),
                                        queues.getFirst().memoryLimit())
                        : "");
    }

    /** Says who holds memory, as far as the recording has reservations without missing the releases. */
    private String holders(int set) {
        if (set == UNKNOWN) {
            return "who holds memory is not known: the records of the request are missing";
        }
        FlightRecording.Header header = graph.recording().header();
        Map<String, Held> held = new HashMap<>();
        for (FlightEvent.Reserved each : graph.memory().reservations()) {
            if (graph.isCompleteFrom(each)
                    && graph.memory().released(each.reservation()) == null
                    && set(each.pool()) == set) {
                held.merge(each.consumer(), new Held(each.consumer(), each.length(), 1, each.time()), Held::and);
            }
        }
        StringJoiner text = new StringJoiner(
                ", ",
                held.size() > 1
                        ? "%d bytes are held: "
                                .formatted(held.values().stream()
                                        .mapToLong(Held::bytes)
                                        .sum())
                        : "memory is held by ",
                "");
        held.values().stream()
                .sorted(Comparator.comparingLong(Held::bytes).reversed())
                .limit(MOST_HOLDERS)
                .forEach(each -> text.add("%s with %d bytes in %s for %s"
                        .formatted(
                                each.consumer().isEmpty() ? "no program" : "program '" + each.consumer() + "'",
                                each.bytes(),
                                each.blocks() == 1 ? "1 block" : "%d blocks, the oldest".formatted(each.blocks()),
                                Explanation.duration(explanation.age(each.since())))));
        if (held.size() > MOST_HOLDERS) {
            text.add("%d more".formatted(held.size() - MOST_HOLDERS));
        }
        if (held.isEmpty() || header.completeFrom() > 0 || header.dropped() > 0) {
            text.add("others whose records are missing");
        }
        return text.toString();
    }
}
