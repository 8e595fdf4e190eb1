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
 * What has been decided for a stream and is not on it yet, in the order of epochs. Deciding adds to it under the scheduler's lock; giving
 * it to the backend happens here, without that lock, by one thread at a time: a driver that takes long holds up nothing but its stream.
 *
 * <p>What waits for an epoch of another stream is given to the backend once that epoch is on the other stream. Such waits are always for
 * what was decided before, so some line can always go on.
 */
final class IssueLine {
    /*
     * The line's own monitor guards everything, and is an innermost lock: neither the backend nor another line is called with it.
     *
     * busy     some thread is giving operations to the backend; set and cleared under the monitor. It looks again before it leaves.
     * refused  the backend has said "not now"; until issueMore()
     * taken    the last epoch that is on the stream; written by the busy thread, under the monitor, read anywhere
     *
     * LINE-1: operations are given to the backend in the order of their epochs, each once (one busy thread; taken from the head).
     * LINE-2: nothing stays in the line that the backend would take: whoever adds, follows up or lifts a refusal drains afterwards, and a
     * thread that finds another busy leaves its work to that one, which looks under the monitor before it clears busy.
     */
    private static final Logger LOG = LoggerFactory.getLogger(IssueLine.class);

    /** So many epochs that are over are remembered, so that one that several wait for is counted as one point. */
    private static final int REMEMBERED = 1024;

    private final FifoScheduler scheduler;
    private final FifoBackend backend;
    private final ArrayDeque<Issue> waiting = new ArrayDeque<>();
    private final List<Follower> followers = new ArrayList<>(); // lines whose head waits for an epoch of this one
    private final TreeSet<Long> points = new TreeSet<>(); // epochs that others wait for, of what is not over
    private final Set<Long> wanted =
            new HashSet<>(); // epochs that others are going to wait for, of what is not on the stream
    private boolean busy;
    private boolean refused;
    private volatile long taken;
    private long invitations; // how often the backend has said that it takes operations again
    private boolean planned; // a drain is going to run
    private long submissions;
    private long nativeWaits;
    private long pointsTaken;

    private record Follower(IssueLine line, long epoch) {}

    IssueLine(FifoScheduler scheduler, FifoBackend backend) {
        this.scheduler = scheduler;
        this.backend = backend;
    }

    /** Adds what was decided; under the scheduler's lock, so in order. */
    synchronized void add(Issue issue) {
        waiting.add(issue);
    }

    /**
     * Gives the backend what is in the line where it may take its time: with everything else that the wake which this thread is in the
     * middle of makes ready.
     */
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
        boolean held = HeldCallbacks.begin(); // what is over when it is issued signals once all is issued
        try {
            drain();
        } finally {
            HeldCallbacks.end(held);
        }
    }

    /** The backend takes operations again. */
    void issueMore() {
        synchronized (this) {
            refused = false;
            invitations++;
        }
        drainSoon();
    }

    /** Gives the backend what is in the line, as far as it goes. */
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
    }

    private void submit() {
        try {
            backend.submit();
        } catch (RuntimeException
                | Error e) { // a bug of the backend, whose operations report their ends; the line goes on
            LOG.error("what was issued to {} could not be submitted", scheduler, e);
        }
    }

    /** The head, if everything that it waits for is on its stream; null when there is nothing to give now. */
    private @Nullable Issue next() {
        Issue head;
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
                return null;
            }
        }
        return head;
    }

    /** Whether an epoch is on the stream. */
    private boolean isTaken(long epoch) {
        return taken >= epoch;
    }

    /** Has a line drained once an epoch is on this stream; true when it is. */
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

    /** The busy thread has found nothing to give; whether it may leave. */
    private synchronized boolean leave() {
        if (!waiting.isEmpty() && !refused && isReady(waiting.peek())) {
            return false;
        }
        busy = false;
        return true;
    }

    private boolean isReady(Issue head) {
        for (int i = 0; i < head.waits().size(); i++) {
            FifoScheduler producer = head.producers.get(i);
            if (producer != scheduler
                    && !producer.line.isTaken(head.waits().get(i).epoch())) {
                return false; // that line has us among its followers
            }
        }
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
            scheduler.completed(next.operation(), QueueScheduler.failure(next.operation(), e));
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

    /** Another stream is going to wait for an epoch. From under the lock of its scheduler. */
    synchronized void want(long epoch) {
        if (epoch > taken) {
            wanted.add(epoch);
        }
    }

    /**
     * Whether what comes behind the head waits for something: that may be for the host, which must hear of what is over before. Under no
     * lock.
     */
    private synchronized boolean isBeforeAWait() {
        Iterator<Issue> all = waiting.iterator();
        all.next();
        return all.hasNext() && !all.next().waits().isEmpty();
    }

    private synchronized boolean wasWanted(long epoch) {
        return !wanted.isEmpty() && wanted.remove(epoch);
    }

    /** An issue is going to be given; a submission counts from its first, before the host can see that this is over. */
    private synchronized long begin(boolean first) {
        submissions += first ? 1 : 0;
        return invitations;
    }

    /** The backend has said "not now"; unless it has taken that back already. */
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
