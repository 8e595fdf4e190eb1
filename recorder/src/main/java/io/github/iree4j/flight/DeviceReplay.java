package io.github.iree4j.flight;

import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.SchedulingDomain;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Repeats a recording on the queues of real devices: with the recorded waits, signals and sizes of memory, and a fill
 * of four bytes in place of the recorded work. The replay is recorded in turn, and both recordings are compared as far
 * as the results do not depend on the times when operations ended.
 *
 * <pre>{@code
 * SchedulingDomain domain = SchedulingDomain.create(AxisAllocator.create(1, 0), tracker, capacity);
 * List<Device> devices = ... // in that domain, with DeviceReplay.queueCounts(recording)
 * assert DeviceReplay.of(recording, domain, devices, Duration.ofSeconds(30)).differences().isEmpty();
 * }</pre>
 *
 * <p>The host submits and signals in the recorded order, and waits for each end observed earlier in the recording; time
 * is not repeated. An operation therefore ends at least as early as recorded, and everything independent of ends must
 * be as recorded: statuses; waits found reached; the order of operations on streams, and the frontiers, except for
 * ended operations; other decisions on streams, where neither the wait nor the signaller was held back, and where the
 * host knew neither the end of the signaller nor the end of an operation running after the signaller. A decision is not
 * compared either where a frontier without room for all queues may have lost entries: ended operations leave room.
 * Cancelled operations are failed by the host; memory of the host itself is not repeated.
 *
 * @param operations number of operations repeated
 * @param leftOut number of operations left out: their records, or their queue, are not in the recording
 * @param notEnded number of operations that had ended in the recording, and have not here
 * @param waits number of decisions compared
 * @param frontiers number of frontiers compared
 * @param dependOnTime number of operations with decisions or frontiers depending on the times of ends, or on gaps of
 *     the recording
 * @param differences the differences, at most {@link Replay#MAXIMUM_DIFFERENCES}
 */
public record DeviceReplay(
        int operations,
        int leftOut,
        int notEnded,
        int waits,
        int frontiers,
        int dependOnTime,
        List<Replay.Difference> differences) {
    /** The most devices, and the most queues of each, repeated separately; further devices and queues share these. */
    public static final int MAXIMUM = 64;

    /** Copies. */
    public DeviceReplay {
        differences = List.copyOf(differences);
    }

    /**
     * Returns the number of queues of each recorded device.
     *
     * @param recording the recording
     * @return an element for each device, in the order of their first operation, each 1 to {@link #MAXIMUM}
     */
    public static List<Integer> queueCounts(FlightRecording recording) {
        Map<String, Integer> counts = new LinkedHashMap<>();
        for (RecordedQueue each : recording.queues()) {
            counts.merge(each.device(), Math.min(each.index() + 1, MAXIMUM), Math::max);
        }
        return counts.values().stream().limit(MAXIMUM).toList();
    }

    /**
     * Repeats a recording.
     *
     * @param recording the recording
     * @param domain the domain of the devices; without recorder
     * @param devices represent the recorded devices in their order, or several each, if there are fewer; borrowed, best
     *     with the number of queues given by {@link #queueCounts}, and used for nothing else meanwhile
     * @param patience the longest wait for an end; after a longer wait nothing more is waited for
     * @return the extent of the comparison, and the differences
     * @throws IreeException INVALID_ARGUMENT without devices, FAILED_PRECONDITION when the domain has a recorder,
     *     RESOURCE_EXHAUSTED when the recording is too long for the heap
     */
    public static DeviceReplay of(
            FlightRecording recording, SchedulingDomain domain, List<? extends Device> devices, Duration patience) {
        if (devices.isEmpty()) {
            throw IreeException.of(StatusCode.INVALID_ARGUMENT, "a recording is repeated on one device at least");
        }
        OperationGraph graph = new OperationGraph(recording);
        ReplaySize.check(graph, Runtime.getRuntime().maxMemory());
        ReplayOrder order = new ReplayOrder(graph);
        long bytes = Math.clamp(
                2L * Long.BYTES * recording.records().size(), RecorderOptions.MINIMUM_BYTES, RecordingFile.limit());
        try (FlightRecorder recorder = FlightRecorder.open(domain, RecorderOptions.DEFAULTS.withBytes(bytes));
                DeviceReplayRun run = new DeviceReplayRun(graph, order, recorder, devices, patience)) {
            run.run();
            return compare(order, new DeviceComparison(graph, order, run, run.recorded()));
        } catch (IOException e) {
            throw new AssertionError("a recorder without a file has none to open", e);
        }
    }

    private static DeviceReplay compare(ReplayOrder order, DeviceComparison comparison) {
        List<Replay.Difference> differences = new ArrayList<>();
        comparison.compare(difference -> {
            if (differences.size() < Replay.MAXIMUM_DIFFERENCES) {
                differences.add(difference);
            }
        });
        return new DeviceReplay(
                order.operations().size(),
                order.leftOut(),
                comparison.notEnded(),
                comparison.waits(),
                comparison.frontiers(),
                comparison.dependOnTime(),
                differences);
    }

    @Override
    public String toString() {
        StringBuilder text = new StringBuilder(
                "%d operations repeated on the device, %d left out; %d decisions and %d frontiers compared"
                        .formatted(operations, leftOut, waits, frontiers));
        if (dependOnTime > 0) {
            text.append("; %d operations depend on when others ended, or on what the recording lacks"
                    .formatted(dependOnTime));
        }
        if (notEnded > 0) {
            text.append("; %d operations have not ended".formatted(notEnded));
        }
        text.append("; ").append(differences.isEmpty() ? "no differences" : differences.size() + " differences:");
        differences.forEach(each -> text.append("\n  ").append(each));
        return text.toString();
    }
}
