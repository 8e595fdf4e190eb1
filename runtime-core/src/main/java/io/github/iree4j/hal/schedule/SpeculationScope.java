package io.github.iree4j.hal.schedule;

import io.github.iree4j.async.Fence;
import io.github.iree4j.async.SignalRecord;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.frontier.Axis;
import io.github.iree4j.hal.DeviceQueue;
import io.github.iree4j.hal.SchedulingDomain;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.ArrayList;
import java.util.List;

/**
 * Speculative execution: a draft queue guesses, a verifier queue checks. Rejecting a guess cancels the work built on
 * the guess, on any queue of the domain, and nothing else.
 *
 * <p>An operation stands on draft epoch e when it waits for e, directly or through others, or is at or behind e on the
 * draft's FIFO queue. This includes operations not yet issued there. An operation is verified for e if it waits for, or
 * is, an operation of the verifier that itself stands on e. {@link #reject} cancels operations standing on an epoch
 * from e on and not verified for e.
 *
 * <p>Frontiers express the same relation (draft at or beyond e, verifier not beyond e), with two differences. A
 * frontier forgets completed work; a scope counts completed work until {@link #accept}. And on queues other than the
 * draft's, stream order alone, without a wait, does not count: work merely running behind speculative work survives. On
 * an unordered draft queue, the epochs follow the order of completion, and a live operation stands only on its waits.
 *
 * <pre>{@code
 * try (SpeculationScope scope = SpeculationScope.open(device.queue(0), device.queue(1))) {
 *     // submit drafts that signal 'tokens', verification of each, work ahead of that, ...
 *     scope.accept(scope.epochAt(tokens, 4)); // four tokens are right
 *     scope.reject(scope.epochAt(tokens, 5)); // the fifth is wrong
 * }
 * }</pre>
 *
 * <p>The signals of cancelled operations fail with CANCELLED, and so do operations waiting for the signals. A failed
 * timeline stays failed: work after a rejection signals another timeline. A value that surviving work has yet to signal
 * on a timeline about to fail is signalled first, unless rejected work was issued before and the hardware completes the
 * rejected work sooner: use a timeline for each round when rounds overlap.
 *
 * <p>Only operations submitted while the scope is open are tracked. Other signals, of the host and of work submitted
 * before, count with the frontier they carry. Entries lost from a frontier, beyond the capacity of the domain's
 * frontiers, do not count: cancelling in doubt would cancel every operation waiting for an old signal. Completed work
 * is forgotten when accepted. Safe from any thread; no call blocks.
 */
public final class SpeculationScope implements AutoCloseable {
    private final DomainQueues siblings;
    private final long draftAxis;
    private final long verifierAxis;
    /*
     * SPEC-1: a rejection and the end of an operation are ordered (both under the monitor of `graph`), and after both
     * the operation is cancelled or complete: a rejection condemns an operation found in the graph, and an operation
     * not found has signalled before. Cancelling itself is done without the monitor, by the operation's scheduler, and
     * the scheduler ends an operation once.
     */
    private final SpeculationGraph graph; // guarded by its own monitor
    private long accepted; // guarded by graph, like closed
    private boolean closed;

    private SpeculationScope(SchedulingDomain domain, long draftAxis, long verifierAxis, boolean ordered) {
        this.siblings = DomainQueues.of(domain);
        this.draftAxis = draftAxis;
        this.verifierAxis = verifierAxis;
        this.graph = new SpeculationGraph(domain.tracker(), draftAxis, verifierAxis, ordered);
    }

    /**
     * Starts tracking operations submitted to the queues of a domain, the common domain of both queues.
     *
     * @param draft the queue that guesses
     * @param verifier the queue that checks
     * @return the scope; the caller closes the scope
     * @throws IreeException INVALID_ARGUMENT when both are the same queue, or of different domains; FAILED_PRECONDITION
     *     when a queue is closed
     */
    public static SpeculationScope open(DeviceQueue draft, DeviceQueue verifier) {
        return open(
                draft.device().schedulingDomain(),
                draft.axis(),
                verifier.device().schedulingDomain(),
                verifier.axis());
    }

    @SuppressWarnings("ReferenceEquality") // domains compare by identity
    static SpeculationScope open(
            SchedulingDomain domain, long draftAxis, SchedulingDomain verifierDomain, long verifierAxis) {
        if (draftAxis == verifierAxis) {
            throw IreeException.of(
                    StatusCode.INVALID_ARGUMENT,
                    "draft and verifier are both '" + Axis.toString(draftAxis) + "'; use a queue for each");
        }
        if (domain != verifierDomain) {
            throw IreeException.of(
                    StatusCode.INVALID_ARGUMENT,
                    "draft '%s' and verifier '%s' do not know of one another; open their devices with one scheduling domain"
                            .formatted(Axis.toString(draftAxis), Axis.toString(verifierAxis)));
        }
        QueueScheduler draft = queue(domain, "draft", draftAxis);
        queue(domain, "verifier", verifierAxis);
        SpeculationScope scope = new SpeculationScope(domain, draftAxis, verifierAxis, draft instanceof FifoScheduler);
        scope.siblings.add(scope);
        return scope;
    }

    private static QueueScheduler queue(SchedulingDomain domain, String role, long axis) {
        QueueScheduler queue = DomainQueues.of(domain).queue(axis);
        if (queue == null) {
            throw IreeException.of(
                    StatusCode.FAILED_PRECONDITION, "%s queue '%s' is closed".formatted(role, Axis.toString(axis)));
        }
        return queue;
    }

    /**
     * Returns the epoch of the draft's operation signalling a value of a timeline: the epoch to accept or reject after
     * verification.
     *
     * @param timeline the timeline
     * @param value an exact value: recently reached, or promised by issued work
     * @return the epoch; 0 when exactly this value is unknown, or is not known to stand on the draft: then nothing
     *     needs to be accepted, and {@link #reject} would cancel nothing
     */
    public long epochAt(TimelineSemaphore timeline, long value) {
        SignalRecord found = new SignalRecord();
        // A record above the value may belong to a later operation with an epoch that would accept too much.
        return timeline.lookup(value, found) && found.value() == value
                ? found.frontier().epochOf(draftAxis)
                : 0;
    }

    /**
     * Returns the epoch up to which the draft is accepted.
     *
     * @return the epoch of the draft, 0 before the first acceptance
     */
    public long accepted() {
        synchronized (graph) {
            return accepted;
        }
    }

    /**
     * Accepts the draft's work up to an epoch: this work is no longer speculative. Idempotent; a no-op up to the
     * accepted epoch.
     *
     * @param epoch an epoch of the draft
     * @throws IreeException INVALID_ARGUMENT when the epoch is negative, FAILED_PRECONDITION when the scope is closed
     */
    public void accept(long epoch) {
        if (epoch < 0) {
            throw IreeException.of(
                    StatusCode.INVALID_ARGUMENT, "accepted epoch is " + epoch + " and must not be negative");
        }
        synchronized (graph) {
            checkOpen();
            if (epoch > accepted) {
                accepted = epoch;
                graph.forget(epoch);
            }
        }
    }

    /**
     * Rejects the draft's work from an epoch on: cancels unverified and incomplete operations standing on this work.
     * Completed operations and later submissions are not affected. Idempotent.
     *
     * @param fromEpoch the first wrong epoch of the draft, above the accepted epoch
     * @return the number of operations cancelled by this call, possibly including an operation that ends concurrently,
     *     and excluding operations failing because they wait for cancelled operations
     * @throws IreeException INVALID_ARGUMENT when the epoch is not above 0, FAILED_PRECONDITION when the epoch was
     *     accepted or the scope is closed
     */
    public int reject(long fromEpoch) {
        if (fromEpoch <= 0) {
            throw IreeException.of(
                    StatusCode.INVALID_ARGUMENT, "rejected epoch is " + fromEpoch + " and must be above 0");
        }
        int count;
        List<SpeculationGraph.Node> ready;
        synchronized (graph) {
            checkOpen();
            if (fromEpoch <= accepted) {
                throw IreeException.of(
                        StatusCode.FAILED_PRECONDITION,
                        "epoch %d of '%s' cannot be rejected: %d was accepted"
                                .formatted(fromEpoch, Axis.toString(draftAxis), accepted));
            }
            count = graph.condemn(
                    fromEpoch,
                    IreeException.of(
                            StatusCode.CANCELLED,
                            "speculation was rejected from epoch %d of '%s'"
                                    .formatted(fromEpoch, Axis.toString(draftAxis))));
            ready = graph.takeReady();
        }
        cancel(ready);
        return count;
    }

    /** Returns the size of the state kept, excluding completed and accepted work. */
    int remembered() {
        synchronized (graph) {
            return graph.remembered();
        }
    }

    /** Stops tracking; cancels only operations already rejected. Idempotent. */
    @Override
    public void close() {
        List<SpeculationGraph.Node> rest;
        synchronized (graph) {
            if (closed) {
                return;
            }
            closed = true;
            rest = graph.takeCondemned();
        }
        siblings.remove(this);
        cancel(rest);
    }

    private void checkOpen() {
        if (closed) {
            throw IreeException.of(StatusCode.FAILED_PRECONDITION, "speculation scope is closed");
        }
    }

    private static void cancel(List<SpeculationGraph.Node> nodes) {
        for (SpeculationGraph.Node node : nodes) {
            QueueOperation operation = node.operation;
            IreeException cause = node.condemned;
            if (operation != null && cause != null) {
                node.scheduler.cancel(operation, cause);
            }
        }
    }

    /** Tracks an operation about to be started for the first time. */
    void submitted(QueueScheduler scheduler, QueueOperation operation) {
        Fence wait = operation.wait;
        Fence signal = operation.signal;
        List<Fence.Entry> waits = wait == null ? List.of() : wait.entries();
        List<Fence.Entry> signals = new ArrayList<>(signal == null ? List.of() : signal.entries());
        if (operation.whole != null) {
            // The signals of the whole stand on each part, regardless of the final signaller.
            signals.addAll(operation.whole.signals());
        }
        waits.forEach(each -> each.semaphore().keepHistory()); // to know dependencies value by value
        signals.forEach(each -> each.semaphore().keepHistory());
        synchronized (graph) {
            if (!closed) {
                graph.add(scheduler, operation, waits, signals);
            }
        }
    }

    /** Records an operation that is complete and has signalled. */
    void over(QueueOperation operation, boolean failed) {
        List<SpeculationGraph.Node> ready = new ArrayList<>();
        synchronized (graph) {
            if (!closed && graph.over(operation, failed, accepted)) {
                ready = graph.takeReady();
            }
        }
        cancel(ready);
    }

    @Override
    public String toString() {
        return "speculation of '%s' verified by '%s'".formatted(Axis.toString(draftAxis), Axis.toString(verifierAxis));
    }
}
