package io.github.iree4j.spring.actuate.endpoint;

import io.github.iree4j.PendingCall;
import io.github.iree4j.hal.DeviceQueue;
import io.github.iree4j.hal.PendingOperation;
import io.github.iree4j.spring.problems.QueueNames;
import io.github.iree4j.spring.problems.Signallers;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.actuate.endpoint.OperationResponseBody;

/**
 * Pending work and what it waits for; shows why nothing makes progress.
 *
 * @param waiting number of pending operations, of which the oldest are listed
 * @param operations the deferred operations
 * @param activeCalls number of calls in flight, of which the oldest are listed
 * @param calls the calls in flight
 * @param timelines the timelines that the application holds, and all that work waits for
 */
public record TimelinesDescriptor(
        long waiting, List<Operation> operations, int activeCalls, List<Call> calls, List<Timeline> timelines)
        implements OperationResponseBody {

    /** The maximum number of listed operations per queue, and of listed calls. */
    static final int LISTED = 50;

    /**
     * A deferred operation.
     *
     * @param queue device and number of its queue
     * @param operation the kind of operation
     * @param program the program whose call submitted it; empty when none did
     * @param function the function of that call; empty when none did
     * @param since how long it has been waiting
     * @param waitsFor one description for each point that is not reached
     * @param waits the same points, for programs
     * @param signals the points that it will signal
     */
    public record Operation(
            String queue,
            String operation,
            String program,
            String function,
            Duration since,
            List<String> waitsFor,
            List<Wait> waits,
            List<String> signals) {}

    /**
     * A point of a timeline that is not reached.
     *
     * @param timeline id of the timeline
     * @param value the awaited value
     * @param reached its current value
     * @param promised whether a signal of the value has been promised
     * @param producer device and number of the queue that signals it; null when it is not known
     * @param epoch number of the operation of that queue; 0 when it is not known
     * @param signaller without a promise, the pending operation that will signal it; null for none
     * @param inFlight without a promise or such an operation, device and number of the queue whose operation in flight
     *     will signal it; or of the queues whose operations may, because they have more than are looked at
     */
    public record Wait(
            long timeline,
            long value,
            long reached,
            boolean promised,
            @Nullable String producer,
            long epoch,
            @Nullable Signaller signaller,
            List<String> inFlight) {
        static Wait of(PendingOperation.Wait wait, QueueNames names, Signallers signallers) {
            Signallers.Submitted found = wait.promised() ? null : signallers.of(wait);
            Signallers.Submitted signaller = found == null || found.issued() ? null : found;
            List<DeviceQueue> others = wait.promised() || signaller != null
                    ? List.of()
                    : found == null ? signallers.unread() : List.of(found.queue());
            return new Wait(
                    wait.semaphore(),
                    wait.value(),
                    wait.reached(),
                    wait.promised(),
                    wait.producerEpoch() == 0 ? null : names.name(wait.producerAxis()),
                    wait.producerEpoch(),
                    signaller == null
                            ? null
                            : new Signaller(
                                    names.name(signaller.queue().axis()),
                                    signaller.operation().name()),
                    others.stream().map(queue -> names.name(queue.axis())).toList());
        }
    }

    /**
     * A pending operation that will signal a point.
     *
     * @param queue device and number of its queue
     * @param operation the kind of operation
     */
    public record Signaller(String queue, String operation) {}

    /**
     * A call in flight.
     *
     * @param id its number, by which it can be cancelled; the same in recordings
     * @param program the name under which its program is configured
     * @param function the function with the name of its module
     * @param state its state
     * @param since its age
     * @param waitsFor one description for each point that is not reached; empty when it runs
     * @param waits the same points, for programs
     */
    public record Call(
            long id,
            String program,
            String function,
            PendingCall.State state,
            Duration since,
            List<String> waitsFor,
            List<Wait> waits)
            implements OperationResponseBody {}

    /**
     * A timeline that the application holds, or that work waits for.
     *
     * @param timeline its id
     * @param name its name: as given by the application, or the call that created it; empty for none
     * @param value its current value
     * @param failure what it failed with; empty when it has not failed
     */
    public record Timeline(long timeline, String name, long value, String failure) {}

    /** Whether something may still signal all that is waited for. */
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
                operation.signals().stream().map(QueueNames::describe).toList());
    }

    static Call call(String program, PendingCall call, QueueNames names, Signallers signallers) {
        return new Call(
                call.id(),
                program,
                call.function(),
                call.state(),
                call.since(),
                names.waitsOf(call, signallers),
                waits(call.waits(), names, signallers));
    }

    private static List<Wait> waits(List<PendingOperation.Wait> waits, QueueNames names, Signallers signallers) {
        return waits.stream().map(wait -> Wait.of(wait, names, signallers)).toList();
    }
}
