package io.github.iree4j.spring.actuate.endpoint;

import io.github.iree4j.hal.DeviceQueue;
import io.github.iree4j.hal.PendingOperation;
import io.github.iree4j.monitor.PendingCall;
import io.github.iree4j.spring.problems.QueueNames;
import io.github.iree4j.spring.problems.Signaller;
import io.github.iree4j.spring.problems.Signallers;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.actuate.endpoint.OperationResponseBody;

/**
 * Pending work with awaited points; shows why nothing makes progress.
 *
 * @param waiting number of pending operations; the oldest are listed
 * @param operations the deferred operations
 * @param activeCalls number of calls in flight; the oldest are listed
 * @param calls the calls in flight
 * @param timelines the timelines held by the application, and all timelines awaited by work
 */
public record TimelinesDescriptor(
        long waiting, List<Operation> operations, int activeCalls, List<Call> calls, List<Timeline> timelines)
        implements OperationResponseBody {

    /** The maximum number of listed operations per queue, and of listed calls. */
    static final int LISTED = 50;

    /**
     * A deferred operation.
     *
     * @param queue device and number of the operation's queue
     * @param operation the kind of operation
     * @param program the program of the submitting call; empty without a call
     * @param function the function of the submitting call; empty without a call
     * @param since the waiting time so far
     * @param waitsFor a description for each unreached point
     * @param waits the same points, for programs
     * @param signals the points signalled by the operation
     * @param forMemory whether the operation waits for memory
     * @param bytes bytes of the awaited memory; 0 for none, and when not known
     * @param pool the pool of the awaited memory; empty for none
     */
    public record Operation(
            String queue,
            String operation,
            String program,
            String function,
            Duration since,
            List<String> waitsFor,
            List<Wait> waits,
            List<Signal> signals,
            boolean forMemory,
            long bytes,
            String pool) {}

    /**
     * A point to be signalled.
     *
     * @param timeline id of the timeline
     * @param name of the timeline; empty for none
     * @param value the signalled value
     */
    public record Signal(long timeline, String name, long value) {
        static Signal of(PendingOperation.Point point) {
            return new Signal(point.semaphore(), point.timeline(), point.value());
        }
    }

    /**
     * An unreached point of a timeline.
     *
     * @param timeline id of the timeline
     * @param value the awaited value
     * @param reached the timeline's current value
     * @param promised whether a signal of the value has been promised
     * @param producer device and number of the signalling queue; null when unknown
     * @param epoch number of the signalling operation of the queue; 0 when unknown
     * @param signaller without a promise, the pending operation or call that will signal the point; null for none
     * @param inFlight without a promise or such an operation, device and number of the queue with the operation in
     *     flight that will signal the point; or the queues whose operations may signal the point, having more
     *     operations than are examined
     */
    public record Wait(
            long timeline,
            long value,
            long reached,
            boolean promised,
            @Nullable String producer,
            long epoch,
            @Nullable SignallerDescriptor signaller,
            List<String> inFlight) {
        static Wait of(PendingOperation.Wait wait, QueueNames names, Signallers signallers) {
            Signaller signaller = wait.promised() ? null : signallers.of(wait);
            List<DeviceQueue> others = wait.promised() || signaller != null ? List.of() : signallers.unread();
            if (signaller instanceof Signallers.Submitted submitted && submitted.issued()) {
                signaller = null;
                others = List.of(submitted.queue());
            }
            return new Wait(
                    wait.semaphore(),
                    wait.value(),
                    wait.reached(),
                    wait.promised(),
                    wait.producerEpoch() == 0 ? null : names.name(wait.producerAxis()),
                    wait.producerEpoch(),
                    signaller == null ? null : SignallerDescriptor.of(signaller, names),
                    others.stream().map(queue -> names.name(queue.axis())).toList());
        }
    }

    /**
     * A call in flight.
     *
     * @param id the call's number, used for cancellation; the same in recordings
     * @param program the configured name of the program
     * @param function the function with the name of the module
     * @param state of the call
     * @param since age of the call
     * @param waitsFor a description for each unreached point; empty while the call runs
     * @param waits the same points, for programs
     * @param bytes bytes of the awaited memory, which may be a guess; 0 for none, and when not known
     */
    public record Call(
            long id,
            String program,
            String function,
            PendingCall.State state,
            Duration since,
            List<String> waitsFor,
            List<Wait> waits,
            long bytes)
            implements OperationResponseBody {}

    /**
     * The calls in flight.
     *
     * @param activeCalls number of calls in flight; the oldest are listed
     * @param calls the calls in flight
     */
    public record Calls(int activeCalls, List<Call> calls) implements OperationResponseBody {}

    /**
     * A timeline held by the application or awaited by work.
     *
     * @param timeline id of the timeline
     * @param name as given by the application, or the call creating the timeline; empty for none
     * @param value the current value
     * @param failure the timeline's failure; empty without a failure
     */
    public record Timeline(long timeline, String name, long value, String failure) {}

    /** Returns whether all awaited points may still be signalled. */
    boolean isExplained() {
        return Stream.concat(
                        operations.stream().flatMap(each -> each.waits().stream()),
                        calls.stream().flatMap(each -> each.waits().stream()))
                .allMatch(wait -> wait.promised()
                        || wait.signaller() != null
                        || !wait.inFlight().isEmpty());
    }

    static Operation operation(Signallers.Submitted pending, QueueNames names, Signallers signallers) {
        PendingOperation operation = pending.operation();
        return new Operation(
                names.name(pending.queue().axis()),
                operation.name(),
                operation.program(),
                operation.function(),
                operation.since(),
                names.waitsOf(operation, signallers),
                waits(operation.waits(), names, signallers),
                operation.signals().stream().map(Signal::of).toList(),
                operation.forMemory(),
                operation.bytes(),
                operation.pool());
    }

    static Call call(String program, PendingCall call, QueueNames names, Signallers signallers) {
        return new Call(
                call.id(),
                program,
                call.function(),
                call.state(),
                call.since(),
                names.waitsOf(call, signallers),
                waits(call.waits(), names, signallers),
                call.bytes());
    }

    private static List<Wait> waits(List<PendingOperation.Wait> waits, QueueNames names, Signallers signallers) {
        return waits.stream().map(wait -> Wait.of(wait, names, signallers)).toList();
    }
}
