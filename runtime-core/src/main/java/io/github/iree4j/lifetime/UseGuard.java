package io.github.iree4j.lifetime;

import io.github.iree4j.api.NotForApplications;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.function.Supplier;

/**
 * Lets any number of threads use an object until a thread closes the object. The later of the close and the end of the
 * last use frees the object's resources, once, so a close during a use neither waits nor frees memory in use.
 *
 * <p>For uses confined to a single call. Longer use needs a reference ({@link RefCounted}); a use is not a reference, so overlapping callers do
 * not keep a closed object alive.
 */
@NotForApplications
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
     * Creates a guard for an object.
     *
     * @param name describes the object in messages, for example {@code program 'add'}
     * @param free frees everything held by the object; must not throw
     */
    public UseGuard(Supplier<String> name, Runnable free) {
        this.name = name;
        this.free = free;
    }

    /**
     * Starts a use. {@link #exit} ends the use.
     *
     * @throws IreeException FAILED_PRECONDITION when closed, naming the object
     */
    public void enter() {
        if (!tryEnter()) {
            throw IreeException.of(StatusCode.FAILED_PRECONDITION, name.get() + " is closed");
        }
    }

    /**
     * Starts a use unless closed.
     *
     * @return true if a use was started; {@link #exit} ends the use
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
     * Closes. Idempotent.
     *
     * @return true for the call that closed the object
     */
    public boolean close() {
        int before = (int) STATE.getAndBitwiseOr(this, CLOSED);
        if (before == 0) {
            free.run();
        }
        return before >= 0;
    }

    /**
     * Returns the number of active uses.
     *
     * @return the number at the time of the call
     */
    public int uses() {
        return state & ~CLOSED;
    }

    /**
     * Returns whether new uses are refused.
     *
     * @return true if closed; uses may still be active
     */
    public boolean isClosed() {
        return state < 0;
    }
}
