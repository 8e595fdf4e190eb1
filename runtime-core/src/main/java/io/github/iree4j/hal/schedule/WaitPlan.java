package io.github.iree4j.hal.schedule;

import io.github.iree4j.async.Fence;
import io.github.iree4j.async.FrontierTracker;
import io.github.iree4j.async.SemaphoreScope;
import io.github.iree4j.async.SignalRecord;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.frontier.FrontierAccumulator;
import io.github.iree4j.frontier.MutableFrontier;
import io.github.iree4j.hal.schedule.Premise.Basis;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Decisions about the waits of an operation of a stream, if the operation is issued now. Reused from operation to
 * operation; guarded by the scheduler's lock. Valid only while the lock is held: a held-back operation is planned again
 * on resumption, since earlier promises carry no information about signals made since.
 */
final class WaitPlan implements QueueObserver.Decisions {
    private final FifoScheduler scheduler;
    private final boolean frontiers; // whether frontiers imply waits
    private final WaitDecision unknown; // about a value without a promise
    private int count;
    private SignalRecord[] found = new SignalRecord[0];
    private @Nullable FifoScheduler[] producers = new @Nullable FifoScheduler[0]; // of waits for other streams
    private WaitDecision[] decisions = new WaitDecision[0];
    private boolean[] open = new boolean[0]; // waits with a cost to the device or the host
    private boolean[] certain = new boolean[0]; // waits that do not hold the operation back

    WaitPlan(FifoScheduler scheduler, WaitRules rules) {
        this.scheduler = scheduler;
        this.frontiers = rules.frontiers();
        this.unknown = rules.promises() ? WaitDecision.DEFERRED_UNKNOWN : WaitDecision.DEFERRED_UNREACHED;
    }

    /** Decides about all waits; returns the number of waits holding the operation back. */
    int decide(@Nullable Fence wait, FrontierAccumulator accumulator) {
        count = wait == null ? 0 : wait.size();
        reserve();
        for (int i = 0; wait != null && i < count; i++) {
            decisions[i] = decide(wait.semaphore(i), wait.value(i), i, accumulator);
        }
        minimize();
        int held = 0;
        for (int i = 0; i < count; i++) {
            held += holdsBack(decisions[i]) ? 1 : 0;
        }
        return held;
    }

    private void reserve() {
        if (found.length < count) {
            SignalRecord[] records = new SignalRecord[Math.max(count, found.length * 2)];
            for (int i = 0; i < records.length; i++) {
                records[i] = i < found.length ? found[i] : new SignalRecord();
            }
            found = records;
            producers = new @Nullable FifoScheduler[records.length];
            decisions = new WaitDecision[records.length];
            open = new boolean[records.length];
            certain = new boolean[records.length];
        }
    }

    private static boolean holdsBack(WaitDecision decision) {
        return decision.compareTo(WaitDecision.DEVICE_WAIT) > 0;
    }

    /** Returns whether the stream runs after a point anyway. */
    private boolean isCovered(long producer, long epoch, FrontierAccumulator accumulator) {
        return frontiers && accumulator.covers(producer, epoch, scheduler.tracker);
    }

    /** Decides about a wait. */
    private WaitDecision decide(TimelineSemaphore semaphore, long value, int index, FrontierAccumulator accumulator) {
        SignalRecord record = found[index];
        producers[index] = null;
        if (!semaphore.lookup(value, record)) {
            return unknown;
        }
        if (record.isReached()) {
            return WaitDecision.REACHED;
        }
        Object primitive = record.primitive();
        if (primitive != null) {
            return scheduler.backend.canWaitForExternal(primitive)
                    ? WaitDecision.DEVICE_WAIT
                    : WaitDecision.DEFERRED_UNREACHED;
        }
        long producer = record.producerAxis();
        if (producer == scheduler.axis) {
            return WaitDecision.ELIDED_FIFO;
        }
        FifoScheduler other = scheduler.siblings.queue(producer) instanceof FifoScheduler stream ? stream : null;
        producers[index] = other; // the producer may be closed and unregistered when waited for
        if (isCovered(producer, record.producerEpoch(), accumulator)) {
            return WaitDecision.ELIDED_FRONTIER;
        }
        if (other != null
                && semaphore.scope() != SemaphoreScope.QUEUE_LOCAL
                && semaphore.scope().includes(scheduler.place.scopeWith(other.place))
                && scheduler.canWaitFor(other, record.producerEpoch())) {
            return WaitDecision.DEVICE_WAIT;
        }
        return WaitDecision.DEFERRED_UNREACHED;
    }

    /** Drops device and host waits implied by something that does not hold the operation back. */
    private void minimize() {
        if (!frontiers) {
            return;
        }
        int waits = 0;
        for (int i = 0; i < count; i++) {
            open[i] = decisions[i] == WaitDecision.DEVICE_WAIT || decisions[i] == WaitDecision.DEFERRED_UNREACHED;
            certain[i] = !holdsBack(decisions[i]);
            waits += open[i] ? 1 : 0;
        }
        if (waits == 0 || count == 1 || CoveredWaits.drop(found, count, open, certain) == 0) {
            return;
        }
        for (int i = 0; i < count; i++) {
            boolean was = decisions[i] == WaitDecision.DEVICE_WAIT || decisions[i] == WaitDecision.DEFERRED_UNREACHED;
            decisions[i] = was && !open[i] ? WaitDecision.COVERED : decisions[i];
        }
    }

    @Override
    public int size() {
        return count;
    }

    @Override
    public WaitDecision decision(int index) {
        return decisions[index];
    }

    @Override
    public @Nullable SignalRecord found(int index) {
        return decisions[index] == WaitDecision.DEFERRED_UNKNOWN ? null : found[index];
    }

    /** Counts the decisions; waits holding the operation back are counted as such, regardless of the outcome. */
    void count(WorkCounts counters) {
        for (int i = 0; i < count; i++) {
            switch (decisions[i]) {
                case REACHED -> counters.reached.increment();
                case ELIDED_FIFO -> counters.elidedFifo.increment();
                case ELIDED_FRONTIER -> counters.elidedFrontier.increment();
                case COVERED -> counters.covered.increment();
                case DEVICE_WAIT -> counters.deviceWaits.increment();
                case DEFERRED_UNKNOWN, DEFERRED_UNREACHED -> counters.deferred.increment();
            }
        }
    }

    /** Registers the waits holding the operation back. */
    void defer(Fence wait, Deferral deferral) {
        for (int i = 0; i < count; i++) {
            if (holdsBack(decisions[i])) {
                deferral.add(wait.semaphore(i), wait.value(i), decisions[i] == WaitDecision.DEFERRED_UNKNOWN, i);
            }
        }
    }

    // ---- For an operation that proceeds.

    /**
     * Adds the predecessors of the operation if issued now, besides the stream. Correct only for an immediate issue:
     * the frontier of a promise belongs to an operation that itself waits for the promise's maker.
     */
    void addTo(MutableFrontier after, FrontierTracker tracker) {
        for (int i = 0; frontiers && i < count; i++) {
            after.merge(found[i].frontier(), tracker);
        }
    }

    /** Joins the frontiers certain to precede the operation, and so everything behind the operation. */
    void join(FrontierAccumulator accumulator, FrontierTracker tracker) {
        for (int i = 0; frontiers && i < count; i++) {
            if (decisions[i] == WaitDecision.REACHED || decisions[i] == WaitDecision.DEVICE_WAIT) {
                accumulator.join(found[i].frontier(), tracker);
            }
        }
    }

    /** Adds the waits performed by the hardware. */
    void addWaits(List<Issue.Wait> waits, List<FifoScheduler> others) {
        for (int i = 0; i < count; i++) {
            if (decisions[i] != WaitDecision.DEVICE_WAIT) {
                continue;
            }
            Object primitive = found[i].primitive();
            FifoScheduler other = producers[i];
            if (primitive != null) {
                waits.add(new Issue.Wait(null, 0, primitive));
                others.add(scheduler);
            } else if (other != null) {
                waits.add(new Issue.Wait(other.backend, found[i].producerEpoch(), null));
                others.add(other);
            }
        }
    }

    /**
     * SCHED-8: returns the operations of streams whose success the operation relies on. A wait of the host ends with an
     * outcome known to the host, and a reached value stays reached.
     */
    List<Issue.Wait> predecessors(@Nullable Fence wait) {
        List<Issue.Wait> all = List.of();
        for (int i = 0; wait != null && i < count; i++) {
            FifoScheduler other = decisions[i] == WaitDecision.ELIDED_FIFO ? scheduler : producers[i];
            if (decisions[i] == WaitDecision.REACHED || found[i].primitive() != null || other == null) {
                continue;
            }
            long epoch = found[i].producerEpoch();
            if (other == scheduler && found[i].value() > wait.value(i)) {
                epoch = scheduler.firstSignaller(wait.semaphore(i), wait.value(i), epoch);
            }
            all = all.isEmpty() ? new ArrayList<>(count) : all;
            all.add(new Issue.Wait(other.backend, epoch, null));
        }
        return all;
    }

    /**
     * Keeps foreign primitives awaited by the hardware until the operation is given to the hardware, even if the
     * imports are closed.
     *
     * @return false when a primitive is gone, making this plan invalid; no primitive is kept then
     */
    boolean keepForeign() {
        for (int i = 0; i < count; i++) {
            Object primitive = decisions[i] == WaitDecision.DEVICE_WAIT ? found[i].primitive() : null;
            if (primitive != null && !scheduler.backend.keepExternal(primitive)) { // PREM-3
                letGoForeign(i);
                return false;
            }
        }
        return true;
    }

    private void letGoForeign(int kept) {
        for (int i = 0; i < kept; i++) {
            if (decisions[i] == WaitDecision.DEVICE_WAIT && found[i].primitive() instanceof Object primitive) {
                scheduler.backend.letGoExternal(primitive);
            }
        }
    }

    /** Returns whether some wait is for foreign work or another stream. */
    boolean hasDeviceWaits() {
        for (int i = 0; i < count; i++) {
            if (decisions[i] == WaitDecision.DEVICE_WAIT) {
                return true;
            }
        }
        return false;
    }

    /** Returns the premises of the operation, from every unreached wait; null for none. */
    @Nullable
    List<Premise> premises(@Nullable Fence wait) {
        List<Premise> premises = null;
        for (int i = 0; wait != null && i < count; i++) {
            boolean imports = PremiseCheck.ASSERTED
                    && (decisions[i] == WaitDecision.REACHED || decisions[i] == WaitDecision.DEVICE_WAIT)
                    && found[i].frontier().size() > 0 // an unknown frontier brings nothing
                    && !found[i].frontier().isCompleted(scheduler.tracker);
            if (decisions[i] == WaitDecision.REACHED && !imports) {
                continue;
            }
            if (premises == null) {
                premises = new ArrayList<>(count);
            }
            if (decisions[i] != WaitDecision.REACHED) {
                premises.add(premise(wait.semaphore(i), wait.value(i), i));
            }
            if (imports) {
                premises.add(Premise.Imported.of(wait.semaphore(i), wait.value(i), found[i].frontier()));
            }
        }
        return premises;
    }

    private Premise premise(TimelineSemaphore semaphore, long value, int index) {
        SignalRecord record = found[index];
        if (record.primitive() != null) {
            return new Premise.Foreign(semaphore, value, record.primitive(), scheduler.backend);
        }
        Basis basis = switch (decisions[index]) {
            case ELIDED_FIFO -> Basis.STREAM_ORDER;
            case ELIDED_FRONTIER -> Basis.STREAM_FRONTIER;
            case DEVICE_WAIT -> Basis.DEVICE_WAIT;
            default -> Basis.OTHER_WAIT;
        };
        FifoScheduler other = producers[index];
        return new Premise.Promise(
                semaphore,
                value,
                record.value(),
                record.producerAxis(),
                record.producerEpoch(),
                basis,
                other == null ? scheduler : other);
    }

    /** Clears the references to other schedulers, so closed schedulers can be collected. */
    void forget() {
        for (int i = 0; i < count; i++) {
            producers[i] = null;
        }
    }
}
