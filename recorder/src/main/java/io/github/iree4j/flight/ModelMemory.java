package io.github.iree4j.flight;

import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The limits of the memory of modelled devices, each by the limit of the recorded device. Sizes and limits of a device
 * are divided by the same number, so a model takes little memory, or multiplied, since devices have a smallest limit.
 * Immutable.
 */
final class ModelMemory {
    private static final long MEMORY = 64 << 20; // of a modelled device
    private static final long SMALLEST = 1 << 20;
    private static final long PEAKS = 8; // room for the peak of several copies of a call

    private final Map<String, Long> free = new HashMap<>(); // bytes by device, before scaling

    /** The memory of a device while the records are read. */
    private static final class Use {
        long live;
        long peak;
        long kept; // by the host
        long peakKept;
        long earlier; // held from before the records to the end

        void change(boolean persistent, long bytes) {
            live += persistent ? 0 : bytes;
            kept += persistent ? bytes : 0;
            peak = Math.max(peak, live);
            peakKept = Math.max(peakKept, kept);
        }
    }

    /** Reads the limits of a recording's devices, and changes these to a percentage. Without room, no request fits. */
    ModelMemory(OperationGraph graph, int percent) {
        Map<String, Use> uses = uses(graph);
        Map<String, Long> limits = new HashMap<>();
        graph.recording().queues().forEach(queue -> limits.merge(queue.device(), queue.memoryLimit(), Math::min));
        limits.forEach((device, limit) -> {
            Use use = uses.getOrDefault(device, new Use());
            long room = percentage(limit, percent) - use.peakKept - use.earlier;
            long needed = use.peak > Long.MAX_VALUE / PEAKS ? Long.MAX_VALUE : PEAKS * use.peak;
            free.put(device, Math.max(1, Math.min(room, Math.max(SMALLEST, needed))));
        });
    }

    /** Returns a percentage, at most the largest number. */
    private static long percentage(long bytes, int percent) {
        long hundredth = bytes / 100;
        return hundredth >= Long.MAX_VALUE / percent - 1
                ? Long.MAX_VALUE
                : hundredth * percent + bytes % 100 * percent / 100;
    }

    private static Map<String, Use> uses(OperationGraph graph) {
        Map<Integer, String> devices = PoolDevices.ofOperationsAndLimits(graph);
        Map<Integer, Long> recorded = new HashMap<>(); // held when listed, by set
        Map<String, Use> uses = new HashMap<>();
        for (FlightEvent event : graph.recording().events()) {
            FlightEvent.Reserved reserved = event instanceof FlightEvent.Reserved now
                    ? now
                    : event instanceof FlightEvent.Released then
                            ? graph.memory().reservation(then.reservation())
                            : null;
            if (reserved != null) {
                int set = graph.memory().set(reserved.pool());
                long change = event instanceof FlightEvent.Reserved ? reserved.length() : -reserved.length();
                if (event.sequence() < graph.memory().takenBefore(set)) {
                    recorded.merge(set, change, Long::sum);
                }
                of(uses, devices.get(set)).change(reserved.persistent(), change);
            }
        }
        for (FlightEvent.PoolsHold each : graph.memory().taken()) {
            if (!HeldMemory.isAgeUnknown(graph, each.set())) {
                long unrecorded = Math.max(0, each.bytes() - recorded.getOrDefault(each.set(), 0L));
                of(uses, devices.get(each.set())).earlier +=
                        Math.min(unrecorded, HeldMemory.earlierAtMost(graph, each.set()));
            }
        }
        return uses;
    }

    private static Use of(Map<String, Use> uses, @Nullable String device) {
        return device == null ? new Use() : uses.computeIfAbsent(device, unused -> new Use());
    }

    private long divisor(String device) {
        return Math.ceilDiv(free.getOrDefault(device, MEMORY), MEMORY);
    }

    private long factor(String device) {
        return Math.ceilDiv(SMALLEST, free.getOrDefault(device, MEMORY));
    }

    /** Returns the limit of a modelled device, in bytes. */
    long limit(String device) {
        return free.getOrDefault(device, MEMORY) / divisor(device) * factor(device);
    }

    /** Returns the size of a buffer on a modelled device, in bytes. */
    long size(String device, long recorded) {
        long factor = factor(device);
        return Math.max(1, Math.min(recorded / divisor(device), Long.MAX_VALUE / factor) * factor);
    }
}
