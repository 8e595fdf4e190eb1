package io.github.iree4j.call;

import io.github.iree4j.async.HeldCallbacks;
import io.github.iree4j.hal.pool.MemoryHolder;
import io.github.iree4j.hal.pool.OperationsUnderWay;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** How a program ends: gives up the calls under way, takes back what they submitted, and waits for the rest. Safe from any thread. */
final class ProgramEnd {
    /*
     * END-1: no call misses it. One that begins to wait puts itself on the list of calls and then looks whether the program is given up;
     * who gives it up says so before the list is read. Those that run look at the context.
     * END-2: who waits is told of the last change: a change is made before the look at whether somebody waits, and who waits says so
     * before looking at what changed.
     */
    private static final Logger LOG = LoggerFactory.getLogger(ProgramEnd.class);

    /** As long as the closing of a device waits for its work. */
    private static final long BOUND = TimeUnit.SECONDS.toNanos(10);

    private final ProgramCalls program;
    private final CallsUnderWay calls;
    private final OperationsUnderWay operations;
    private volatile @Nullable IreeException cause; // why calls are given up, once they are
    private volatile boolean awaited;
    private long changes; // guarded by this, like the next
    private boolean freed;

    ProgramEnd(ProgramCalls program, CallsUnderWay calls, OperationsUnderWay operations) {
        this.program = program;
        this.calls = calls;
        this.operations = operations;
        operations.whenNone(this::changed);
    }

    /** Why calls are given up; null while they are not. */
    @Nullable
    IreeException cause() {
        return cause;
    }

    /** Gives up what is under way, and what comes to be from now on. Harmless when repeated. */
    void giveUp() {
        IreeException given =
                new IreeException(StatusCode.CANCELLED, "program '%s' was closed".formatted(program.name()));
        synchronized (this) {
            if (freed || cause != null) {
                return;
            }
            cause = given;
        }
        program.context().cancelCalls();
        program.memory().lookAtGates();
        withdraw();
        for (Call call : calls.all()) {
            call.giveUp(given);
        }
    }

    /** Gives up one call if the program is given up; for one that has just begun to wait. */
    void giveUpIfClosed(Call call) {
        IreeException given = cause;
        if (given != null) {
            call.giveUp(given);
            program.withdraw(call, given);
        }
    }

    private void withdraw() {
        IreeException given = cause;
        if (given != null) {
            program.memory().device().schedulingDomain().withdraw(operations, given);
        }
    }

    /** A call has ended, or the last operation. */
    void changed() {
        if (awaited) {
            synchronized (this) {
                changes++;
                notifyAll();
            }
        }
    }

    /** The program has freed what it had. */
    synchronized void freed() {
        freed = true;
        changes++;
        notifyAll();
    }

    /**
     * Waits until the program is freed and none of its operations is under way: unless the thread is one that these may need, and no
     * longer than the bound or until the thread is interrupted, which it stays. What is left then goes on, and the last one frees.
     */
    void await() {
        awaited = true;
        if (isOver() || mustNotWait()) {
            return;
        }
        long start = System.nanoTime();
        for (long seen = changes(); !isOver(); seen = changes()) {
            endThoseThatLinger();
            long left = BOUND - (System.nanoTime() - start);
            if (left <= 0) {
                LOG.warn(
                        "{} was closed {} s ago; {} calls and {} of its calls have not ended, and it is freed after the last",
                        program,
                        TimeUnit.NANOSECONDS.toSeconds(BOUND),
                        program.active(),
                        operations);
                return;
            }
            try {
                awaitChange(seen, left);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                return;
            }
        }
    }

    private synchronized long changes() {
        return changes;
    }

    private synchronized void awaitChange(long seen, long nanos) throws InterruptedException {
        long start = System.nanoTime();
        long left = nanos;
        while (changes == seen && left > 0) {
            wait(TimeUnit.NANOSECONDS.toMillis(left) + 1);
            left = nanos - (System.nanoTime() - start);
        }
    }

    private synchronized boolean isOver() {
        return freed && operations.isNone();
    }

    /** Whether a call, a worker or a callback is on this thread, which what is under way may wait for. */
    private boolean mustNotWait() {
        MemoryHolder current = MemoryHolder.current();
        return program.isWorker()
                || program.lock().isRunBySelf()
                || (current != null && current.operations().equals(operations))
                || HeldCallbacks.isInCallback();
    }

    /** Calls that have returned stay until their fence is reached, to which others may contribute; their own part may be over before. */
    private void endThoseThatLinger() {
        if (program.active() <= calls.lingering()) { // in this order: none begins to linger unseen
            withdraw();
            if (operations.isNone()) {
                calls.all().forEach(Call::leave);
            }
        }
    }
}
