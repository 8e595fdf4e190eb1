package io.github.iree4j.task;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/** The part of a process written by threads making the process runnable or failing the process. */
abstract class ProcessActivation extends ProcessPads.BeforeActivation {
    /*
     * activation, a long with 32 used bits:
     *
     *   31..8     3     2       1     0
     *   SUSPENDS  OVER  LISTED  DONE  ENDING
     *
     * SUSPENDS  events still awaited, signed to detect a surplus wake. The decrement to 0 owns activation. TASK-1
     * ENDING    cancelled or failed externally. The thread that sets ENDING while SUSPENDS > 0 ends the process,
     *           because no worker will ever see the process; both facts are in one word, so exactly one side ends the
     *           process. TASK-2
     * DONE      set once, by the thread that then calls completed(). TASK-3
     * LISTED    in the executor's table of live processes, with a node for its lists. Without LISTED nothing is
     *           scheduled: the thread that adds the process to the table sets LISTED and then checks whether the
     *           process is runnable; a thread that makes the process runnable checks LISTED afterwards. TASK-16
     * OVER      out of the table again: the executor only calls released() from here on.
     */
    static final long ENDING = 1;
    static final long DONE = 1 << 1;
    static final long LISTED = 1 << 2;
    static final long OVER = 1 << 3;
    private static final int SUSPENDS_SHIFT = 8;
    private static final long ONE_SUSPEND = 1L << SUSPENDS_SHIFT;

    private static final VarHandle ACTIVATION;

    static {
        try {
            MethodHandles.Lookup lookup = MethodHandles.lookup();
            ACTIVATION = lookup.findVarHandle(ProcessActivation.class, "activation", long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    @SuppressWarnings("unused") // only through ACTIVATION
    private long activation;

    ProcessActivation(ProcessOptions options) {
        super(options);
        activation = (long) options.suspendCount() << SUSPENDS_SHIFT;
    }

    /** TASK-16: returns whether the process is in an executor and awaits no event. */
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
}
