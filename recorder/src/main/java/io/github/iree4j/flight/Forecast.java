package io.github.iree4j.flight;

import io.github.iree4j.flight.Arrivals.Cause;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.Known;
import io.github.iree4j.status.StatusCode;
import java.util.List;
import java.util.LongSummaryStatistics;
import java.util.stream.LongStream;
import java.util.stream.Stream;

/**
 * The duration of a recording with other hardware: the recorded operations, with the recorded running times, on virtual
 * devices behind the real scheduler and the real pools.
 *
 * <p>A model, with these assumptions. Calls are spread over the additional queues and devices, each to the queue or
 * device with the least work given so far, or left when the call begins, whichever is earlier; the operations of a call
 * stay together, and so does work without a call. An operation takes the recorded time, independent of its place and of
 * concurrent operations. Each device has the limit of the recorded device, less memory held throughout; quotas are not
 * modelled. Sizes and limits of a device are scaled down together, so a model takes little memory. A queue without
 * order runs as many operations at once as in the recording; where the recording shows no limit, for example since
 * memory was short, the duration with any number at once is the other end of a range. Operations with missing records
 * are left out, and the host ends the waits for these as recorded.
 *
 * <p>A recording does not show why the host submitted at a given time. So there are two ranges: for requests each
 * following an end, on the same thread or on any, with the recorded delay; and for requests at the recorded times,
 * whatever has ended. The models of the recorded hardware show the {@linkplain #modelError error} of both.
 *
 * @param recorded nanoseconds from the first submission to the last end, as recorded
 * @param model the same in a model of the recorded hardware, in which requests follow the ends seen by their threads
 * @param modelError the relative error of the worst model of the recorded hardware; 0 if all take as long as recorded
 * @param following the durations in models of the other hardware in which requests follow ends
 * @param timed the durations in models of the other hardware in which requests come at the recorded times
 * @param operations number of operations that ended in the recording, with all of their records
 * @param notEnded number of these operations not ending with the other hardware, for lack of memory or of a signal
 * @param hanging number of other operations that had not ended when the recording was taken, left out of the model
 * @param leftOut number of other operations left out: without a run, or with missing records
 */
public record Forecast(
        long recorded,
        long model,
        double modelError,
        Range following,
        Range timed,
        int operations,
        int notEnded,
        int hanging,
        int leftOut) {
    /**
     * Durations of models; none is known to be right.
     *
     * @param shortest the shortest, in nanoseconds
     * @param longest the longest, in nanoseconds
     */
    public record Range(long shortest, long longest) {
        private static Range of(Modelled... models) {
            LongSummaryStatistics all = Stream.of(models)
                    .flatMapToLong(each -> LongStream.of(each.limited, each.unlimited))
                    .summaryStatistics();
            return new Range(all.getMin(), all.getMax());
        }
    }

    /** The largest missing part of a model's operations. A guess, not measured. */
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
                throw IreeException.of(
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
     *     percent of the operations are on unknown queues, or do not run in a model of the recorded hardware, so that a forecast would say nothing
     */
    public static Forecast of(FlightRecording recording, Hardware hardware) {
        OperationGraph graph = new OperationGraph(recording);
        ReplaySize.check(graph, Runtime.getRuntime().maxMemory());
        ReplayOrder order = new ReplayOrder(graph);
        List<RecordedOperation> operations = order.operations().stream()
                .filter(each -> each.hasRun() && each.overAt() != RecordedOperation.NEVER)
                .toList();
        int all = graph.operations().size();
        long elsewhere = graph.operations().stream()
                .filter(each -> graph.queue(each.axis()) == null)
                .count();
        if (elsewhere > MOST_MISSING * all) {
            throw IreeException.of(
                    StatusCode.FAILED_PRECONDITION,
                    "%d of %d operations are on queues that the recording does not know: it keeps %d queues; record for a shorter time, or fewer devices"
                            .formatted(elsewhere, all, Definitions.MAXIMUM_QUEUES));
        }
        if (operations.isEmpty()) {
            throw IreeException.of(
                    StatusCode.FAILED_PRECONDITION,
                    "there is nothing to forecast: of the %d operations of the recording none has run to its end with all of its records; record until some work is done"
                            .formatted(all));
        }
        long begin = operations.stream()
                .mapToLong(RecordedOperation::submittedAt)
                .min()
                .orElse(0);
        long end =
                operations.stream().mapToLong(RecordedOperation::overAt).max().orElse(0);
        long recorded = end - begin;
        long hanging = graph.operations().stream()
                .filter(each -> graph.hasEnded(each) == Known.NO)
                .count();
        Modelled last = Modelled.of(graph, order, operations, Cause.LAST_END, hardware);
        Modelled any = Modelled.of(graph, order, operations, Cause.ANY_END, hardware);
        Modelled timed = Modelled.of(graph, order, operations, Cause.TIME, hardware);
        return new Forecast(
                recorded,
                last.recorded,
                Stream.of(last, any, timed)
                        .mapToDouble(each -> Math.abs(each.recorded - recorded) / (double) Math.max(1, recorded))
                        .max()
                        .orElseThrow(),
                Range.of(last, any),
                Range.of(timed),
                operations.size(),
                Math.max(Math.max(last.notEnded, any.notEnded), timed.notEnded),
                (int) hanging,
                all - operations.size() - (int) hanging);
    }

    /**
     * The results of the models with a given cause of the host's actions.
     *
     * @param recorded the duration with the recorded hardware
     * @param limited the duration with the other hardware
     * @param unlimited the same where each queue without order runs any number of operations at once, unless the recording
     *     shows a limit
     * @param notEnded number of operations not ending with the other hardware
     */
    private record Modelled(long recorded, long limited, long unlimited, int notEnded) {
        static Modelled of(
                OperationGraph graph,
                ReplayOrder order,
                List<RecordedOperation> operations,
                Cause cause,
                Hardware hardware) {
            long recorded;
            try (ForecastRun model = new ForecastRun(graph, order, operations, cause, Hardware.RECORDED, false)) {
                recorded = model.run();
                if (model.notEnded() > MOST_MISSING * operations.size()) {
                    throw IreeException.of(
                            StatusCode.FAILED_PRECONDITION,
                            "%d of %d operations do not run in a model of the recorded hardware: %s; where something is missing, record from the beginning, or with a larger ring"
                                    .formatted(model.notEnded(), operations.size(), model.reasons()));
                }
            }
            try (ForecastRun limited = new ForecastRun(graph, order, operations, cause, hardware, false)) {
                long duration = limited.run();
                if (hardware.equals(Hardware.RECORDED)) {
                    return new Modelled(recorded, duration, duration, limited.notEnded());
                }
                try (ForecastRun unlimited = new ForecastRun(graph, order, operations, cause, hardware, true)) {
                    return new Modelled(
                            recorded, duration, unlimited.run(), Math.max(limited.notEnded(), unlimited.notEnded()));
                }
            }
        }
    }

    /**
     * Returns an estimate of the relative error of the forecast, the larger of two: the error of the models of the
     * recorded hardware, and the range left by the unrecorded causes of requests and limits of queues without order.
     *
     * @return 0 for models that take as long as recorded, and a forecast that is the same for all causes and with any number
     *     of operations at once
     */
    public double error() {
        return Math.max(modelError, (longest() - shortest()) / (double) Math.max(1, shortest()));
    }

    /**
     * Returns the shorter end of both ranges.
     *
     * @return nanoseconds
     */
    public long shortest() {
        return Math.min(following.shortest, timed.shortest);
    }

    /**
     * Returns the longer end of both ranges.
     *
     * @return nanoseconds
     */
    public long longest() {
        return Math.max(following.longest, timed.longest);
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
