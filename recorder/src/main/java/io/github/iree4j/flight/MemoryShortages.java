package io.github.iree4j.flight;

import io.github.iree4j.status.Known;
import io.github.iree4j.status.StatusCode;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Objects;
import java.util.StringJoiner;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Finds the requests for memory waiting at the end of a recording, and the holders of the memory: requests of open
 * operations held back for memory, and of calls in progress. Of other requests the recording does not say whether the
 * requester has given up. Confined to one thread.
 */
final class MemoryShortages {
    private static final int MOST_HOLDERS = 5;
    /** The pools of a request not known to be in line for a known pool. */
    private static final int UNKNOWN = RecordedPool.UNKNOWN_SET;

    private final OperationGraph graph;
    private final RecordedMemory memory;
    private final Explanation explanation;
    private final Map<Asked, Map<Integer, NavigableMap<Long, FlightEvent.InLine>>> lines =
            new HashMap<>(); // without memory so far, by set of pools and number of the record
    private final PoolDevices devices;

    /** The key shared by a request in line, the operation and, beside the set of pools, the reservation. */
    private record Asked(long bytes, long call) {}

    /**
     * A waiting request.
     *
     * @param call the number of the requesting call, or of the requesting operation's call; 0 for none
     * @param set the pools that share a limit; UNKNOWN if not known
     * @param pool the name of the pool; empty if not known
     * @param queue the queue of the operation; null if not known
     * @param place the device, as far as known: requests of different places may be of different devices
     * @param isAlike whether the set is not known because requests like this one wait for several sets
     * @param quota the consumer whose quota leaves no room for the request; null for none, or if not known
     */
    private record Work(
            String text,
            boolean isCall,
            long call,
            long bytes,
            long age,
            int set,
            String pool,
            @Nullable RecordedQueue queue,
            String place,
            boolean isAlike,
            FlightEvent.@Nullable ConsumerBytes quota) {
        Limit limit() {
            return new Limit(set, set == UNKNOWN ? place : "", set == UNKNOWN && isAlike, quota);
        }
    }

    /** A limit on memory: of the pools of a set, of a place where the set is not known, or of a consumer in the set. */
    private record Limit(int set, String place, boolean isAlike, FlightEvent.@Nullable ConsumerBytes quota) {}

    MemoryShortages(OperationGraph graph, Explanation explanation) {
        this.graph = graph;
        this.memory = graph.memory();
        this.explanation = explanation;
        this.devices = new PoolDevices(graph);
    }

    /** Returns a problem for each set of pools. */
    Stream<RecordedProblem> find() {
        for (FlightEvent each : graph.recording().events()) {
            if (each instanceof FlightEvent.InLine line) {
                lines.computeIfAbsent(new Asked(line.bytes(), line.call()), unused -> HashMap.newHashMap(1))
                        .computeIfAbsent(memory.set(line.pool()), unused -> new TreeMap<>())
                        .put(line.sequence(), line);
            } else if (each instanceof FlightEvent.Reserved given) {
                leave(given);
            }
        }
        Map<RecordedOperation, Work> ofOperations = new HashMap<>();
        for (FlightEvent.Held held : held()) {
            RecordedOperation each = Objects.requireNonNull(graph.operation(held.operation()));
            List<NavigableMap<Long, FlightEvent.InLine>> alike = alike(each, held);
            FlightEvent.InLine line = take(alike, held); // of a failed operation, too: the failed request left the line
            if (each.status() == StatusCode.OK) {
                ofOperations.put(each, work(each, held, line, alike.size() > 1));
            }
        }
        Map<Limit, List<Work>> all = new LinkedHashMap<>();
        Stream.concat(
                        ofCalls(),
                        explanation.open().stream().map(ofOperations::get).filter(Objects::nonNull))
                .forEach(each -> all.computeIfAbsent(each.limit(), unused -> new ArrayList<>())
                        .add(each));
        return all.entrySet().stream().map(each -> problem(each.getKey(), each.getValue()));
    }

    /**
     * Returns the holds of operations waiting for memory, or failed while waiting, the last first: a request stands in
     * line after the operation was held, so the fewest requests can be of the operation held last.
     */
    private List<FlightEvent.Held> held() {
        return Stream.concat(
                        explanation.states().failed().stream(),
                        explanation.open().stream()
                                .filter(each -> explanation.states().isHeldForMemory(each) == Known.YES))
                .filter(each -> each.issued == null)
                .map(each -> each.held)
                .filter(Objects::nonNull)
                .sorted(Comparator.comparingLong(FlightEvent.Held::sequence).reversed())
                .toList();
    }

    private Work work(
            RecordedOperation operation, FlightEvent.Held held, FlightEvent.@Nullable InLine line, boolean isAlike) {
        RecordedQueue queue = graph.queue(operation.axis());
        int set = line == null ? UNKNOWN : memory.set(line.pool());
        return new Work(
                explanation.title(operation),
                false,
                operation.call(),
                held.bytes(),
                explanation.age(held.time()),
                set == UNKNOWN && !isAlike ? devices.onlySet(queue) : set,
                line == null ? "" : pool(line),
                queue,
                queue == null || devices.isNameOfSeveral(queue)
                        ? "queue " + operation.axis()
                        : "device " + queue.device(),
                isAlike,
                line == null ? null : quota(line));
    }

    /** Takes the request of a reservation out of the line, unless the request never stood there. */
    private void leave(FlightEvent.Reserved given) {
        RecordedOperation allocator = memory.allocator(given.reservation());
        if (allocator != null && allocator.held == null && graph.isWhole(allocator)) {
            return;
        }
        long held = allocator == null || allocator.held == null ? -1 : allocator.held.sequence();
        NavigableMap<Long, FlightEvent.InLine> all = lines.getOrDefault(new Asked(given.size(), given.call()), Map.of())
                .get(memory.set(given.pool()));
        if (all != null && all.higherKey(held) instanceof Long first) {
            all.remove(first);
        }
    }

    /** Returns the requests like an operation's, by set of pools: of each set that may be of the operation's device. */
    private List<NavigableMap<Long, FlightEvent.InLine>> alike(RecordedOperation operation, FlightEvent.Held held) {
        RecordedQueue queue = graph.queue(operation.axis());
        return lines.getOrDefault(new Asked(held.bytes(), operation.call()), Map.of()).entrySet().stream()
                .filter(each ->
                        each.getValue().higherKey(held.sequence()) != null && devices.mayBeOf(each.getKey(), queue))
                .map(Map.Entry::getValue)
                .toList();
    }

    /**
     * Takes the request of an operation out of the line; returns null when the operation's request, if any, is not
     * known.
     */
    private static FlightEvent.@Nullable InLine take(
            List<NavigableMap<Long, FlightEvent.InLine>> alike, FlightEvent.Held held) {
        return alike.size() == 1 ? alike.getFirst().remove(alike.getFirst().higherKey(held.sequence())) : null;
    }

    private String pool(FlightEvent.InLine line) {
        RecordedPool pool = graph.recording().pools().get(line.pool());
        return pool.set() == UNKNOWN ? "" : pool.name();
    }

    /** Returns the requester if the quota left no room for a request when the recording was taken. */
    private FlightEvent.@Nullable ConsumerBytes quota(FlightEvent.InLine line) {
        FlightEvent.PoolsHold taken = memory.taken(memory.set(line.pool()));
        if (taken == null) {
            return null;
        }
        List<FlightEvent.ConsumerBytes> found = taken.consumers().stream()
                .filter(each -> each.consumer().equals(line.consumer()))
                .toList();
        // several share a name beyond the limit of names
        FlightEvent.ConsumerBytes only = found.size() == 1 ? found.getFirst() : null;
        return only == null || only.quota() == Long.MAX_VALUE || line.bytes() <= only.quota() - only.bytes()
                ? null
                : only;
    }

    private Stream<Work> ofCalls() {
        Map<Long, FlightEvent.Call> open = new HashMap<>();
        explanation.openCalls().all().forEach(each -> open.put(each.call(), each));
        List<Work> found = new ArrayList<>();
        lines.forEach((asked, sets) -> {
            FlightEvent.Call call = open.get(asked.call());
            if (call != null) {
                sets.values().stream()
                        .flatMap(each -> each.values().stream())
                        .filter(graph::isCompleteFrom) // else there may have been memory
                        .forEach(line -> found.add(new Work(
                                OpenCalls.title(call),
                                true,
                                call.call(),
                                line.bytes(),
                                explanation.age(line.time()),
                                memory.set(line.pool()),
                                pool(line),
                                null,
                                "call " + call.call(),
                                false,
                                quota(line))));
            }
        });
        return found.stream().sorted(Comparator.comparingLong(Work::age).reversed());
    }

    private RecordedProblem problem(Limit limit, List<Work> all) {
        long calls = all.stream().filter(Work::isCall).count();
        return new RecordedProblem(
                "memory-shortage",
                "waiting for %d bytes of %s: %s; %s"
                        .formatted(
                                all.stream().mapToLong(Work::bytes).sum(),
                                memory(limit, all),
                                RecordedProblem.count(calls, all.size() - calls),
                                holders(limit)),
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
                "close results sooner, make fewer calls at once, or raise the "
                        + (limit.quota() == null ? "limit of the memory" : quotaOf(limit.quota())));
    }

    /** Names the pools, the device and the limit, for example {@code pool 'large' of device 'local', limited to 16777216 bytes}. */
    private static String memory(Limit limit, List<Work> all) {
        List<String> pools = all.stream()
                .map(Work::pool)
                .filter(each -> !each.isEmpty())
                .distinct()
                .map(each -> "'" + each + "'")
                .toList();
        List<RecordedQueue> queues =
                all.stream().flatMap(each -> Stream.ofNullable(each.queue())).toList();
        boolean isOneDevice =
                queues.stream().map(RecordedQueue::device).distinct().count() == 1;
        String name =
                (pools.isEmpty() ? "memory" : (pools.size() == 1 ? "pool " : "pools ") + String.join(" and ", pools))
                        + (isOneDevice ? " of device '" + queues.getFirst().device() + "'" : "");
        if (limit.quota() != null) {
            return "%s, limited to %d bytes by the %s"
                    .formatted(name, limit.quota().quota(), quotaOf(limit.quota()));
        }
        return isOneDevice
                ? "%s, limited to %d bytes".formatted(name, queues.getFirst().memoryLimit())
                : name;
    }

    private static String quotaOf(FlightEvent.ConsumerBytes consumer) {
        return "quota of " + consumer(consumer.consumer());
    }

    private static String consumer(String name) {
        return name.isEmpty() ? "no program" : "program '" + name + "'";
    }

    /** Says who holds memory: everything held when the recording was taken, and otherwise as far as the recording has reservations. */
    private String holders(Limit limit) {
        int set = limit.set();
        if (set == UNKNOWN) {
            return "who holds memory is not known: "
                    + (limit.isAlike()
                            ? "equal requests wait for memory of several devices or kinds, and which one is of which"
                                    + " operation is not recorded"
                            : "the records of the request, or of its pool, are missing");
        }
        List<HeldMemory> held = HeldMemory.of(graph, set).stream()
                .filter(each -> limit.quota() == null
                        || each.consumer().equals(limit.quota().consumer()))
                .toList();
        boolean isWhole = memory.taken(set) != null;
        if (held.isEmpty() && isWhole) {
            return "nobody held memory when the recording was taken";
        }
        StringJoiner text = new StringJoiner(
                ", ",
                held.size() > 1
                        ? "%d bytes are held: "
                                .formatted(held.stream()
                                        .mapToLong(HeldMemory::bytes)
                                        .sum())
                        : "memory is held by ",
                "");
        String since = HeldMemory.unrecordedSince(graph, set);
        held.stream().limit(MOST_HOLDERS).forEach(each -> text.add(holder(each, since)));
        if (held.size() > MOST_HOLDERS) {
            text.add("%d more".formatted(held.size() - MOST_HOLDERS));
        }
        if (!isWhole) {
            FlightRecording.Header header = graph.recording().header();
            boolean lacksSome = held.isEmpty() || header.completeFrom() > 0 || header.dropped() > 0;
            text.add(lacksSome ? "others whose records are missing" : "perhaps others from before the recording");
        }
        return text.toString();
    }

    private String holder(HeldMemory held, String unrecordedSince) {
        StringJoiner parts = new StringJoiner(" and ");
        if (held.blocks() > 0) {
            parts.add("%d bytes in %s for %s"
                    .formatted(
                            held.recorded(),
                            held.blocks() == 1 ? "1 block" : "%d blocks, the oldest".formatted(held.blocks()),
                            Explanation.duration(explanation.age(held.since()))));
        }
        if (held.unrecorded() > 0) {
            parts.add("%d bytes %s".formatted(held.unrecorded(), unrecordedSince));
        }
        return "%s with %s".formatted(consumer(held.consumer()), parts);
    }
}
