package io.github.iree4j.hal.stream;

import io.github.iree4j.async.CallThreads;
import io.github.iree4j.async.HeldCallbacks;
import io.github.iree4j.hal.schedule.FifoBackend;
import io.github.iree4j.hal.schedule.Issue;
import io.github.iree4j.hal.schedule.QueueScheduler;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Puts operations on a hardware queue in the order in which they are issued. What needs no hardware is over with the submission before
 * it; behind a step of the host nothing is submitted until the step is over.
 */
final class HardwareStream implements FifoBackend {
    /*
     *   issue -> held (behind a step) -> begun (submitted, if there is something to submit) -> its step, if any -> over
     *
     * STREAM-2: entries begin, and are over, in the order of issue; at most one has its step at a time, the last of `begun`, when
     * everything before it is over.
     * STREAM-3: every entry is told once: whoever takes it off `held` or `begun` under the lock puts it on `over` and tells that afterwards.
     *
     * STREAM-7: entries are told in the order in which they are over, those that are over together at once, by one thread at a time; one that
     * finds another at it leaves its own to that, which looks again. Callbacks run afterwards (Ended): one that waits for what another
     * thread ends must not keep that from being told.
     *
     * Everything is guarded by the lock of `queue`, which comes after the lock of the scheduler and before none.
     */
    private static final Logger LOG = LoggerFactory.getLogger(HardwareStream.class);

    private final StreamDevice device;
    private final HardwareQueue queue;
    private final int index;
    private final ArrayDeque<StreamEntry> held = new ArrayDeque<>();
    private final ArrayDeque<StreamEntry> begun = new ArrayDeque<>();
    private final TreeMap<Long, StreamEntry> entries = new TreeMap<>(); // by epoch, what is not over
    final List<StreamEntry> over = new ArrayList<>(); // to be told
    private boolean telling; // some thread is at that
    private @Nullable StreamEntry stepping; // has a step to come, or under way: nothing begins behind it
    private @Nullable Thread stepThread; // once under way; null again when it goes on elsewhere
    private boolean stepUnderWay;
    private long last; // ticket of the last submission
    private long overEpoch; // everything up to it is over
    private @Nullable IreeException gone; // why nothing is issued any more

    private volatile @Nullable QueueScheduler scheduler;

    HardwareStream(StreamDevice device, HardwareQueue queue, int index) {
        this.device = device;
        this.queue = queue;
        this.index = index;
        queue.streams.add(this);
    }

    HardwareQueue queue() {
        return queue;
    }

    void connect(QueueScheduler owner) {
        scheduler = owner;
    }

    // ---- For the scheduler.

    @Override
    public boolean issue(Issue next) {
        StreamOperation own = (StreamOperation) next.operation();
        checkHere();
        device.enter();
        StreamWork work = null;
        HostStep step = null;
        IreeException failure = null;
        try {
            work = own.prepare();
            step = own.hostStep();
        } catch (RuntimeException
                | Error e) { // it keeps its place: it is promised, and others rely on what it was to run after
            failure = failure(own, e);
        }
        StreamEntry entry = new StreamEntry(this, own, next.epoch(), work, waits(next), step);
        entry.after = pointOnThisQueue(next);
        entry.fail(failure);
        Ended ended = new Ended();
        synchronized (queue) {
            add(entry, ended);
        }
        ended.tell();
        return true;
    }

    private void checkHere() {
        synchronized (queue) {
            IreeException why = gone;
            if (why != null) {
                throw why;
            }
        }
    }

    /** What the hardware has to wait for; null for nothing, as when all that is over. */
    private @Nullable TimelineWaits waits(Issue next) {
        TimelineWaits all = null;
        for (Issue.Wait each : next.waits()) {
            if (each.primitive() instanceof ForeignPoint foreign) {
                all = all == null ? new TimelineWaits() : all;
                all.addForeign(foreign.timeline(), foreign.value());
            } else if (each.producer() instanceof HardwareStream other && other.queue != queue) {
                long point = other.point(each.epoch());
                if (point > 0) {
                    all = all == null ? new TimelineWaits() : all;
                    all.add(other.queue.timeline, point);
                }
            }
        }
        return all;
    }

    /**
     * The last ticket of other streams on this hardware queue that something runs after. All commands begin after what was submitted before
     * them, so there is nothing to wait for.
     */
    private long pointOnThisQueue(Issue next) {
        long last = 0;
        for (Issue.Wait each : next.waits()) {
            if (each.producer() instanceof HardwareStream other && other.queue == queue) {
                last = Math.max(last, other.point(each.epoch()));
            }
        }
        return last;
    }

    /** Under the lock. */
    private void add(StreamEntry entry, Ended ended) {
        if (gone != null) { // stopped meanwhile
            entry.fail(gone);
            ended.add(entry);
            return;
        }
        if (queue.reserves) {
            reserve(entry);
        }
        entries.put(entry.epoch, entry);
        if (stepping != null) {
            held.add(entry);
            return;
        }
        begin(entry);
        if (begun.peek() == entry && entry.ticket <= queue.reached()) {
            if (entry.step == null) {
                begun.remove();
                passed(entry);
                ended.add(entry);
            } else {
                startStep(entry);
            }
        }
    }

    @Override
    public void submit() {
        synchronized (queue) {
            queue.flush();
        }
    }

    /** Takes the tickets of something that may be submitted later; STREAM-1. */
    private void reserve(StreamEntry entry) {
        if (entry.needsSubmission()) {
            entry.reserved = queue.reserve();
        }
        entry.end = entry.step == null ? queue.tickets() : queue.reserve();
    }

    /** Begins with an entry: puts it with what is submitted next, if there is something to submit. */
    private void begin(StreamEntry entry) {
        if (entry.needsSubmission()) {
            last = queue.submit(
                    entry.waits == null ? TimelineWaits.NONE : entry.waits, entry.work, entry.reserved, entry);
        }
        last = Math.max(last, entry.after);
        entry.ticket = last;
        if (entry.step != null) {
            stepping = entry;
        } else if (!queue.reserves) {
            entry.end = last;
        }
        begun.add(entry);
    }

    /** Under the lock: the driver has refused what was begun; its place was submitted without it, or nothing can be relied on any more. */
    void refused(StreamEntry entry, IreeException cause, boolean hasPlace) {
        entry.fail(cause);
        if (!hasPlace || device.driver().isLost()) {
            device.loseLater(cause); // the wait of the waiter need not say so
        }
    }

    @Override
    public boolean canWaitFor(FifoBackend producer, long epoch) {
        // A ticket that is reserved is submitted some day; one that is not is no point before it is submitted.
        return producer instanceof HardwareStream other
                && other.device == device
                && (other.queue.reserves || other.point(epoch) >= 0);
    }

    /** The ticket behind which an epoch is over; 0 when it is over, negative when there is none yet. */
    private long point(long epoch) {
        synchronized (queue) {
            if (epoch <= overEpoch) {
                return 0;
            }
            Map.Entry<Long, StreamEntry> entry = entries.ceilingEntry(epoch);
            if (entry == null) { // refused because the stream is gone: everything before it
                return gone == null ? -1 : entries.isEmpty() ? 0 : queue.tickets();
            }
            long end = entry.getValue().end;
            return end == 0 ? -1 : end;
        }
    }

    @Override
    public boolean hasPassed(long epoch) {
        long point = point(epoch);
        return point == 0 || point > 0 && point <= queue.timeline.value();
    }

    @Override
    public boolean canWaitForExternal(Object primitive) {
        return primitive instanceof ForeignPoint point
                && point.device() == device
                && point.timeline().isLive();
    }

    @Override
    public boolean keepExternal(Object primitive) {
        return ((ForeignPoint) primitive).timeline().tryRetain();
    }

    @Override
    public void letGoExternal(Object primitive) {
        ((ForeignPoint) primitive).timeline().release();
    }

    @Override
    public boolean hasPassedExternal(Object primitive) {
        ForeignPoint point = (ForeignPoint) primitive;
        if (device.isHardwareLost() || !point.timeline().tryRetain()) {
            return true; // nobody is left to ask
        }
        try {
            return point.timeline().value() >= point.value();
        } finally {
            point.timeline().release();
        }
    }

    @Override
    public Executor wakeExecutor() {
        return device.issuer();
    }

    // ---- Under the lock of the queue, when the hardware or the host has got on.

    /** Ends what the hardware has reached. */
    void reached(Ended ended) {
        for (StreamEntry head; (head = begun.peek()) != null && head.ticket <= queue.reached(); ) {
            if (head == stepping) {
                if (!stepUnderWay) {
                    startStep(head);
                }
                return;
            }
            begun.remove();
            passed(head);
            ended.add(head);
        }
        settle();
    }

    /** An entry is over, and everything before it. */
    private void passed(StreamEntry entry) {
        overEpoch = entry.epoch;
        entries.headMap(entry.epoch, true).clear();
    }

    private void startStep(StreamEntry entry) {
        stepUnderWay = true;
        CallThreads.start("iree4j-host-step " + device.id() + " queue " + index, () -> runSteps(entry));
    }

    /** On a thread of its own, without a lock: runs a step, and those that come behind it while there is nothing in between. */
    private void runSteps(StreamEntry first) {
        for (StreamEntry entry = first; entry != null; ) {
            entry.hardwareOver();
            Step step = new Step(entry);
            try {
                Objects.requireNonNull(entry.step).run(step);
            } catch (Throwable t) {
                step.accept(failure(entry.operation, t));
            }
            entry = step.leave();
        }
    }

    private static IreeException failure(StreamOperation operation, Throwable thrown) {
        return thrown instanceof IreeException failure
                ? failure
                : new IreeException(StatusCode.INTERNAL, operation.name() + " failed: " + thrown, thrown);
    }

    /** Hears of the end of a step. */
    private final class Step implements Consumer<@Nullable IreeException> {
        private final StreamEntry entry;
        private final AtomicBoolean over = new AtomicBoolean();
        private @Nullable StreamEntry next; // a step to be run on the same thread
        private boolean running = true; // guarded by the lock of the queue, like the one before

        Step(StreamEntry entry) {
            this.entry = entry;
            synchronized (queue) {
                stepThread = Thread.currentThread();
            }
        }

        @Override
        public void accept(@Nullable IreeException failure) {
            if (!over.compareAndSet(false, true)) {
                return;
            }
            Ended ended = new Ended();
            synchronized (queue) {
                entry.fail(failure);
                StreamEntry following = stepOver(entry, ended);
                if (following != null) {
                    if (running) {
                        next = following;
                    } else {
                        startStep(following);
                    }
                }
            }
            ended.tell();
        }

        /** The call has returned; returns the step to go on with. */
        @Nullable
        StreamEntry leave() {
            synchronized (queue) {
                running = false;
                if (Thread.currentThread().equals(stepThread)) {
                    stepThread = null;
                }
                return next;
            }
        }
    }

    /** A step is over: goes on with what was held back; returns the next step, if that can be run at once. */
    private @Nullable StreamEntry stepOver(StreamEntry entry, Ended ended) {
        stepping = null;
        stepUnderWay = false;
        begun.remove(entry); // everything before it is over
        if (queue.reserves && !device.isHardwareLost()) {
            try {
                queue.signal(entry.end);
                last = entry.end;
            } catch (RuntimeException | Error e) { // others wait for it
                device.loseLater(failure(entry.operation, e));
            }
        }
        passed(entry);
        ended.add(entry);
        for (StreamEntry next; stepping == null && (next = held.poll()) != null; ) {
            begin(next);
        }
        queue.flush();
        StreamEntry ahead = stepping;
        if (ahead != null && begun.peek() == ahead && ahead.ticket <= queue.reached()) {
            stepUnderWay = true;
            return ahead;
        }
        reached(ended);
        return null;
    }

    /** Once nothing is issued any more and nothing is under way: nobody must wait for tickets that were reserved. */
    private void settle() {
        if (gone != null && queue.reserves && begun.isEmpty() && held.isEmpty() && !device.isHardwareLost()) {
            try {
                if (queue.tickets() > queue.timeline.value()) {
                    queue.signal(queue.tickets());
                }
            } catch (RuntimeException | Error e) {
                LOG.error("queue {} of device '{}' could not be settled", index, device.id(), e);
            }
        }
    }

    // ---- The end.

    /**
     * Nothing is issued any more; ends what has not begun.
     *
     * @param cause why
     * @param failing whether what has begun fails too, when it is over
     */
    void stop(IreeException cause, boolean failing) {
        Ended ended = new Ended();
        synchronized (queue) {
            if (gone == null) {
                gone = cause;
            }
            for (StreamEntry entry; (entry = held.poll()) != null; ) {
                entry.fail(cause);
                ended.add(entry);
            }
            StreamEntry ahead = stepping;
            if (ahead != null && !stepUnderWay) { // it will not be run
                ahead.fail(cause);
                stepping = null;
            }
            if (failing) {
                begun.forEach(entry -> entry.fail(cause));
            }
            reached(ended);
        }
        ended.tell();
    }

    /** Under the lock: the hardware is lost; ends everything but a step that is under way. */
    void abandon(IreeException cause, Ended ended) {
        if (gone == null) {
            gone = cause;
        }
        StreamEntry running = stepUnderWay ? stepping : null;
        begun.addAll(held);
        held.clear();
        for (StreamEntry entry : begun) {
            entry.fail(cause);
            if (entry != running) {
                ended.add(entry);
            }
        }
        begun.removeIf(entry -> entry != running);
        stepping = running;
    }

    /**
     * STREAM-6: fails the signals of all that is not over, which nobody waits for any longer; it keeps what it uses until it is over.
     */
    void failSignals(IreeException cause) {
        boolean outer = HeldCallbacks.begin();
        try {
            synchronized (queue) { // what is on the lists has not been told
                for (StreamEntry entry : begun) { // nothing is held back once the stream was stopped
                    entry.fail(cause);
                    entry.operation.failSignals(cause);
                }
            }
        } finally {
            HeldCallbacks.end(outer);
        }
    }

    /** Under the lock: whether the hardware has something to do that it was given. */
    boolean isHardwareBusy() {
        StreamEntry head = begun.peek();
        return head != null && !(head == stepping && stepUnderWay);
    }

    /** Whether the calling thread runs a step of this stream. */
    boolean isStepThread() {
        synchronized (queue) {
            return Thread.currentThread().equals(stepThread);
        }
    }

    /**
     * Tells the scheduler what is over; without a lock, callbacks being held back. STREAM-7. Returns how much it was: 0 when there was
     * nothing, or another thread is at it.
     */
    int tellOver() {
        List<StreamEntry> next;
        synchronized (queue) {
            if (telling || over.isEmpty()) {
                return 0;
            }
            next = List.copyOf(over);
            over.clear();
            telling = true;
        }
        try {
            tell(next);
        } finally {
            synchronized (queue) {
                telling = false;
            }
        }
        return next.size();
    }

    /** So many operations are over, and all have been told that are to know. */
    void exit(int operations) {
        for (int i = 0; i < operations; i++) {
            device.exit();
        }
    }

    private void tell(List<StreamEntry> next) {
        long upTo = 0; // what has not failed and is not told
        for (StreamEntry entry : next) {
            try {
                entry.hardwareOver();
            } catch (RuntimeException | Error e) {
                LOG.error("the commands of {} could not be given back", entry.operation.name(), e);
            }
            if (entry.failure == null) {
                upTo = entry.epoch;
                continue;
            }
            tellUpTo(upTo);
            upTo = 0;
            end(entry.epoch, () -> owner().completed(entry.operation, entry.failure));
        }
        tellUpTo(upTo);
    }

    private void tellUpTo(long epoch) {
        if (epoch > 0) {
            end(epoch, () -> owner().completedUpTo(epoch));
        }
    }

    /** Of several operations that end none knows of what goes wrong when another does. */
    private void end(long epoch, Runnable report) {
        try {
            report.run();
        } catch (RuntimeException | Error e) {
            LOG.error(
                    "operations of queue {} of device '{}', up to epoch {}, could not be ended",
                    index,
                    device.id(),
                    epoch,
                    e);
        }
    }

    private QueueScheduler owner() {
        return Objects.requireNonNull(scheduler);
    }
}
