package io.github.iree4j.hal;

import io.github.iree4j.async.Fence;
import io.github.iree4j.async.HeldCallbacks;
import io.github.iree4j.async.SemaphoreScope;
import io.github.iree4j.async.SignalRecord;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.frontier.FrontierAccumulator;
import io.github.iree4j.status.IreeException;
import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Schedules a queue whose hardware works off what it is given in order.
 *
 * <p>An operation is issued as soon as each of its waits is reached, implied by the order, or something the hardware can wait for. It has
 * its epoch then, inherits everything the queue knew, and promises its signals. The signals follow when it has retired, in order.
 */
final class FifoScheduler extends QueueScheduler {
    /*
     * Two things happen in the order of epochs, each by one thread at a time. Issuing: under `lock`, which covers everything below.
     * Retiring: by whoever has set `retirer`, outside the lock, since letting go of what an operation used may run code of users. A
     * thread that finds the other there leaves its work to it.
     *
     * Promises are made under the lock: whoever finds one can rely on the operation being on the stream. Callbacks are held back
     * meanwhile, so nothing of others runs under the lock.
     *
     * FIFO-1: operations retire, and so signal, in the order of their epochs (`inFlight` is emptied from its head, by one retirer).
     * FIFO-2: no completion is lost: the retirer gives up its office under the lock, having found nothing to retire.
     */
    private static final Logger LOG = LoggerFactory.getLogger(FifoScheduler.class);

    private final FifoBackend backend;
    private final Object lock = new Object();
    private final FrontierAccumulator accumulator;
    private final ArrayDeque<QueueOperation> inFlight = new ArrayDeque<>(); // on the hardware, by epoch
    private final ArrayDeque<QueueOperation> retiring = new ArrayDeque<>(); // done there, signals due, by epoch
    private boolean retirer;
    private long retired; // operations that have left `retiring`

    // Reused from operation to operation.
    private SignalRecord[] found = new SignalRecord[0];
    private Decision[] decisions = new Decision[0];
    private boolean[] open = new boolean[0];

    /** What is to be done about a wait. */
    private enum Decision {
        REACHED,
        ELIDED_FIFO,
        ELIDED_FRONTIER,
        DEVICE_WAIT,
        /** Until somebody promises or reaches the value. */
        DEFERRED_UNKNOWN,
        /** Until the value is reached, there being nothing the device could wait for. */
        DEFERRED_UNREACHED
    }

    FifoScheduler(SchedulingDomain domain, Device device, Object directGroup, FifoBackend backend) {
        super(domain, device, directGroup);
        this.backend = backend;
        this.accumulator = new FrontierAccumulator(axis, domain.frontierCapacity());
    }

    @Override
    void start(QueueOperation operation) {
        boolean held = HeldCallbacks.begin();
        try {
            IreeException failure;
            synchronized (lock) {
                failure = issueOrHold(operation);
            }
            if (failure != null) {
                refuse(operation, failure);
            }
            retire(); // an operation that the backend refused
        } finally {
            HeldCallbacks.end(held);
        }
    }

    /** Under the lock. Returns why the operation cannot be issued, ever. */
    private @Nullable IreeException issueOrHold(QueueOperation operation) {
        Fence wait = operation.wait;
        int count = wait == null ? 0 : wait.size();
        reserve(count);
        int held = 0;
        for (int i = 0; wait != null && i < count; i++) {
            IreeException failure = wait.semaphore(i).failure();
            if (failure != null) {
                return failure;
            }
            decisions[i] = decide(wait.semaphore(i), wait.value(i), found[i]);
            held += decisions[i].compareTo(Decision.DEVICE_WAIT) > 0 ? 1 : 0;
        }
        if (wait != null && held > 0) {
            return holdBack(operation, wait, count, held);
        }
        IreeException failure = retain(operation);
        if (failure != null) {
            return failure;
        }
        int dropped = minimize(count);
        if (!operation.counted) {
            count(count, 0, dropped);
        }
        issue(operation, count);
        return null;
    }

    private void reserve(int count) {
        if (found.length < count) {
            SignalRecord[] records = new SignalRecord[Math.max(count, found.length * 2)];
            for (int i = 0; i < records.length; i++) {
                records[i] = i < found.length ? found[i] : new SignalRecord();
            }
            found = records;
            decisions = new Decision[records.length];
            open = new boolean[records.length];
        }
    }

    private Decision decide(TimelineSemaphore semaphore, long value, SignalRecord record) {
        if (!semaphore.lookup(value, record)) {
            return Decision.DEFERRED_UNKNOWN;
        }
        if (record.isReached()) {
            return Decision.REACHED;
        }
        Object primitive = record.primitive();
        if (primitive != null) {
            return backend.canWaitForExternal(primitive) ? Decision.DEVICE_WAIT : Decision.DEFERRED_UNREACHED;
        }
        long producer = record.producerAxis();
        if (producer == axis) {
            return Decision.ELIDED_FIFO;
        }
        if (accumulator.covers(producer, record.producerEpoch(), tracker)) {
            return Decision.ELIDED_FRONTIER;
        }
        return domain.queue(producer) instanceof FifoScheduler other
                        && semaphore.scope() != SemaphoreScope.QUEUE_LOCAL
                        && semaphore.scope().includes(place.scopeWith(other.place))
                        && backend.canWaitFor(other.backend, record.producerEpoch())
                ? Decision.DEVICE_WAIT
                : Decision.DEFERRED_UNREACHED;
    }

    /** Drops the device waits that others, or something reached, imply; returns how many. */
    private int minimize(int count) {
        int waits = 0;
        for (int i = 0; i < count; i++) {
            open[i] = decisions[i] == Decision.DEVICE_WAIT;
            waits += open[i] ? 1 : 0;
        }
        for (int i = count; i < open.length; i++) {
            open[i] = false;
        }
        return waits > 1 ? CoveredWaits.drop(found, open) : 0;
    }

    /** Counts what was decided; waits that hold the operation back are counted as such, whatever becomes of them. */
    private void count(int count, int held, int dropped) {
        int elidedHere = 0;
        int reachedHere = 0;
        int byFrontier = 0;
        for (int i = 0; i < count; i++) {
            switch (decisions[i]) {
                case REACHED -> reachedHere++;
                case ELIDED_FIFO -> elidedHere++;
                case ELIDED_FRONTIER -> byFrontier++;
                default -> {}
            }
        }
        reached.add(reachedHere);
        elidedFifo.add(elidedHere);
        elidedFrontier.add(byFrontier);
        deferred.add(held);
        covered.add(dropped);
        deviceWaits.add(count - reachedHere - elidedHere - byFrontier - held - dropped);
    }

    /** Under the lock: puts an operation on the stream, and promises what it will signal. */
    private void issue(QueueOperation operation, int count) {
        for (int i = 0; i < count; i++) {
            Frontier frontier = found[i].frontier();
            if (decisions[i] == Decision.REACHED) {
                accumulator.join(frontier, tracker);
            } else if (open[i]) {
                Object primitive = found[i].primitive();
                if (primitive != null) {
                    backend.waitForExternal(primitive);
                } else {
                    waitFor(found[i]);
                }
                accumulator.join(frontier, tracker);
            }
            operation.elides |= decisions[i] != Decision.REACHED;
        }
        long epoch = accumulator.issued() + 1;
        operation.setFrontierRelease(accumulator.issue(epoch, tracker));
        inFlight.add(operation);
        issued.increment();
        Fence signal = operation.signal;
        try {
            backend.issue(operation);
        } catch (IreeException e) {
            operation.fail(e);
            operation.completed = true;
            return;
        }
        if (signal != null) {
            if (isSeenByOthers(signal)) {
                backend.recordTimepoint(epoch);
            }
            signal.promise(operation.frontier());
        }
    }

    private void waitFor(SignalRecord record) {
        if (domain.queue(record.producerAxis())
                instanceof
                FifoScheduler
                        producer) { // it was there when we decided, and what it has issued will retire in any case
            backend.waitFor(producer.backend, record.producerEpoch());
        }
    }

    private static boolean isSeenByOthers(Fence signal) {
        for (int i = 0; i < signal.size(); i++) {
            if (signal.semaphore(i).scope() != SemaphoreScope.QUEUE_LOCAL) {
                return true;
            }
        }
        return false;
    }

    /** Under the lock. */
    private @Nullable IreeException holdBack(QueueOperation operation, Fence wait, int count, int held) {
        if (!operation.counted) {
            count(count, held, minimize(count));
            operation.counted = true;
        }
        Deferral deferral = hold(operation, held);
        if (deferral == null) {
            return operation.failure();
        }
        for (int i = 0; i < count; i++) {
            if (decisions[i].compareTo(Decision.DEVICE_WAIT) > 0) {
                deferral.add(wait.semaphore(i), wait.value(i), decisions[i] == Decision.DEFERRED_UNKNOWN);
            }
        }
        return null;
    }

    @Override
    public void completed(QueueOperation operation, @Nullable IreeException failure) {
        boolean held = HeldCallbacks.begin();
        try {
            synchronized (lock) {
                if (failure != null) {
                    operation.fail(failure);
                }
                operation.completed = true;
            }
            retire();
        } finally {
            HeldCallbacks.end(held);
        }
    }

    @Override
    void resolved(QueueOperation operation, @Nullable IreeException waitFailure) {
        boolean held = HeldCallbacks.begin();
        try {
            synchronized (lock) {
                if (waitFailure != null) {
                    operation.blame(waitFailure);
                    operation.elides = false; // decided
                }
            }
            retire();
        } finally {
            HeldCallbacks.end(held);
        }
    }

    /** Ends, in order, all operations that the hardware is done with and whose waits are resolved, unless another thread is at it. */
    private void retire() {
        synchronized (lock) {
            if (retirer) {
                return;
            }
            retirer = true;
        }
        for (QueueOperation operation; (operation = nextToRetire()) != null; ) {
            try {
                finish(operation, operation.failure()); // FIFO-1
            } catch (RuntimeException | Error e) { // of what the operation used, when it was let go
                LOG.error("{} of {} could not be ended", operation.name(), this, e);
            }
        }
    }

    private @Nullable QueueOperation nextToRetire() {
        synchronized (lock) {
            long epoch = 0;
            for (QueueOperation head; (head = inFlight.peek()) != null && head.completed; ) {
                epoch = head.epoch();
                retiring.add(inFlight.remove());
            }
            if (epoch > 0 && lost == null) {
                tracker.advance(axis, epoch);
            }
            QueueOperation next = retiring.peek();
            if (next == null || next.deferral != null || !resolve(next)) {
                retirer = false; // FIFO-2
                return null;
            }
            retired++;
            return retiring.remove();
        }
    }

    @Override
    boolean completesInline() {
        return false;
    }

    @Override
    long retired() {
        synchronized (lock) {
            return retired;
        }
    }
}
