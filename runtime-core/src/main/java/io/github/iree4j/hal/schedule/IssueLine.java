package io.github.iree4j.hal.schedule;

import io.github.iree4j.async.Fence;
import io.github.iree4j.async.HeldCallbacks;
import io.github.iree4j.hal.StreamCounters;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Operations decided for a stream and not yet on the stream, in the order of epochs. Deciding adds to the line under
 * the scheduler's lock. Giving to the backend happens here, without this lock, on one thread at a time: a long driver
 * call delays only its stream.
 *
 * <p>An operation waiting for an epoch of another stream is given to the backend once the epoch is on the other stream.
 * Such waits are always for operations decided before, so some line can always proceed.
 */
final class IssueLine {
    /*
     * The line's own monitor guards everything, and is an innermost lock: neither the backend nor another line is
     * called under this monitor.
     *
     * busy     a thread is giving operations to the backend; set and cleared under the monitor. The thread re-checks before
     *          leaving.
     * refused  the backend has declined an operation; until issueMore()
     * taken    the last epoch on the stream; written by the busy thread, under the monitor, read by any thread
     *
     * LINE-1: operations are given to the backend in the order of epochs, each once (one busy thread; taken from the
     * head).
     * LINE-2: no operation acceptable to the backend stays in the line: a thread that adds, follows or lifts a refusal
     * drains afterwards. A thread finding a busy thread leaves its work to the busy thread, and the busy thread
     * re-checks under the monitor before clearing busy.
     * FIFO-4: a waiter for an empty line is notified by the thread that finds the line empty after clearing busy.
     */
    private static final Logger LOG = LoggerFactory.getLogger(IssueLine.class);

    /** Number of passed epochs remembered, so that an epoch awaited by several operations counts as one point. */
    private static final int REMEMBERED = 1024;

    private final FifoScheduler scheduler;
    private final FifoBackend backend;
    private final ArrayDeque<Issue> waiting = new ArrayDeque<>();
    private final List<Follower> followers = new ArrayList<>(); // lines whose head waits for an epoch of this line
    private final TreeSet<Long> points = new TreeSet<>(); // epochs awaited by others, until complete
    private final Set<Long> wanted = new HashSet<>(); // epochs to be awaited by others, not yet on the stream
    private @Nullable Follower followed; // the line and the epoch awaited by the head; of the busy thread
    private boolean busy;
    private boolean refused;
    private volatile @Nullable Runnable emptied; // to be run once, when nothing waits; written under the monitor
    private volatile long taken;
    private long invitations; // number of issueMore() calls
    private boolean planned; // a drain is scheduled
    private long submissions;
    private long nativeWaits;
    private long pointsTaken;

    private record Follower(IssueLine line, long epoch) {}

    IssueLine(FifoScheduler scheduler, FifoBackend backend) {
        this.scheduler = scheduler;
        this.backend = backend;
    }

    /** Adds a decided operation; called under the scheduler's lock, and so in order. */
    synchronized void add(Issue issue) {
        waiting.add(issue);
    }

    /** Schedules a drain where long calls are allowed: together with all other work made ready by the wake in progress on this thread. */
    void drainSoon() {
        synchronized (this) {
            if (planned || waiting.isEmpty()) {
                return;
            }
            planned = true;
        }
        HeldCallbacks.runLast(() -> backend.wakeExecutor().execute(this::drainPlanned));
    }

    private void drainPlanned() {
        synchronized (this) {
            planned = false;
        }
        boolean held = HeldCallbacks.begin(); // operations completed at issue signal once all are issued
        try {
            drain();
        } finally {
            HeldCallbacks.end(held);
        }
    }

    /** Records that the backend accepts operations again. */
    void issueMore() {
        synchronized (this) {
            refused = false;
            invitations++;
        }
        drainSoon();
    }

    /** Gives operations to the backend, until declined. */
    void drain() {
        List<IssueLine> ready = new ArrayList<>(0);
        boolean given = false;
        synchronized (this) {
            if (busy) {
                return; // LINE-2
            }
            busy = true;
        }
        for (; ; ) {
            Issue next = next();
            if (next == null) {
                if (given) {
                    submit();
                    given = false;
                    followUp(ready);
                }
                if (leave()) {
                    break;
                }
                continue;
            }
            given |= give(next, !given);
        }
        for (IssueLine each : ready) {
            each.drainSoon();
        }
        notifyEmptied();
    }

    /** Runs an action when nothing waits and nothing will be added. */
    void whenEmpty(Runnable action) {
        synchronized (this) {
            emptied = action;
        }
        notifyEmptied();
    }

    private void notifyEmptied() {
        if (emptied == null) {
            return; // as after nearly every drain
        }
        Runnable action;
        synchronized (this) {
            if (busy || !waiting.isEmpty()) {
                return; // LINE-2
            }
            action = emptied;
            emptied = null;
        }
        if (action != null) {
            action.run();
        }
    }

    private void submit() {
        try {
            backend.submit();
        } catch (RuntimeException
                | Error e) { // a bug of the backend, which still reports its operations; the line continues
            LOG.error("what was issued to {} could not be submitted", scheduler, e);
        }
    }

    /** Returns the head, if all awaited epochs are on their streams; null when nothing can be given now. */
    private @Nullable Issue next() {
        Issue head;
        followed = null;
        synchronized (this) {
            head = refused ? null : waiting.peek();
        }
        if (head == null) {
            return null;
        }
        for (int i = 0; i < head.waits().size(); i++) {
            FifoScheduler producer = head.producers.get(i);
            if (producer != scheduler
                    && !producer.line.isTaken(head.waits().get(i).epoch())
                    && !producer.line.follow(this, head.waits().get(i).epoch())) {
                followed = new Follower(producer.line, head.waits().get(i).epoch());
                return null;
            }
        }
        return head;
    }

    /** Whether an epoch is on the stream. */
    private boolean isTaken(long epoch) {
        return taken >= epoch;
    }

    /** Registers a line to be drained once an epoch is on this stream; returns true when the epoch already is. */
    private synchronized boolean follow(IssueLine line, long epoch) {
        if (taken >= epoch) {
            return true;
        }
        for (Follower each : followers) {
            if (each.line == line && each.epoch == epoch) {
                return false;
            }
        }
        followers.add(new Follower(line, epoch));
        return false;
    }

    /** Called by the busy thread after finding nothing to give; returns whether the thread may leave. */
    private synchronized boolean leave() {
        Follower stop = followed;
        // Only the stopping line has this line as a follower, and its drain may have found this thread busy.
        if (!waiting.isEmpty() && !refused && (stop == null || stop.line.isTaken(stop.epoch))) {
            return false;
        }
        busy = false;
        return true;
    }

    private boolean give(Issue next, boolean first) {
        long invited = begin(first);
        Fence signal = next.operation().signal;
        next.awaited = wasWanted(next.epoch()) || signal != null && signal.isAwaited() || isBeforeAWait();
        boolean took;
        try {
            took = backend.issue(next);
        } catch (RuntimeException | Error e) {
            scheduler.completed(next.operation(), OperationEnds.failure(next.operation(), e));
            took = true;
        }
        if (took) {
            for (int i = 0; i < next.waits().size(); i++) {
                FifoScheduler producer = next.producers.get(i);
                if (next.waits().get(i).primitive() instanceof Object foreign) {
                    backend.letGoExternal(foreign); // PREM-3
                }
                if (producer != scheduler) {
                    producer.line.countPoint(next.waits().get(i).epoch());
                }
            }
            synchronized (this) {
                waiting.remove();
                nativeWaits += next.waits().size();
                taken = next.epoch(); // LINE-1
            }
        } else {
            refuse(invited, first);
        }
        return took;
    }

    /** Notes that another stream will wait for an epoch. Called under the lock of its scheduler. */
    synchronized void want(long epoch) {
        if (epoch > taken) {
            wanted.add(epoch);
        }
    }

    /**
     * Returns whether the operation behind the head has a wait: the wait may be for the host, and then the host must
     * first learn of completed operations. Under no lock.
     */
    private synchronized boolean isBeforeAWait() {
        Iterator<Issue> all = waiting.iterator();
        all.next();
        return all.hasNext() && !all.next().waits().isEmpty();
    }

    private synchronized boolean wasWanted(long epoch) {
        return !wanted.isEmpty() && wanted.remove(epoch);
    }

    /** Begins an issue. A submission is counted at the first issue, before the host can see the issued operation complete. */
    private synchronized long begin(boolean first) {
        submissions += first ? 1 : 0;
        return invitations;
    }

    /** Records that the backend has declined an operation, unless the backend has called issueMore() since. */
    private synchronized void refuse(long invited, boolean first) {
        submissions -= first ? 1 : 0;
        refused = invitations == invited;
    }

    private synchronized void countPoint(long epoch) {
        points.headSet(scheduler.tracker.completed(scheduler.axis) - REMEMBERED, true)
                .clear();
        if (points.add(epoch)) {
            pointsTaken++;
        }
    }

    private synchronized void followUp(List<IssueLine> ready) {
        followers.removeIf(each -> each.epoch <= taken && ready.add(each.line));
    }

    synchronized StreamCounters counters(long completions) {
        return new StreamCounters(submissions, nativeWaits, pointsTaken, completions);
    }
}
