package io.github.iree4j.hal;

import io.github.iree4j.async.Fence;
import io.github.iree4j.async.HeldCallbacks;
import io.github.iree4j.async.SemaphoreScope;
import io.github.iree4j.async.SignalRecord;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.frontier.FrontierAccumulator;
import io.github.iree4j.frontier.MutableFrontier;
import io.github.iree4j.hal.pool.NativeTimepoint;
import io.github.iree4j.status.IreeException;
import java.util.ArrayDeque;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
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
    private final TimepointRing timepoints = new TimepointRing(); // has its own lock: others look at it
    private final Map<Long, FifoBackend> marked =
            new ConcurrentHashMap<>(); // whose marks were offered to ours, by axis
    private volatile int underWay; // how many; written under the lock
    private boolean retirer;
    private @Nullable Wanting wantingMemory; // just held back for that; taken before the lock is given up
    private long retired; // operations that have left `retiring`

    // Reused from operation to operation.
    private SignalRecord[] found = new SignalRecord[0];
    private @Nullable FifoBackend[] producers = new @Nullable FifoBackend[0]; // of those that the device waits for
    private Decision[] decisions = new Decision[0];
    private boolean[] open = new boolean[0]; // waits that cost the device or the host something
    private boolean[] certain = new boolean[0]; // waits that do not hold the operation back

    /** An operation that the pools have no memory for as they are. */
    private record Wanting(Deferral deferral, StorageRequest request, Frontier after) {}

    /** What is to be done about a wait. */
    private enum Decision {
        REACHED,
        ELIDED_FIFO,
        ELIDED_FRONTIER,
        /** Another wait of the operation implies it. */
        COVERED,
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
            Wanting wanting;
            synchronized (lock) {
                failure = issueOrHold(operation);
                wanting = wantingMemory;
                wantingMemory = null;
            }
            if (wanting != null) { // without the lock: new memory takes its time
                failure = awaitStorage(wanting.deferral, wanting.request, wanting.after, this::timepoint, false);
            }
            if (failure != null) {
                refuse(operation, failure);
            }
            retire(); // an operation that the backend refused, or that was over when it was issued
        } finally {
            HeldCallbacks.end(held);
        }
    }

    /** Under the lock. Returns why the operation cannot be issued, ever. */
    private @Nullable IreeException issueOrHold(QueueOperation operation) {
        Fence wait = operation.wait;
        int count = wait == null ? 0 : wait.size();
        reserve(count);
        for (int i = 0; wait != null && i < count; i++) {
            IreeException failure = wait.semaphore(i).failure();
            if (failure != null) {
                return failure;
            }
            decisions[i] = decide(wait.semaphore(i), wait.value(i), i);
        }
        minimize(count);
        int held = 0;
        for (int i = 0; i < count; i++) {
            held += holdsBack(decisions[i]) ? 1 : 0;
        }
        if (wait != null && held > 0) {
            return holdBack(operation, wait, count, held);
        }
        count(operation, count);
        if (operation instanceof StorageRequest request) {
            Frontier after = runsAfter(count);
            try {
                if (!request.tryReservePresent(after, this::timepoint)) {
                    Deferral deferral = hold(operation, 1);
                    if (deferral == null) {
                        return operation.failure();
                    }
                    wantingMemory = new Wanting(deferral, request, after);
                    return null;
                }
            } catch (RuntimeException | Error e) {
                return failure(operation, e);
            }
        }
        IreeException failure = retain(operation);
        if (failure != null) {
            return failure;
        }
        try {
            putWaits(operation, count);
        } catch (RuntimeException | Error e) {
            return failure(operation, e);
        }
        issue(operation);
        return null;
    }

    /** Under the lock: what an operation runs after if it is issued now. */
    private Frontier runsAfter(int count) {
        MutableFrontier after = new MutableFrontier(Frontier.MAXIMUM_CAPACITY);
        after.merge(accumulator.snapshot(tracker), tracker);
        if (accumulator.issued() > 0) {
            after.insertOrRaise(axis, accumulator.issued(), tracker);
        }
        for (int i = 0; i < count; i++) {
            after.merge(found[i].frontier(), tracker);
        }
        return after.snapshot();
    }

    /** The earliest mark on another stream that implies an epoch and that ours can wait for. */
    private @Nullable NativeTimepoint timepoint(long producer, long epoch) {
        if (producer == axis || !(domain.queue(producer) instanceof FifoScheduler other)) {
            return null;
        }
        NativeTimepoint mark = other.timepoints.atOrAbove(epoch);
        if (mark == null || !backend.canWaitFor(other.backend, mark.epoch())) {
            return null;
        }
        marked.put(producer, other.backend);
        return mark;
    }

    private void reserve(int count) {
        if (found.length < count) {
            SignalRecord[] records = new SignalRecord[Math.max(count, found.length * 2)];
            for (int i = 0; i < records.length; i++) {
                records[i] = i < found.length ? found[i] : new SignalRecord();
            }
            found = records;
            producers = new @Nullable FifoBackend[records.length];
            decisions = new Decision[records.length];
            open = new boolean[records.length];
            certain = new boolean[records.length];
        }
    }

    private static boolean holdsBack(Decision decision) {
        return decision.compareTo(Decision.DEVICE_WAIT) > 0;
    }

    private Decision decide(TimelineSemaphore semaphore, long value, int index) {
        SignalRecord record = found[index];
        producers[index] = null;
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
        if (domain.queue(producer) instanceof FifoScheduler other
                && semaphore.scope() != SemaphoreScope.QUEUE_LOCAL
                && semaphore.scope().includes(place.scopeWith(other.place))
                && backend.canWaitFor(other.backend, record.producerEpoch())) {
            producers[index] = other.backend; // it may be closed, and not to be found, when it is waited for
            return Decision.DEVICE_WAIT;
        }
        return Decision.DEFERRED_UNREACHED;
    }

    /** Drops what is to be waited for, on the device or the host, when something that does not hold the operation back implies it. */
    private void minimize(int count) {
        int waits = 0;
        for (int i = 0; i < count; i++) {
            open[i] = decisions[i] == Decision.DEVICE_WAIT || decisions[i] == Decision.DEFERRED_UNREACHED;
            certain[i] = !holdsBack(decisions[i]);
            waits += open[i] ? 1 : 0;
        }
        if (waits == 0 || count == 1 || CoveredWaits.drop(found, count, open, certain) == 0) {
            return;
        }
        for (int i = 0; i < count; i++) {
            boolean was = decisions[i] == Decision.DEVICE_WAIT || decisions[i] == Decision.DEFERRED_UNREACHED;
            decisions[i] = was && !open[i] ? Decision.COVERED : decisions[i];
        }
    }

    /** Counts what was decided first; waits that hold the operation back are counted as such, whatever becomes of them. */
    private void count(QueueOperation operation, int count) {
        if (operation.counted) {
            return;
        }
        operation.counted = true;
        for (int i = 0; i < count; i++) {
            switch (decisions[i]) {
                case REACHED -> reached.increment();
                case ELIDED_FIFO -> elidedFifo.increment();
                case ELIDED_FRONTIER -> elidedFrontier.increment();
                case COVERED -> covered.increment();
                case DEVICE_WAIT -> deviceWaits.increment();
                case DEFERRED_UNKNOWN, DEFERRED_UNREACHED -> deferred.increment();
            }
        }
    }

    /** Under the lock: puts on the stream what the next operation is to wait for. */
    private void putWaits(QueueOperation operation, int count) {
        for (int i = 0; i < count; i++) {
            Frontier frontier = found[i].frontier();
            if (decisions[i] == Decision.REACHED) {
                accumulator.join(frontier, tracker);
            } else if (decisions[i] == Decision.DEVICE_WAIT) {
                Object primitive = found[i].primitive();
                if (primitive != null) {
                    backend.waitForExternal(primitive);
                } else {
                    backend.waitFor(Objects.requireNonNull(producers[i]), found[i].producerEpoch());
                }
                accumulator.join(frontier, tracker);
            }
            producers[i] = null;
            operation.elides |= decisions[i] != Decision.REACHED;
        }
        if (operation instanceof StorageRequest request) {
            for (NativeTimepoint mark : request.marks()) {
                backend.waitFor(Objects.requireNonNull(marked.get(mark.axis())), mark.epoch());
                accumulator.join(mark.frontier(), tracker);
            }
        }
    }

    /** Under the lock: puts an operation on the stream, and promises what it will signal. */
    private void issue(QueueOperation operation) {
        long epoch = accumulator.issued() + 1;
        operation.setFrontierRelease(accumulator.issue(epoch, tracker));
        inFlight.add(operation);
        underWay = inFlight.size();
        countIssued(operation);
        Fence signal = operation.signal;
        try {
            backend.issue(operation);
            operation.completed |= backend.wasOverWhenIssued();
        } catch (RuntimeException | Error e) {
            operation.fail(failure(operation, e));
            operation.completed = true;
            return;
        }
        boolean frees = operation instanceof StorageRelease;
        if (frees || signal != null && isSeenByOthers(signal)) {
            try {
                backend.recordTimepoint(epoch);
                timepoints.add(axis, epoch, operation.frontier());
            } catch (RuntimeException | Error e) { // it runs, but nobody may rely on that
                operation.fail(failure(operation, e));
                return;
            }
        }
        if (operation instanceof StorageRequest request) {
            request.issued(operation.frontier());
        } else if (operation instanceof StorageRelease release) {
            release.issued(operation.frontier());
        }
        if (signal != null) {
            signal.promise(operation.frontier());
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
        count(operation, count);
        Deferral deferral = hold(operation, held);
        if (deferral == null) {
            return operation.failure();
        }
        for (int i = 0; i < count; i++) {
            if (holdsBack(decisions[i])) {
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
        noteEnd();
    }

    @Override
    public boolean isIdle() {
        return underWay == 0;
    }

    private @Nullable QueueOperation nextToRetire() {
        synchronized (lock) {
            long epoch = 0;
            for (QueueOperation head; (head = inFlight.peek()) != null && head.completed; ) {
                epoch = head.epoch();
                retiring.add(inFlight.remove());
            }
            underWay = inFlight.size();
            if (epoch > 0) {
                tell(epoch);
            }
            if (epoch > 0 && isClosed() && inFlight.isEmpty()) {
                tracker.retire(axis);
            }
            QueueOperation next = retiring.peek();
            if (next == null || next.deferral != null || !resolve(next)) {
                retirer = false; // FIFO-2
                return null;
            }
            retired += next.whole == null ? 1 : 0;
            return retiring.remove();
        }
    }

    @Override
    public Frontier frontier() {
        synchronized (lock) {
            return accumulator.snapshot(tracker);
        }
    }

    @Override
    public FrontierCounters frontierCounters() {
        synchronized (lock) {
            return new FrontierCounters(accumulator.merges(), accumulator.evictions());
        }
    }

    @Override
    void endAxis() {
        boolean held = HeldCallbacks.begin();
        try {
            synchronized (lock) {
                if (inFlight.isEmpty()) {
                    tracker.retire(axis);
                }
            }
        } finally {
            HeldCallbacks.end(held);
        }
    }

    @Override
    long inFlight() {
        return Math.max(0, issued.sum() - retired());
    }

    @Override
    long retired() {
        synchronized (lock) {
            return retired;
        }
    }
}
