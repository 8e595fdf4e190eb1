package io.github.iree4j.task;

import io.github.iree4j.status.IreeException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/** The part of a process written by threads that make it runnable, fail it or wait for its end. */
abstract class ProcessActivation extends ProcessPads.BeforeActivation {
    /*
     * activation, a long of which 32 bits are used:
     *
     *   31..8     3     2       1     0
     *   SUSPENDS  OVER  LISTED  DONE  ENDING
     *
     * SUSPENDS  events still awaited, signed to detect a surplus wake. The decrement to 0 owns activation.                           TASK-1
     * ENDING    cancelled or failed externally. If set while SUSPENDS > 0, the thread that set it ends the process, because no
     *           worker will ever see it; both facts are in one word, so exactly one side ends it.                                    TASK-2
     * DONE      set once per life, by the thread that then calls completed().                                                        TASK-3
     * LISTED    in the executor's table of live processes, with a node for its lists. Without it nothing is scheduled: the thread that adds the process to
     *           the table sets it and then checks whether the process is runnable; a thread that makes it runnable checks it afterwards.  TASK-16
     * OVER      out of the table again: the executor only calls released() from here on.
     *
     * outcome: null until decided, then the first failure, or SUCCEEDED. Never cleared during a life, so a late failure
     * finds it taken.                                                                                                                TASK-4
     *
     * dependents: a stack of processes to wake; CLOSED once the process is done, so that a thread that adds one too late wakes it itself.  TASK-5
     */
    static final long ENDING = 1;
    static final long DONE = 1 << 1;
    static final long LISTED = 1 << 2;
    static final long OVER = 1 << 3;
    private static final int SUSPENDS_SHIFT = 8;
    private static final long ONE_SUSPEND = 1L << SUSPENDS_SHIFT;

    static final Object SUCCEEDED = new Object();

    /** A process to wake when this one is over. */
    static final class Dependent {
        final @Nullable TaskProcess process;

        @Nullable
        Dependent next;

        Dependent(@Nullable TaskProcess process) {
            this.process = process;
        }
    }

    private static final Dependent CLOSED = new Dependent(null);

    private static final VarHandle ACTIVATION;
    private static final VarHandle OUTCOME;
    private static final VarHandle DEPENDENTS;

    static {
        try {
            MethodHandles.Lookup lookup = MethodHandles.lookup();
            ACTIVATION = lookup.findVarHandle(ProcessActivation.class, "activation", long.class);
            OUTCOME = lookup.findVarHandle(ProcessActivation.class, "outcome", Object.class);
            DEPENDENTS = lookup.findVarHandle(ProcessActivation.class, "dependents", Dependent.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    @SuppressWarnings("unused") // only through ACTIVATION
    private long activation;

    @SuppressWarnings("unused") // only through OUTCOME
    private @Nullable Object outcome;

    @SuppressWarnings("unused") // only through DEPENDENTS
    private @Nullable Dependent dependents;

    ProcessActivation(ProcessOptions options) {
        super(options);
        activation = (long) options.suspendCount() << SUSPENDS_SHIFT;
    }

    /** TASK-16: whether it is in an executor and awaits no event. */
    final boolean maySchedule() {
        long seen = activationVolatile();
        return (seen & LISTED) != 0 && suspends(seen) <= 0;
    }

    static long suspends(long activation) {
        return activation >> SUSPENDS_SHIFT;
    }

    final long activationVolatile() {
        return (long) ACTIVATION.getVolatile(this);
    }

    /** Decrements the suspend count; returns the previous word. */
    final long resumeOnceVolatile() {
        return (long) ACTIVATION.getAndAdd(this, -ONE_SUSPEND);
    }

    final void suspendOnceVolatile() {
        ACTIVATION.getAndAdd(this, ONE_SUSPEND);
    }

    final long setActivationBitsVolatile(long bits) {
        return (long) ACTIVATION.getAndBitwiseOr(this, bits);
    }

    final long clearActivationBitsVolatile(long bits) {
        return (long) ACTIVATION.getAndBitwiseAnd(this, ~bits);
    }

    /** Sets the outcome unless decided; returns the outcome. */
    final Object decideOutcome(Object decided) { // TASK-4
        Object before = OUTCOME.compareAndExchange(this, null, decided);
        return before == null ? decided : before;
    }

    final @Nullable IreeException failureAcquire() {
        return OUTCOME.getAcquire(this) instanceof IreeException failure ? failure : null;
    }

    /** Adds a dependent; false when the process is over and the caller has to wake the dependent. */
    final boolean pushDependent(TaskProcess process) { // TASK-5
        Dependent added = new Dependent(process);
        for (; ; ) {
            Dependent head = (Dependent) DEPENDENTS.getAcquire(this);
            if (head == CLOSED) {
                return false;
            }
            added.next = head;
            if (DEPENDENTS.compareAndSet(this, head, added)) {
                return true;
            }
        }
    }

    /** Takes all dependents, in the order they were added, and accepts no more. */
    final @Nullable Dependent closeDependents() {
        Dependent reversed = null;
        Dependent taken = (Dependent) DEPENDENTS.getAndSet(this, CLOSED);
        while (taken != null && taken != CLOSED) {
            Dependent next = taken.next;
            taken.next = reversed;
            reversed = taken;
            taken = next;
        }
        return reversed;
    }

    /** Begins another life. Only while no other thread uses the process. */
    final void rearmActivation(int suspendCount) {
        OUTCOME.setRelease(this, null);
        DEPENDENTS.setRelease(this, null);
        ACTIVATION.setVolatile(this, (long) suspendCount << SUSPENDS_SHIFT);
    }
}
