package io.github.iree4j.lifetime;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.function.Supplier;

/**
 * Lets any number of threads use an object until one of them closes it. What the object holds is freed once, by whichever of the close
 * and the last use ends later, so a close during a use neither waits nor pulls memory away from it.
 *
 * <p>For uses that end before the call that starts them returns. Whoever keeps an object longer holds a reference to it
 * ({@link RefCounted}); a use is no reference, so that a closed object is not kept alive by callers that overlap.
 */
public final class UseGuard {
    /*
     *   31       30..0
     *   CLOSED | USES
     *
     * FRONT-1: 'free' runs exactly once, on the thread that takes the word to CLOSED with no uses; no use starts after CLOSED is set.
     */
    private static final int CLOSED = 1 << 31;

    private static final VarHandle STATE;

    static {
        try {
            STATE = MethodHandles.lookup().findVarHandle(UseGuard.class, "state", int.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final Supplier<String> name;
    private final Runnable free;

    @SuppressWarnings("FieldMayBeFinal") // written through STATE
    private volatile int state;

    /**
     * Guards one object.
     *
     * @param name names the object in messages, for example {@code program 'add'}
     * @param free frees what the object holds; must not throw
     */
    public UseGuard(Supplier<String> name, Runnable free) {
        this.name = name;
        this.free = free;
    }

    /**
     * Starts a use, which {@link #exit} ends.
     *
     * @throws IreeException FAILED_PRECONDITION when closed, naming the object
     */
    public void enter() {
        if (!tryEnter()) {
            throw new IreeException(StatusCode.FAILED_PRECONDITION, name.get() + " is closed");
        }
    }

    /**
     * Starts a use unless closed.
     *
     * @return whether a use was started, which {@link #exit} ends
     */
    public boolean tryEnter() {
        for (int s = state; s >= 0; s = state) {
            if (STATE.compareAndSet(this, s, s + 1)) {
                return true;
            }
        }
        return false;
    }

    /** Ends a use. */
    public void exit() {
        if ((int) STATE.getAndAdd(this, -1) - 1 == CLOSED) {
            free.run();
        }
    }

    /**
     * Closes. Harmless when repeated.
     *
     * @return true for the one caller that did
     */
    public boolean close() {
        int before = (int) STATE.getAndBitwiseOr(this, CLOSED);
        if (before == 0) {
            free.run();
        }
        return before >= 0;
    }

    /**
     * Returns how many uses are going on.
     *
     * @return the number at some moment
     */
    public int uses() {
        return state & ~CLOSED;
    }

    /**
     * Returns whether new uses are refused.
     *
     * @return whether it was closed; uses may still be going on
     */
    public boolean isClosed() {
        return state < 0;
    }
}
