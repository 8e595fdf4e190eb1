package io.github.iree4j.flight;

import io.github.iree4j.async.Fence;
import io.github.iree4j.async.FrontierTracker;
import io.github.iree4j.async.SignalRecord;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.pool.MemoryHolder;
import io.github.iree4j.hal.pool.NativeTimepoint;
import io.github.iree4j.hal.pool.Pool;
import io.github.iree4j.hal.pool.PoolObservation;
import io.github.iree4j.hal.pool.PoolObserver;
import io.github.iree4j.hal.pool.PoolSet;
import io.github.iree4j.hal.pool.PoolSetStatistics;
import io.github.iree4j.hal.pool.Reservation;
import io.github.iree4j.hal.pool.ReservationRequest;
import io.github.iree4j.hal.schedule.QueueObservation;
import io.github.iree4j.hal.schedule.QueueObserver;
import io.github.iree4j.hal.schedule.QueueOperation;
import io.github.iree4j.hal.schedule.QueueScheduler;
import io.github.iree4j.status.IreeException;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * Writes the reports of the scheduler and the pools into rings. Keeps nothing else but definitions. Allocates for new
 * definitions, messages of failures, names of timelines, and dispatches of sampled executions.
 */
final class RecordingObserver implements QueueObserver, PoolObserver {
    // Process-wide: numbers of an earlier recorder are not reused by this recorder.
    private static final AtomicLong OPERATIONS = new AtomicLong();
    private static final AtomicLong RESERVATIONS = new AtomicLong();

    static final int MAXIMUM_POINTS = 4096; // of a fence; more are not recorded

    private final RecordRings rings;
    private final Definitions definitions;
    private final FrontierTracker tracker;
    private final RecordingDrain drain;
    private final DispatchSampling dispatches;
    private final long firstOperation = OPERATIONS.get() + 1;
    private final long firstReservation = RESERVATIONS.get() + 1;

    /** The era of the calls with all operations observed. */
    private volatile long firstEra = Long.MAX_VALUE;

    private final UnnumberedOperations unnumbered = new UnnumberedOperations(); // guarded by this

    RecordingObserver(
            RecordRings rings, Definitions definitions, FrontierTracker tracker, RecordingDrain drain, int dispatches) {
        this.rings = rings;
        this.definitions = definitions;
        this.tracker = tracker;
        this.drain = drain;
        this.dispatches = new DispatchSampling(rings, definitions, drain, dispatches);
    }

    /** Takes calls made from now on for calls begun within the recording. Called once all queues are observed. */
    void begun() {
        firstEra = MemoryHolder.beginEra();
    }

    @Override
    public long submitted(
            QueueScheduler queue, QueueOperation operation, @Nullable Fence wait, @Nullable Fence signal) {
        return submitted(queue, operation, wait, signal, null, false, null);
    }

    @Override
    public long submittedAndIssued(
            QueueScheduler queue,
            QueueOperation operation,
            @Nullable Fence wait,
            @Nullable Fence signal,
            @Nullable Decisions decisions,
            @Nullable Reservation memory) {
        return submitted(queue, operation, wait, signal, decisions, true, memory);
    }

    /**
     * Makes the records of a moment with a single reading of the clock, holding a ring once: each costs as much as a
     * record.
     */
    private long submitted(
            QueueScheduler queue,
            QueueOperation operation,
            @Nullable Fence wait,
            @Nullable Fence signal,
            @Nullable Decisions decisions,
            boolean issued,
            @Nullable Reservation memory) {
        if (!definitions.knowsQueue(queue.axis())) {
            define(queue);
        }
        long number = OPERATIONS.incrementAndGet();
        int name = definitions.name(operation.name());
        MemoryHolder call = MemoryHolder.current();
        int function = function(call);
        long thread = Thread.currentThread().threadId();
        DispatchSampling.Listing listing = dispatches.submitted(operation, call);
        long now = rings.now();
        operation.observedAt(now);
        RecordRing ring = rings.hold(now);
        try {
            ring.begin(RecordType.SUBMITTED, words(wait, signal), now);
            putSubmission(ring, number, queue, name, call, function, thread, wait, signal);
            if (listing != null) {
                listing.put(ring, number, now);
            }
            if (decisions != null) {
                putDecisions(ring, number, decisions, now);
            }
            if (issued) {
                putIssue(ring, number, memory, operation.frontier(), now);
            }
        } finally {
            ring.release();
        }
        // Where everything is at hand in a call, the names made up for the call's own timelines take time.
        boolean madeUp = call == null || !issued && wait != null && !wait.isReached();
        names(wait, call, madeUp, now);
        names(signal, call, madeUp, now);
        drain.look(ring, now);
        return number;
    }

    /**
     * Makes a record of each timeline of a fence with a name other than the call's: with each operation, as the ring drops
     * the oldest records.
     *
     * @param madeUp whether names made up by the runtime are recorded, too
     */
    private void names(@Nullable Fence fence, @Nullable MemoryHolder call, boolean madeUp, long now) {
        for (int i = 0; i < points(fence); i++) {
            TimelineSemaphore timeline = Objects.requireNonNull(fence).semaphore(i);
            String name = madeUp ? timeline.name() : timeline.givenName();
            if (!name.isEmpty() && (call == null || !name.equals(call.toString()))) {
                RecordText text = RecordText.of(name);
                RecordRing ring = rings.hold(now);
                try {
                    ring.begin(RecordType.TIMELINE, 1 + text.words(), now);
                    ring.put(timeline.id());
                    text.put(ring);
                } finally {
                    ring.release();
                }
            }
        }
    }

    /**
     * Returns the memory held by each set of pools. Called before the cut of a recording: each later change of memory
     * is in the recording in full, or not at all, by number.
     */
    List<PoolRecords> pools(PoolObservation pools) {
        List<PoolRecords> all = new ArrayList<>();
        pools.forEachSet((set, now) -> all.add(new PoolRecords(definitions, set, now, rings.cut()))); // REC-2
        return all;
    }

    /**
     * Returns records of the open operations submitted by a time, of the calls in progress, and of the memory held.
     * Operations without a number in the first listing were submitted before the recording began.
     *
     * @param pools the memory held, as of a moment before the cut
     * @param cut the number of the records
     * @param until the time, by the clock of the rings
     */
    synchronized RecordWords open(
            QueueObservation queues, List<PoolRecords> pools, OpenRecords.Calls calls, long cut, long until) {
        OpenRecords open = new OpenRecords(definitions, cut, until);
        UnnumberedOperations.Listing listing = unnumbered.list();
        queues.forEachOpen((queue, name, number, observedAt, wait, signal, call) -> {
            if (number >= firstOperation && observedAt > until || !open.hasRoom()) {
                return;
            }
            UnnumberedOperations.Entry entry =
                    number == 0 ? listing.entry(queue, name, signal, call, OPERATIONS::incrementAndGet) : null;
            boolean before = entry == null ? number < firstOperation : entry.isBefore();
            WordTarget record = open.operation(words(wait, signal), before ? 0 : entry == null ? observedAt : until);
            if (!definitions.knowsQueue(queue.axis())) {
                define(queue);
            }
            long listed = entry == null ? number : entry.number();
            putSubmission(
                    record,
                    listed,
                    queue,
                    definitions.name(name),
                    call,
                    function(call),
                    (before ? RecordReader.OPENED_BEFORE : entry == null ? 0 : RecordReader.OPENED_AT_UNKNOWN_TIME)
                            | reached(wait),
                    wait,
                    signal);
            open.names(wait);
            open.names(signal);
            open.morePoints(listed, wait == null ? 0 : wait.size(), signal == null ? 0 : signal.size());
        });
        unnumbered.keep(listing);
        open.calls(calls);
        pools.forEach(open::pools);
        open.end();
        return open.records();
    }

    /** Returns the bits for the waits of an operation listed as open. */
    private static long reached(@Nullable Fence wait) {
        long bits = RecordReader.OPENED_WITH_WAITS;
        for (int i = 0; i < points(wait) && RecordReader.OPENED_FIRST_WAIT + i < Long.SIZE; i++) {
            // A failure of the timeline afterwards leaves the value reached.
            boolean reached = Objects.requireNonNull(wait).semaphore(i).value() >= wait.value(i);
            bits |= reached ? 1L << RecordReader.OPENED_FIRST_WAIT + i : 0;
        }
        return bits;
    }

    private int function(@Nullable MemoryHolder call) {
        return call == null ? Definitions.NO_NAME : definitions.name(call.name());
    }

    static int points(@Nullable Fence fence) {
        return fence == null ? 0 : Math.min(MAXIMUM_POINTS, fence.size());
    }

    /** Returns the number of words of a submission. */
    private static int words(@Nullable Fence wait, @Nullable Fence signal) {
        return 8 + 2 * (points(wait) + points(signal));
    }

    private void putSubmission(
            WordTarget record,
            long number,
            QueueScheduler queue,
            int name,
            @Nullable MemoryHolder call,
            int function,
            long thread,
            @Nullable Fence wait,
            @Nullable Fence signal) {
        record.put(number);
        record.put(queue.axis());
        record.put(name);
        record.put(call == null ? 0 : call.isSince(firstEra) ? call.number() : -call.number());
        record.put(function);
        record.put(thread);
        record.put(points(wait));
        record.put(points(signal));
        putPoints(record, wait);
        putPoints(record, signal);
    }

    private static void putPoints(WordTarget record, @Nullable Fence fence) {
        for (int i = 0; fence != null && i < points(fence); i++) {
            record.put(fence.semaphore(i).id());
            record.put(fence.value(i));
        }
    }

    private void define(QueueScheduler queue) {
        Device device = queue.device();
        int index = 0;
        for (int i = 0; i < device.queueCount(); i++) {
            index = device.queue(i).axis() == queue.axis() ? i : index;
        }
        definitions.queue(new RecordedQueue(
                queue.axis(),
                device.id(),
                index,
                queue.isStream(),
                device.allocator().statistics().bytesLimit()));
    }

    @Override
    public void decided(QueueOperation operation, Decisions decisions) {
        if (operation.number() < firstOperation) {
            return;
        }
        long now = rings.now();
        RecordRing ring = rings.hold(now);
        try {
            putDecisions(ring, operation.number(), decisions, now);
        } finally {
            ring.release();
        }
        drain.look(ring, now);
    }

    private static void putDecisions(RecordRing ring, long number, Decisions decisions, long now) {
        int count = Math.min(MAXIMUM_POINTS, decisions.size());
        ring.begin(RecordType.DECIDED, 2 + 4 * count, now);
        ring.put(number);
        ring.put(count);
        for (int i = 0; i < count; i++) {
            SignalRecord found = decisions.found(i);
            ring.put(decisions.decision(i).ordinal());
            ring.put(found == null ? 0 : found.value());
            ring.put(found == null ? 0 : found.producerAxis());
            ring.put(found == null ? 0 : found.producerEpoch());
        }
    }

    @Override
    public void waitOver(QueueOperation operation, int index) {
        put(RecordType.WAIT_OVER, operation, index, true);
    }

    @Override
    public void heldForMemory(QueueOperation operation, long bytes) {
        put(RecordType.HELD, operation, bytes, true);
    }

    @Override
    public void issued(QueueOperation operation, @Nullable Reservation memory) {
        Frontier frontier = operation.frontier();
        boolean early = operation.number() < firstOperation;
        if (early && frontier.size() == 0) {
            return;
        }
        long now = rings.now();
        RecordRing ring = rings.hold(now);
        try { // even if early: successors inherit the frontier
            putIssue(ring, early ? 0 : operation.number(), early ? null : memory, frontier, now);
        } finally {
            ring.release();
        }
        drain.look(ring, now);
    }

    private void putIssue(RecordRing ring, long number, @Nullable Reservation memory, Frontier frontier, long now) {
        ring.begin(RecordType.ISSUED, 2 + words(frontier), now);
        ring.put(number);
        ring.put(memory == null || memory.number() < firstReservation ? 0 : memory.number());
        put(ring, frontier);
    }

    @Override
    public void began(QueueOperation operation) {
        put(RecordType.BEGAN, operation, 0, false);
    }

    @Override
    public void completed(QueueOperation operation) {
        put(RecordType.COMPLETED, operation, 0, false);
    }

    private void put(int type, QueueOperation operation, long word, boolean has) {
        if (operation.number() < firstOperation) {
            return;
        }
        long now = rings.now();
        RecordRing ring = rings.hold(now);
        try {
            ring.begin(type, has ? 2 : 1, now);
            ring.put(operation.number());
            if (has) {
                ring.put(word);
            }
        } finally {
            ring.release();
        }
        drain.look(ring, now);
    }

    @Override
    public void over(QueueOperation operation, @Nullable IreeException failure, List<Fence.Entry> refused) {
        Frontier frontier = operation.frontier();
        boolean early = operation.number() < firstOperation;
        if (early && frontier.size() == 0) {
            return;
        }
        RecordText message = failure == null ? RecordText.NONE : message(failure);
        long now = rings.now();
        RecordRing ring = rings.hold(now);
        try {
            int refusals = Math.min(MAXIMUM_POINTS, refused.size());
            ring.begin(
                    RecordType.OVER,
                    2 + message.words() + words(frontier) + (refusals == 0 ? 0 : 1 + 3 * refusals),
                    now);
            ring.put(early ? 0 : operation.number());
            ring.put((failure == null ? 0 : failure.code().number()) | (refusals == 0 ? 0 : RecordReader.REFUSES));
            message.put(ring);
            put(ring, frontier);
            putRefusals(ring, refused.subList(0, refusals));
        } finally {
            ring.release();
        }
        drain.look(ring, now);
    }

    private static void putRefusals(RecordRing ring, List<Fence.Entry> refused) {
        if (refused.isEmpty()) {
            return;
        }
        ring.put(refused.size());
        for (Fence.Entry each : refused) {
            ring.put(each.semaphore().id());
            ring.put(each.value());
            ring.put(each.semaphore().value());
        }
    }

    private static RecordText message(IreeException failure) {
        return RecordText.of(String.valueOf(failure.getMessage()));
    }

    @Override
    public void lost(QueueScheduler queue, IreeException cause) {
        RecordText message = message(cause);
        long now = rings.now();
        RecordRing ring = rings.hold(now);
        try {
            ring.begin(RecordType.LOST, 2 + message.words(), now);
            ring.put(queue.axis());
            ring.put(cause.code().number());
            message.put(ring);
        } finally {
            ring.release();
        }
        drain.look(ring, now);
    }

    // ---- Memory.

    @Override
    public long reserved(Reservation reservation, ReservationRequest request) {
        long number = RESERVATIONS.incrementAndGet();
        int pool = definitions.pool(reservation.pool());
        int consumer = definitions.name(request.consumer());
        MemoryHolder call = request.holder();
        long callNumber = call == null ? 0 : call.number();
        int function = call == null ? Definitions.NO_NAME : definitions.name(call.name());
        Frontier death = reservation.death();
        List<NativeTimepoint> marks = reservation.waits();
        FlightEvent.Reuse reuse = reuse(death, marks);
        long now = rings.now();
        RecordRing ring = rings.hold(now);
        try {
            ring.begin(RecordType.RESERVED, 11 + words(death) + 2 * marks.size(), now);
            ring.put(number);
            ring.put(pool);
            ring.put(reservation.size());
            ring.put(reservation.length());
            ring.put(reservation.offset());
            ring.put(reservation.slab().number());
            ring.put(reuse.ordinal() | (request.persistent() ? 1L << 8 : 0));
            ring.put(consumer);
            ring.put(callNumber);
            ring.put(function);
            put(ring, death);
            ring.put(marks.size());
            for (int i = 0; i < marks.size(); i++) {
                NativeTimepoint mark = marks.get(i);
                ring.put(mark.axis());
                ring.put(mark.epoch());
            }
        } finally {
            ring.release();
        }
        drain.look(ring, now);
        return number;
    }

    private FlightEvent.Reuse reuse(Frontier death, List<NativeTimepoint> marks) {
        if (!marks.isEmpty()) {
            return FlightEvent.Reuse.AFTER_WAIT;
        }
        if (death.size() == 0) {
            return FlightEvent.Reuse.UNUSED;
        }
        return death.isCompleted(tracker) ? FlightEvent.Reuse.COMPLETED : FlightEvent.Reuse.KNOWN_BEFORE;
    }

    @Override
    public void released(Reservation reservation, Frontier death) {
        if (reservation.number() < firstReservation) {
            releasedUnseen(reservation);
            return;
        }
        long now = rings.now();
        RecordRing ring = rings.hold(now);
        try {
            ring.begin(RecordType.RELEASED, 1 + words(death), now);
            ring.put(reservation.number());
            put(ring, death);
        } finally {
            ring.release();
        }
        drain.look(ring, now);
    }

    @Override
    public void releasedUnseen(Reservation reservation) {
        int pool = definitions.pool(reservation.pool());
        long now = rings.now();
        RecordRing ring = rings.hold(now);
        try {
            ring.begin(RecordType.RELEASED_UNSEEN, 2, now);
            ring.put(pool);
            ring.put(reservation.length());
        } finally {
            ring.release();
        }
        drain.look(ring, now);
    }

    @Override
    public void holds(PoolSet set, PoolSetStatistics statistics) {
        PoolRecords record = new PoolRecords(definitions, set, statistics, 0);
        long now = rings.now();
        RecordRing ring = rings.hold(now);
        try {
            ring.begin(RecordType.POOLS_HOLD, record.words(false), now);
            record.put(ring, false);
        } finally {
            ring.release();
        }
        drain.look(ring, now);
    }

    @Override
    public void waits(Pool pool, ReservationRequest request) {
        int poolNumber = definitions.pool(pool);
        int consumer = definitions.name(request.consumer());
        MemoryHolder call = request.holder();
        long callNumber = call == null ? 0 : call.number();
        int function = call == null ? Definitions.NO_NAME : definitions.name(call.name());
        long now = rings.now();
        RecordRing ring = rings.hold(now);
        try {
            ring.begin(RecordType.IN_LINE, 5, now);
            ring.put(poolNumber);
            ring.put(request.size());
            ring.put(consumer);
            ring.put(callNumber);
            ring.put(function);
        } finally {
            ring.release();
        }
        drain.look(ring, now);
    }

    // ---- Frontiers: the number of entries and bit 32 for taint, the producer's axis, and (axis, epoch) of each entry.

    private static int words(Frontier frontier) {
        return 2 + 2 * frontier.size();
    }

    private static void put(RecordRing ring, Frontier frontier) {
        int size = frontier.size();
        ring.put(size | (frontier.isTainted() ? 1L << 32 : 0));
        ring.put(frontier.hasProducer() ? frontier.producerAxis() : 0);
        for (int i = 0; i < size; i++) {
            ring.put(frontier.axis(i));
            ring.put(frontier.epoch(i));
        }
    }
}
