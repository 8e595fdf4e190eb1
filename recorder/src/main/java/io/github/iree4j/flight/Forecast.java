package io.github.iree4j.flight;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.List;

/**
 * The duration of a recording with other hardware: the recorded operations, with their recorded running times, on
 * virtual devices behind the real scheduler and the real pools.
 *
 * <p>A model, with these assumptions. A thread submits an operation with the recorded delay after the last end seen by
 * the thread. Calls are spread over the additional queues and devices, each to the queue or device with the least work
 * when the call begins; the operations of a call stay together, and so does work without a call. An operation takes the
 * recorded time, independent of its place and of concurrent operations. Sizes and limits of memory are scaled down
 * together, so a model takes little memory. The model of the recorded hardware shows the quality of the forecast.
 *
 * @param recorded nanoseconds from the first submission to the last end, as recorded
 * @param model the same in a model of the recorded hardware
 * @param forecast the same in a model of the other hardware
 * @param operations number of operations that ended in the recording
 * @param notEnded number of these operations not ending with the other hardware, for lack of memory or of a signal
 */
public record Forecast(long recorded, long model, long forecast, int operations, int notEnded) {
    private static final int MAXIMUM_QUEUES = 64;
    private static final int MAXIMUM_DEVICES = 64;
    private static final int MAXIMUM_PERCENT = 10_000;

    /**
     * Other hardware.
     *
     * @param queues number of queues of each device, 1 to 64; 0 for as many as recorded
     * @param devices number of devices in place of each recorded device, 1 to 64
     * @param memoryPercent memory of each device, in percent of the recorded memory, 1 to 10,000
     */
    public record Hardware(int queues, int devices, int memoryPercent) {
        /** The recorded hardware. */
        public static final Hardware RECORDED = new Hardware(0, 1, 100);

        /** Checks. */
        public Hardware {
            if (queues < 0
                    || queues > MAXIMUM_QUEUES
                    || devices < 1
                    || devices > MAXIMUM_DEVICES
                    || memoryPercent < 1
                    || memoryPercent > MAXIMUM_PERCENT) {
                throw new IreeException(
                        StatusCode.INVALID_ARGUMENT,
                        "hardware of %d queues (0 to %d), %d devices (1 to %d) and %d%% memory (1 to %d) is out of range"
                                .formatted(
                                        queues,
                                        MAXIMUM_QUEUES,
                                        devices,
                                        MAXIMUM_DEVICES,
                                        memoryPercent,
                                        MAXIMUM_PERCENT));
            }
        }
    }

    /**
     * Repeats a recording with other hardware.
     *
     * @param recording the recording
     * @param hardware the other hardware
     * @return the durations
     */
    public static Forecast of(FlightRecording recording, Hardware hardware) {
        OperationGraph graph = new OperationGraph(recording);
        graph.checkSizeOfReplay(Runtime.getRuntime().maxMemory());
        List<RecordedOperation> operations = graph.operations().stream()
                .filter(each ->
                        each.hasRun() && each.overAt() != RecordedOperation.NEVER && graph.queue(each.axis()) != null)
                .toList();
        long first = operations.stream()
                .mapToLong(RecordedOperation::submittedAt)
                .min()
                .orElse(0);
        long last =
                operations.stream().mapToLong(RecordedOperation::overAt).max().orElse(0);
        try (ForecastRun model = new ForecastRun(graph, operations, Hardware.RECORDED);
                ForecastRun other = new ForecastRun(graph, operations, hardware)) {
            return new Forecast(last - first, model.run(), other.run(), operations.size(), other.notEnded());
        }
    }
}
