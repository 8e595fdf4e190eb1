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

/** The end of a program: abandons the calls in progress, withdraws their pending operations, and waits for the rest. Safe from any thread. */
final class ProgramEnd {
    /*
     * END-1: no call misses it. A call that begins to wait adds itself to the list of calls and then checks whether the program
     * is abandoned; the closing thread sets that before it reads the list. Running calls check the context.
     * END-2: a waiter is notified of the last change: a change is made before the check for waiters, and a waiter registers
     * before it checks for changes.
     */
    private static final Logger LOG = LoggerFactory.getLogger(ProgramEnd.class);

    private final ProgramCalls program;
    private final CallsUnderWay calls;
    private final OperationsUnderWay operations;
    private volatile @Nullable IreeException cause; // why calls are abandoned, once they are
    private volatile boolean awaited;
    private long changes; // guarded by this, like the next
    private boolean freed;

    ProgramEnd(ProgramCalls program, CallsUnderWay calls, OperationsUnderWay operations) {
        this.program = program;
        this.calls = calls;
        this.operations = operations;
        operations.whenNone(this::changed);
    }

    /** Why calls are abandoned; null while they are not. */
    @Nullable
    IreeException cause() {
        return cause;
    }

    /** Abandons current and future calls. Idempotent. */
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
        withdraw();
        for (Call call : calls.all()) {
            call.giveUp(given);
        }
    }

    /** Abandons a call that has just begun to wait, if the program is abandoned. */
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

    /** Called when a call or the last operation has ended. */
    void changed() {
        if (awaited) {
            synchronized (this) {
                changes++;
                notifyAll();
            }
        }
    }

    /** The program has freed its resources. */
    synchronized void freed() {
        freed = true;
        changes++;
        notifyAll();
    }

    /**
     * Waits until the program is freed and none of its operations is in flight: unless these may need the calling thread, and no
     * longer than so many nanoseconds or until the thread is interrupted, which it stays. Remaining calls then continue, and the last one
     * frees the program.
     */
    void await(long bound) {
        awaited = true;
        if (isComplete() || mustNotWait()) {
            return;
        }
        long start = System.nanoTime();
        for (long seen = changes(); !isComplete(); seen = changes()) {
            endThoseThatLinger();
            long left = bound - (System.nanoTime() - start);
            if (left <= 0) {
                LOG.warn(
                        "{} was closed {} ms ago; {} calls and {} of its calls have not ended, and it is freed after the last",
                        program,
                        TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start),
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

    private synchronized boolean isComplete() {
        return freed && operations.isNone();
    }

    /** Whether this thread runs a call, a worker or a callback, for which calls in progress may wait. */
    private boolean mustNotWait() {
        MemoryHolder current = MemoryHolder.current();
        return program.isWorker()
                || program.lock().isRunBySelf()
                || (current != null && current.operations().equals(operations))
                || HeldCallbacks.isInCallback();
    }

    /** Ends lingering calls: they stay until their fence is reached, to which others may contribute, but their own part may be complete before. */
    private void endThoseThatLinger() {
        if (program.active() <= calls.lingering()) { // in this order, so that no call begins to linger unseen
            withdraw();
            if (operations.isNone()) {
                calls.all().forEach(Call::leave);
            }
        }
    }
}
