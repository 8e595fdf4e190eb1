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
public abstract class UseGuard {
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

    @SuppressWarnings("FieldMayBeFinal") // written through STATE
    private volatile int state;

    /** Creates an open guard without uses. */
    protected UseGuard() {}

    /**
     * Creates a guard for an object that is not a guard itself.
     *
     * @param name describes the object in messages, for example {@code program 'add'}
     * @param free frees everything held by the object; must not throw
     * @return the guard
     */
    public static UseGuard of(Supplier<String> name, Runnable free) {
        return new UseGuard() {
            @Override
            protected String describe() {
                return name.get();
            }

            @Override
            protected void free() {
                free.run();
            }
        };
    }

    /**
     * Describes the object in messages.
     *
     * @return for example {@code program 'add'}
     */
    protected abstract String describe();

    /** Frees everything held by the object. Called once, on the thread of the close or of the end of the last use. Must not throw. */
    protected abstract void free();

    /**
     * Starts a use. {@link #exit} ends the use.
     *
     * @throws IreeException FAILED_PRECONDITION when closed, naming the object
     */
    public void enter() {
        if (!tryEnter()) {
            throw IreeException.of(StatusCode.FAILED_PRECONDITION, describe() + " is closed");
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
            free();
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
            free();
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
