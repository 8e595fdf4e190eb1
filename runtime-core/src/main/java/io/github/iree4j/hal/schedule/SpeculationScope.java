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
 * Speculative execution: a draft queue guesses, a verifier queue checks. Rejecting a guess cancels what was built on it, on any
 * queue of the domain, and nothing else.
 *
 * <p>An operation stands on draft epoch e when it waits for it, directly or through others, or is at or behind it on the draft's FIFO
 * queue; this includes operations that are yet to be issued there. It is verified for e if it waits for, or is, an operation of
 * the verifier that itself stands on e. {@link #reject} cancels what stands on an epoch from e on and is not verified for e.
 *
 * <p>This is what frontiers say (draft at or beyond e, verifier not beyond it), with two differences. A frontier forgets
 * completed work; here it counts until {@link #accept}. And on queues other than the draft's, stream order alone, without a wait,
 * does not count: work that merely runs behind speculative work survives. On an unordered draft queue, whose epochs are the order
 * of completion, a live operation stands only on what it waits for.
 *
 * <pre>{@code
 * try (SpeculationScope scope = SpeculationScope.open(device.queue(0), device.queue(1))) {
 *     // submit drafts that signal 'tokens', verification of each, work ahead of that, ...
 *     scope.accept(scope.epochAt(tokens, 4)); // four tokens are right
 *     scope.reject(scope.epochAt(tokens, 5)); // the fifth is wrong
 * }
 * }</pre>
 *
 * <p>The signals of cancelled operations fail, with CANCELLED, and so do operations that wait for them. A timeline that failed
 * stays failed: work after a rejection signals another one. A value that surviving work has yet to signal on a timeline that
 * would fail is signalled first, unless rejected work was issued before and the hardware completes it sooner: use a timeline for
 * each round when rounds overlap.
 *
 * <p>Only operations submitted while the scope is open are tracked; other signals, of the host and of work submitted before, count with
 * the frontier they carry. What that has lost, beyond the capacity of the domain's frontiers, does not count: to cancel in doubt would
 * cancel whatever waits for an old signal. Completed work is forgotten when it is accepted. Safe from any thread; no call blocks.
 */
public final class SpeculationScope implements AutoCloseable {
    private final DomainQueues siblings;
    private final long draftAxis;
    private final long verifierAxis;
    /*
     * SPEC-1: a rejection and the end of an operation are ordered (both under the monitor of `graph`), and after both the
     * operation is cancelled or complete: a rejection condemns an operation that it finds, and one that it does not find has
     * signalled before. Cancelling itself is done without the monitor, by the operation's scheduler, which ends an operation
     * once.
     */
    private final SpeculationGraph graph; // guarded by itself
    private long accepted; // guarded by graph, like the next
    private boolean closed;

    private SpeculationScope(SchedulingDomain domain, long draftAxis, long verifierAxis, boolean ordered) {
        this.siblings = DomainQueues.of(domain);
        this.draftAxis = draftAxis;
        this.verifierAxis = verifierAxis;
        this.graph = new SpeculationGraph(domain.tracker(), draftAxis, verifierAxis, ordered);
    }

    /**
     * Starts tracking what is submitted to the queues of a domain, that of both queues.
     *
     * @param draft the queue that guesses
     * @param verifier the queue that checks
     * @return the scope; the caller closes it
     * @throws IreeException INVALID_ARGUMENT when both are the same queue, or of different domains; FAILED_PRECONDITION when one is closed
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
            throw new IreeException(
                    StatusCode.INVALID_ARGUMENT,
                    "draft and verifier are both '" + Axis.toString(draftAxis) + "'; use a queue for each");
        }
        if (domain != verifierDomain) {
            throw new IreeException(
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
            throw new IreeException(
                    StatusCode.FAILED_PRECONDITION, "%s queue '%s' is closed".formatted(role, Axis.toString(axis)));
        }
        return queue;
    }

    /**
     * Returns the axis of the queue that guesses.
     *
     * @return the axis
     */
    public long draftAxis() {
        return draftAxis;
    }

    /**
     * Returns the axis of the queue that checks.
     *
     * @return the axis
     */
    public long verifierAxis() {
        return verifierAxis;
    }

    /**
     * Returns the epoch of the draft's operation that signals a value of a timeline: the epoch to accept or reject after verification.
     *
     * @param timeline the timeline
     * @param value the value itself, one of the last few that were reached, or one promised by work that was issued
     * @return the epoch; 0 when nothing is known of exactly this value, or it is not known to stand on the draft: then there is nothing to
     *     accept, and nothing that {@link #reject} takes
     */
    public long epochAt(TimelineSemaphore timeline, long value) {
        SignalRecord found = new SignalRecord();
        // A record above the value may belong to a later operation, whose epoch would accept too much.
        return timeline.lookup(value, found) && found.value() == value
                ? found.frontier().epochOf(draftAxis)
                : 0;
    }

    /**
     * Returns the epoch up to which the draft is accepted.
     *
     * @return the epoch of the draft, 0 when nothing is
     */
    public long accepted() {
        synchronized (graph) {
            return accepted;
        }
    }

    /**
     * Accepts what the draft did up to an epoch: it is no longer speculative. Idempotent; a no-op below what was accepted.
     *
     * @param epoch an epoch of the draft
     * @throws IreeException INVALID_ARGUMENT when it is negative, FAILED_PRECONDITION when the scope is closed
     */
    public void accept(long epoch) {
        if (epoch < 0) {
            throw new IreeException(
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
     * Rejects what the draft did from an epoch on: cancels unverified operations that stand on it and are not complete. Completed
     * operations stay as they are, and so do later submissions. Idempotent.
     *
     * @param fromEpoch the first epoch of the draft that is wrong, above what was accepted
     * @return how many operations this call cancelled, possibly including one that ends concurrently, and excluding those that
     * fail because they wait for cancelled ones
     * @throws IreeException INVALID_ARGUMENT when the epoch is not above 0, FAILED_PRECONDITION when it was accepted or the scope is
     *     closed
     */
    public int reject(long fromEpoch) {
        if (fromEpoch <= 0) {
            throw new IreeException(
                    StatusCode.INVALID_ARGUMENT, "rejected epoch is " + fromEpoch + " and must be above 0");
        }
        int count;
        List<SpeculationGraph.Node> ready;
        synchronized (graph) {
            checkOpen();
            if (fromEpoch <= accepted) {
                throw new IreeException(
                        StatusCode.FAILED_PRECONDITION,
                        "epoch %d of '%s' cannot be rejected: %d was accepted"
                                .formatted(fromEpoch, Axis.toString(draftAxis), accepted));
            }
            count = graph.condemn(
                    fromEpoch,
                    new IreeException(
                            StatusCode.CANCELLED,
                            "speculation was rejected from epoch %d of '%s'"
                                    .formatted(fromEpoch, Axis.toString(draftAxis))));
            ready = graph.takeReady();
        }
        cancel(ready);
        return count;
    }

    /** Size of the state kept, which excludes completed and accepted work. */
    int remembered() {
        synchronized (graph) {
            return graph.remembered();
        }
    }

    /** Stops tracking; cancels nothing that was not rejected. Idempotent. */
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
            throw new IreeException(StatusCode.FAILED_PRECONDITION, "speculation scope is closed");
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

    /** Tracks an operation that is about to be started for the first time. */
    void submitted(QueueScheduler scheduler, QueueOperation operation) {
        Fence wait = operation.wait;
        Fence signal = operation.signal;
        List<Fence.Entry> waits = wait == null ? List.of() : wait.entries();
        List<Fence.Entry> signals = new ArrayList<>(signal == null ? List.of() : signal.entries());
        if (operation.whole != null) {
            // What the whole signals stands on each of its parts, whoever signals it in the end.
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

    /** An operation is complete, and has signalled. */
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
