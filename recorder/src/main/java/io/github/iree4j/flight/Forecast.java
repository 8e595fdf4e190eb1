package io.github.iree4j.flight;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.Known;
import io.github.iree4j.status.StatusCode;
import java.util.List;

/**
 * The duration of a recording with other hardware: the recorded operations, with their recorded running times, on
 * virtual devices behind the real scheduler and the real pools.
 *
 * <p>A model, with these assumptions. A thread submits an operation with the recorded delay after the last end seen by
 * the thread, and the host releases memory likewise. Calls are spread over the additional queues and devices, each to the queue or device with the least work
 * when the call begins; the operations of a call stay together, and so does work without a call. An operation takes the
 * recorded time, independent of its place and of concurrent operations. Sizes and limits of memory are scaled down
 * together, so a model takes little memory. Operations with missing records are left out, and the host ends the waits
 * for them as recorded. The model of the recorded hardware shows the {@linkplain #error error} of the forecast.
 *
 * @param recorded nanoseconds from the first submission to the last end, as recorded
 * @param model the same in a model of the recorded hardware
 * @param forecast the same in a model of the other hardware
 * @param operations number of operations that ended in the recording, with all of their records
 * @param notEnded number of these operations not ending with the other hardware, for lack of memory or of a signal
 * @param hanging number of other operations that had not ended when the recording was taken, left out of the model
 */
public record Forecast(long recorded, long model, long forecast, int operations, int notEnded, int hanging) {
    /** The part of the operations that may be missing in a model. A guess, not measured. */
    private static final double MOST_MISSING = 0.05;

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
     * @throws IreeException FAILED_PRECONDITION when the recording has no operation that ended, or when more than 5
     *     percent of these do not run in a model of the recorded hardware, so that a forecast would say nothing
     */
    public static Forecast of(FlightRecording recording, Hardware hardware) {
        OperationGraph graph = new OperationGraph(recording);
        ReplaySize.check(graph, Runtime.getRuntime().maxMemory());
        ReplayOrder order = new ReplayOrder(graph);
        List<RecordedOperation> operations = order.operations().stream()
                .filter(each -> each.hasRun() && each.overAt() != RecordedOperation.NEVER)
                .toList();
        if (operations.isEmpty()) {
            throw new IreeException(
                    StatusCode.FAILED_PRECONDITION,
                    "there is nothing to forecast: of the %d operations of the recording none has run to its end with all of its records; record until some work is done"
                            .formatted(graph.operations().size()));
        }
        long first = operations.stream()
                .mapToLong(RecordedOperation::submittedAt)
                .min()
                .orElse(0);
        long last =
                operations.stream().mapToLong(RecordedOperation::overAt).max().orElse(0);
        try (ForecastRun model = new ForecastRun(graph, order, operations, Hardware.RECORDED);
                ForecastRun other = new ForecastRun(graph, order, operations, hardware)) {
            long modelled = model.run();
            if (model.notEnded() > MOST_MISSING * operations.size()) {
                throw new IreeException(
                        StatusCode.FAILED_PRECONDITION,
                        "%d of %d operations do not run in a model of the recorded hardware: %s; where something is missing, record from the beginning, or with a larger ring"
                                .formatted(model.notEnded(), operations.size(), model.reasons()));
            }
            long hanging = graph.operations().stream()
                    .filter(each -> graph.hasEnded(each) == Known.NO)
                    .count();
            return new Forecast(
                    last - first, modelled, other.run(), operations.size(), other.notEnded(), (int) hanging);
        }
    }

    /**
     * Returns the relative error of the model of the recorded hardware, as an estimate of the forecast's.
     *
     * @return 0 for a model that takes as long as recorded
     */
    public double error() {
        return recorded == 0 ? 0 : Math.abs(model - recorded) / (double) recorded;
    }

    /**
     * Returns whether the forecast is worth comparing with the model: nearly all operations of the recording end, and
     * end with the other hardware.
     *
     * @return false when more than 5 percent do not
     */
    public boolean isWhole() {
        return (long) notEnded + hanging <= MOST_MISSING * ((long) operations + hanging);
    }
}
