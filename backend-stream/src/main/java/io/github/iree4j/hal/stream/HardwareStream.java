package io.github.iree4j.hal.stream;

import io.github.iree4j.async.CallThreads;
import io.github.iree4j.async.HeldCallbacks;
import io.github.iree4j.hal.schedule.FifoBackend;
import io.github.iree4j.hal.schedule.Issue;
import io.github.iree4j.hal.schedule.QueueScheduler;
import io.github.iree4j.status.DeviceLostException;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Puts operations on a hardware queue in the order of issue. An operation without hardware work completes with the
 * submission before. Behind a host step, nothing is submitted until the step has completed.
 */
final class HardwareStream implements FifoBackend {
    /*
     *   issue -> held (behind a step) -> begun (submitted, if there is something to submit) -> step, if any -> over
     *
     * STREAM-2: entries begin, and complete, in the order of issue. At most one entry runs a step at a time: the last
     * entry of `begun`, once everything before has completed.
     * STREAM-3: every entry is reported once: the thread taking an entry off `held` or `begun` under the lock puts the
     * entry on `over`, and reports afterwards.
     *
     * STREAM-7: entries are reported in the order of completion, by a single thread at a time; entries completing
     * together are reported together. While a thread is reporting, other threads leave entries to the reporting thread,
     * for a re-check. Callbacks run afterwards (Ended): a callback may wait for work ended by another thread, and must
     * not block the report of the ended work.
     *
     * STREAM-11: an entry of a stopped stream does nothing, and keeps the place behind the entry's waits. Queues
     * waiting for the entry's ticket run after these waits. So does the next user of memory considered unused by the
     * scheduler once the entry has completed. The entry's ticket is reached before the waits of later entries, since
     * later waits may be for these queues.
     *
     * SCHED-8: an operation follows the outcomes of its predecessors before anything is submitted, so a failure of a
     * predecessor is found when the commands are given. Where the driver takes waits for points of work
     * not submitted yet (STREAM-1), commands behind such waits may have been given before the failure: the operation
     * then fails with the wait, after the commands.
     *
     * Everything is guarded by the lock of `queue`: the lock comes after the lock of the scheduler and before none.
     */
    private static final Logger LOG = LoggerFactory.getLogger(HardwareStream.class);

    private final StreamDevice device;
    private final HardwareQueue queue;
    private final int index;
    private final ArrayDeque<StreamEntry> held = new ArrayDeque<>();
    private final ArrayDeque<StreamEntry> begun = new ArrayDeque<>();
    final StreamEpochs epochs = new StreamEpochs();
    final List<StreamEntry> over = new ArrayList<>(); // to be reported

    @Nullable
    Thread stepThread; // thread of the running step; null again when the step continues elsewhere

    private boolean reporting; // a thread is reporting
    private @Nullable StreamEntry stepping; // entry with a due or running step: nothing begins behind this entry
    private boolean stepUnderWay;
    private long last; // ticket of the last submission
    private @Nullable IreeException gone; // why the stream was stopped

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
        device.enter();
        Outcome outcome = StreamEpochs.outcome(next);
        StreamWork work = null;
        HostStep step = null;
        // a failed operation keeps its place: the epoch is promised, and other operations rely on the order
        IreeException failure = whyGone();
        try {
            if (failure == null) {
                work = own.prepare();
                step = own.hostStep();
            }
        } catch (RuntimeException | Error e) {
            failure = failure(own, e);
        }
        StreamEntry entry = new StreamEntry(this, own, next.epoch(), outcome, work, waits(next), step);
        entry.after = pointOnThisQueue(next);
        entry.fail(failure);
        Ended ended = new Ended();
        queue.locked(() -> add(entry, ended));
        ended.report();
        return true;
    }

    private @Nullable IreeException whyGone() {
        synchronized (queue) {
            return gone;
        }
    }

    /** Returns the points for the hardware to wait for; null for none, or when all are reached. */
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
     * Returns the last ticket, of other streams on this hardware queue, required to precede an operation. Commands
     * begin after everything submitted before, so no wait is needed.
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

    /** Adds an entry; under the lock. */
    private void add(StreamEntry entry, Ended ended) {
        entry.fail(gone);
        if (queue.reserves) {
            reserve(entry);
        }
        epochs.add(entry);
        if (gone != null && device.isHardwareLost()) {
            held.add(entry);
            queue.abandon(gone, ended);
            return;
        }
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
        queue.locked(queue::flush);
    }

    /** Reserves the tickets of an entry, for a possibly later submission; STREAM-1. */
    private void reserve(StreamEntry entry) {
        if (entry.needsSubmission()) {
            entry.reserved = queue.reserve();
        }
        entry.end = entry.step == null ? queue.tickets() : queue.reserve();
    }

    /** Begins an entry: adds the entry to the next batch, if there is something to submit. */
    private void begin(StreamEntry entry) {
        if (gone != null) {
            beginWithoutWork(entry);
            return;
        }
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

    /** STREAM-11: begins an entry of a stopped stream. */
    private void beginWithoutWork(StreamEntry entry) {
        entry.step = null;
        entry.seen = true;
        boolean isAwaited = queue.reserves && entry.end > last;
        if (entry.waits != null || isAwaited) {
            last = queue.submit(
                    entry.waits == null ? TimelineWaits.NONE : entry.waits, null, isAwaited ? entry.end : 0, entry);
        }
        last = Math.max(last, entry.after);
        entry.ticket = last;
        entry.end = queue.reserves ? entry.end : last;
        begun.add(entry);
    }

    /** Handles an entry refused by the driver, under the lock: an empty submission took the entry's place, or the stream is unusable. */
    void refused(StreamEntry entry, IreeException cause, boolean hasPlace) {
        if (hasPlace && !device.driver().isLost()) {
            entry.fail(cause);
            return;
        }
        IreeException loss = DeviceLostException.by(device.id(), cause);
        entry.fail(loss);
        device.loseLater(loss); // the loss of the device may not be reported by the waiter's own wait
    }

    @Override
    public boolean canWaitFor(FifoBackend producer, long epoch) {
        // A reserved ticket is eventually submitted; an unreserved ticket exists only after the submission.
        return producer instanceof HardwareStream other
                && (other.device == device || device.driver().canWaitForLanesOf(other.device.driver()))
                && (other.queue.reserves || other.point(epoch) >= 0);
    }

    /** Returns the ticket at which an epoch completes; 0 when the epoch has completed, negative when there is no ticket yet. */
    long point(long epoch) {
        synchronized (queue) {
            if (epochs.isOver(epoch)) {
                return 0;
            }
            StreamEntry entry = epochs.from(epoch);
            if (entry == null) { // refused because the device is closed: wait for everything before
                return gone == null ? -1 : epochs.isEmpty() ? 0 : queue.tickets();
            }
            return entry.end == 0 ? -1 : entry.end;
        }
    }

    /** Answers for an asserted premise: an exception must not end the retirement in progress while the device is being lost. */
    @Override
    public boolean hasPassed(long epoch) {
        try {
            return hasReached(epoch);
        } catch (IreeException e) {
            return true; // not known to be in flight
        }
    }

    /**
     * Returns whether the hardware has passed an epoch.
     *
     * @throws IreeException ABORTED when the device is lost
     */
    boolean hasReached(long epoch) {
        long point = point(epoch);
        return point == 0 || point > 0 && queue.hasPassed(point);
    }

    @Override
    public boolean canWaitForExternal(Object primitive) {
        return primitive instanceof ForeignPoint point && point.device() == device && point.isOpen();
    }

    @Override
    public boolean keepExternal(Object primitive) {
        return ((ForeignPoint) primitive).tryAwait();
    }

    @Override
    public void letGoExternal(Object primitive) {
        ((ForeignPoint) primitive).timeline().release();
    }

    @Override
    public boolean hasPassedExternal(Object primitive) {
        return device.isHardwareLost() || ((ForeignPoint) primitive).hasPassed();
    }

    @Override
    public Executor wakeExecutor() {
        return device.issuer();
    }

    // ---- Under the lock of the queue, after progress of the hardware or the host.

    /** Ends the entries reached by the hardware. */
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
        lookAtHead();
        settle();
    }

    /**
     * Reports the begin of submitted commands with nothing before them on the stream. Points awaited by the hardware
     * may still hold the commands back.
     */
    void lookAtHead() {
        StreamEntry head = begun.peek();
        if (head != null && !head.seen && head.work != null && head.ticket <= queue.given()) {
            head.seen = owner().seenToBegin(head.operation);
        }
    }

    /** Records the completion of an entry and everything before. */
    private void passed(StreamEntry entry) {
        epochs.passed(entry, owner().signalledUpTo());
    }

    /** Starts a host step on a new thread; under the lock. */
    void startStep(StreamEntry entry) {
        stepBegins(entry);
        CallThreads.start("iree4j-host-step " + device.id() + " queue " + index, () -> StepRun.all(this, entry));
    }

    private void stepBegins(StreamEntry entry) {
        stepUnderWay = true;
        if (!entry.seen) { // no commands before the step
            entry.seen = owner().seenToBegin(entry.operation);
        }
    }

    static IreeException failure(StreamOperation operation, Throwable thrown) {
        return thrown instanceof IreeException failure
                ? failure
                : IreeException.of(StatusCode.INTERNAL, operation.name() + " failed: " + thrown, thrown);
    }

    /** Continues with held entries after a completed step, under the lock. Returns the next step if the step can run at once. */
    @Nullable
    StreamEntry stepOver(StreamEntry entry, Ended ended) {
        stepping = null;
        stepUnderWay = false;
        begun.remove(entry); // everything before this entry is complete
        if (queue.reserves && !device.isHardwareLost()) {
            try {
                queue.signal(entry.end);
                last = entry.end;
            } catch (RuntimeException | Error e) { // waiters must not hang
                device.loseLater(failure(entry.operation, e));
            }
        }
        passed(entry);
        ended.add(entry);
        beginHeld();
        queue.flush();
        StreamEntry ahead = stepping;
        if (ahead != null && begun.peek() == ahead && ahead.ticket <= queue.reached()) {
            stepBegins(ahead);
            return ahead;
        }
        reached(ended);
        return null;
    }

    private void beginHeld() {
        for (StreamEntry next; stepping == null && (next = held.poll()) != null; ) {
            begin(next);
        }
    }

    /**
     * Signals the tickets of steps not run, once the stream is stopped and nothing is in flight: no waiter must hang.
     */
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

    // ---- Shutdown.

    /**
     * Stops the stream: entries not begun fail, and end in turn.
     *
     * @param cause the cause
     * @param failing whether begun entries also fail on completion
     */
    void stop(IreeException cause, boolean failing) {
        Ended ended = new Ended();
        queue.lockedInUse(() -> {
            if (gone == null) {
                gone = cause;
            }
            held.forEach(entry -> entry.fail(cause));
            StreamEntry ahead = stepping;
            if (ahead != null && !stepUnderWay) { // this step will not run
                ahead.fail(cause);
                stepping = null;
                if (queue.reserves && !device.isHardwareLost()) {
                    // A separate submission: later entries may wait for queues waiting for this entry's end.
                    last = queue.submit(TimelineWaits.NONE, null, ahead.end, ahead);
                    ahead.ticket = last;
                }
            }
            if (failing) {
                begun.forEach(entry -> entry.fail(cause));
            }
            if (!device.isHardwareLost()) { // otherwise abandon() ends the entries
                beginHeld();
                queue.flush();
            }
            queue.endBroken();
            reached(ended);
        });
        ended.report();
    }

    /**
     * Ends everything except a running step after the loss of the hardware; under the lock.
     *
     * @param never receives the places of unsubmitted entries promised to other queues
     */
    void abandon(IreeException cause, Ended ended, List<Submission> never) {
        if (gone == null) {
            gone = cause;
        }
        for (StreamEntry entry : held) {
            if (queue.reserves) {
                never.add(
                        new Submission(entry.waits == null ? TimelineWaits.NONE : entry.waits, null, entry.end, null));
            }
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
     * STREAM-6: fails the signals of all incomplete entries, so that waiters do not hang. Entries keep the resources
     * until completion.
     */
    void failSignals(IreeException cause) {
        boolean outer = HeldCallbacks.begin();
        try {
            synchronized (queue) { // entries on the lists have not been reported
                begun.forEach(entry -> failSignals(entry, cause));
                held.forEach(entry -> failSignals(entry, cause));
            }
        } finally {
            HeldCallbacks.end(outer);
        }
    }

    private static void failSignals(StreamEntry entry, IreeException cause) {
        entry.fail(cause);
        entry.operation.failSignals(cause);
    }

    /** Returns whether the hardware has work left; under the lock. */
    boolean isHardwareBusy() {
        StreamEntry head = begun.peek();
        return head != null && !(head == stepping && stepUnderWay);
    }

    /**
     * Returns whether operations are on the way between host and hardware: another thread is about to put operations
     * there, or reports the end. False during a possibly long host step. Under the lock.
     */
    boolean isMoving() {
        return reporting || !over.isEmpty() || !stepUnderWay && !owner().isIdle();
    }

    /** Returns whether the calling thread runs a step of this stream. */
    boolean isStepThread() {
        synchronized (queue) {
            return Thread.currentThread().equals(stepThread);
        }
    }

    /**
     * Reports completed entries to the scheduler; without a lock, with deferred callbacks. STREAM-7. Returns the number
     * of entries: 0 when there were none, or when another thread is reporting.
     */
    int reportCompleted() {
        List<StreamEntry> next;
        synchronized (queue) {
            if (reporting || over.isEmpty()) {
                return 0;
            }
            next = List.copyOf(over);
            over.clear();
            reporting = true;
        }
        try {
            report(next);
        } finally {
            synchronized (queue) {
                reporting = false;
            }
        }
        return next.size();
    }

    /** Ends the use of the device by completed operations, once they have been reported. */
    void exit(int operations) {
        for (int i = 0; i < operations; i++) {
            device.exit();
        }
    }

    private void report(List<StreamEntry> next) {
        long upTo = 0; // last successful epoch not yet reported
        for (StreamEntry entry : next) {
            try {
                entry.hardwareOver();
            } catch (RuntimeException | Error e) {
                LOG.error("the commands of {} could not be released", entry.operation.name(), e);
            }
            entry.failIfLate();
            if (entry.failure == null) {
                upTo = entry.epoch;
                continue;
            }
            reportUpTo(upTo);
            upTo = 0;
            end(entry.epoch, () -> owner().completed(entry.operation, entry.failure));
        }
        reportUpTo(upTo);
    }

    private void reportUpTo(long epoch) {
        if (epoch > 0) {
            end(epoch, () -> owner().completedUpTo(epoch));
        }
    }

    /** Isolates reports: an exception at the end of an operation must not affect other operations. */
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
