package io.github.iree4j.call;

import io.github.iree4j.async.HeldCallbacks;
import io.github.iree4j.hal.pool.MemoryHolder;
import io.github.iree4j.hal.pool.OperationsUnderWay;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The end of a program: abandons the calls in progress, withdraws their pending operations, and waits for the rest. Safe from any thread. */
final class ProgramEnd {
    /*
     * END-1: no call misses the end. A call beginning to wait adds itself to the list of calls and then checks whether
     * the program is abandoned; the closing thread abandons the program before reading the list. Running calls check
     * the context.
     * END-2: a waiter is notified of the last change: a change is made before the check for waiters, and a waiter
     * registers before checking for changes.
     * END-5: the future of a call abandoned by closing is complete when closing returns. The delivering thread notifies nobody, since
     * code of the caller runs first: the closing thread looks again.
     */
    private static final Logger LOG = LoggerFactory.getLogger(ProgramEnd.class);

    private static final long DELIVERY_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

    private final ProgramCalls program;
    private final OperationsUnderWay operations;
    private volatile @Nullable IreeException cause; // reason for abandoning calls, or null
    private volatile boolean awaited;
    private long changes; // guarded by this, like 'freed'
    private boolean freed;
    private final List<Call> undelivered = new ArrayList<>(); // given up; guarded by this

    ProgramEnd(ProgramCalls program, OperationsUnderWay operations) {
        this.program = program;
        this.operations = operations;
        operations.whenNone(this::changed);
    }

    /** The reason for abandoning calls, which must not continue; null while calls are not abandoned. */
    @Nullable
    IreeException cause() {
        return cause;
    }

    /** Abandons current and future calls. Idempotent. */
    void giveUp() {
        IreeException given = IreeException.of(StatusCode.CANCELLED, "program '%s' was closed".formatted(program.name));
        synchronized (this) {
            if (freed || cause != null) {
                return;
            }
            cause = given;
        }
        program.context.cancelCalls();
        withdraw();
        for (Call call : program.listed()) {
            giveUp(call, given);
        }
    }

    private void giveUp(Call call, IreeException given) {
        if (call.giveUp(given)) {
            synchronized (this) {
                undelivered.add(call);
            }
        }
    }

    /** Abandons a call that has just begun to wait, if the program is abandoned. */
    void giveUpIfClosed(Call call) {
        IreeException given = cause;
        if (given != null) {
            giveUp(call, given);
            call.withdraw(given);
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

    /** Records that the program has freed its resources. */
    synchronized void freed() {
        freed = true;
        changes++;
        notifyAll();
    }

    /**
     * Waits until the program is freed, no operation of the program is in flight, and the callers of calls abandoned by
     * closing have the outcome. Does not wait if calls or operations may need the calling thread. Gives up after the given
     * nanoseconds, or when the thread is interrupted; the thread stays interrupted. Remaining calls then continue, and the
     * last call frees the program.
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
                warn(System.nanoTime() - start);
                return;
            }
            try {
                awaitChange(seen, hasEnded() ? Math.min(left, DELIVERY_NANOS) : left);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                return;
            }
        }
    }

    private void warn(long nanos) {
        long millis = TimeUnit.NANOSECONDS.toMillis(nanos);
        if (hasEnded()) {
            LOG.warn("{} was closed {} ms ago; callers of its calls have not yet got the outcome", program, millis);
        } else {
            LOG.warn(
                    "{} was closed {} ms ago; {} calls and {} of its calls have not ended, and it is freed after the last",
                    program,
                    millis,
                    program.active(),
                    operations);
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
        return hasEnded() && undelivered.stream().allMatch(Call::isDelivered);
    }

    private synchronized boolean hasEnded() {
        return freed && operations.isNone();
    }

    /** Whether this thread runs a call, a worker or a callback, so that calls in progress may wait for this thread. */
    private boolean mustNotWait() {
        MemoryHolder current = MemoryHolder.current();
        return program.executor.isWorkerThread()
                || program.lock.isRunBySelf()
                || (current != null && current.operations().equals(operations))
                || HeldCallbacks.isInCallback();
    }

    /**
     * Ends lingering calls. Such a call stays until its fence is reached. Others may contribute to the fence, but the
     * call's own part may be complete before. A call that has yet to signal its fence signals the fence now.
     */
    private void endThoseThatLinger() {
        if (program.active() <= program.lingering()) { // in this order, so that no call begins to linger unseen
            withdraw();
            if (operations.isNone()) {
                program.listed().forEach(Call::leaveEarly);
            }
        }
    }
}
