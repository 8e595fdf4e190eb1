package io.github.iree4j.lifetime;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * Base of everything that is freed exactly once when its last reference goes.
 *
 * <p>A new resource has one reference, its creator's. {@link #close()} gives that one up; a second close is harmless. Everyone else
 * uses {@link #retain()} and {@link #release()}. A creator that hands its reference to somebody else (a result returned to a program)
 * does not close: the receiver releases it.
 */
public abstract class Resource implements RefCounted, AutoCloseable {
    /*
     * All decisions are made on one int:
     *
     *   31       30..0
     *   CLOSED | REFERENCES
     *
     * REFERENCES  holders, the creator included; the decrement that takes it to 0 runs destroy().
     * CLOSED      the creator has given its reference up through close(); set once, never cleared.
     *
     * LIFE-1: destroy() runs exactly once, after every access that a reference protected (release/acquire on this word).
     */
    private static final int CLOSED = 1 << 31;

    private static final int REFERENCES = ~CLOSED;
    private static final VarHandle STATE;

    static {
        try {
            STATE = MethodHandles.lookup().findVarHandle(Resource.class, "state", int.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    /*
     * Not volatile: nobody else has the object while it is made, and the first write would then cost a fence, for each of the dozen
     * objects that a call makes.
     */
    @SuppressWarnings("UnusedVariable") // through STATE
    private int state = 1;

    /** Creates a resource with one reference, the caller's. */
    protected Resource() {}

    private int stateAcquire() {
        return (int) STATE.getAcquire(this);
    }

    private boolean casState(int expected, int next) {
        return STATE.compareAndSet(this, expected, next);
    }

    @Override
    public final void retain() {
        if (!tryRetain()) {
            throw new IreeException(StatusCode.FAILED_PRECONDITION, describe() + " is closed");
        }
    }

    /**
     * Adds one reference if there is one left: for those who do not keep others from giving up theirs.
     *
     * @return false when the last reference is gone
     */
    public final boolean tryRetain() {
        for (int s = stateAcquire(); ; s = stateAcquire()) {
            int references = s & REFERENCES;
            if (references == 0) {
                return false;
            }
            if (references == REFERENCES) {
                throw new IreeException(
                        StatusCode.INTERNAL,
                        describe() + " is held " + REFERENCES + " times; references are being leaked");
            }
            if (casState(s, s + 1)) {
                return true;
            }
        }
    }

    @Override
    public final void release() {
        for (int s = stateAcquire(); ; s = stateAcquire()) {
            if ((s & REFERENCES) == 0) {
                throw new IreeException(
                        StatusCode.INTERNAL, describe() + " is released more often than it was retained");
            }
            if (casState(s, s - 1)) {
                if ((s & REFERENCES) == 1) {
                    destroy();
                }
                return;
            }
        }
    }

    /** Gives the creator's reference up. Harmless when repeated. */
    @Override
    public final void close() {
        for (int s = stateAcquire(); (s & CLOSED) == 0 && (s & REFERENCES) != 0; s = stateAcquire()) {
            if (casState(s, (s - 1) | CLOSED)) {
                if ((s & REFERENCES) == 1) {
                    destroy();
                }
                return;
            }
        }
    }

    /**
     * Returns whether somebody still holds a reference.
     *
     * @return false once the resource is freed or being freed
     */
    public final boolean isLive() {
        return (stateAcquire() & REFERENCES) != 0;
    }

    /**
     * Returns whether the creator has given its reference up.
     *
     * @return true after {@link #close()}, also while others still hold references
     */
    protected final boolean isClosed() {
        return (state & CLOSED) != 0;
    }

    /**
     * Throws when nobody holds a reference any more.
     *
     * @throws IreeException FAILED_PRECONDITION, naming the resource
     */
    protected final void checkLive() {
        if (!isLive()) {
            throw new IreeException(StatusCode.FAILED_PRECONDITION, describe() + " is closed");
        }
    }

    /**
     * Names the resource in error messages.
     *
     * @return for example {@code buffer of 4096 bytes}
     */
    protected String describe() {
        return getClass().getSimpleName();
    }

    /** Frees what the resource holds. Called exactly once, by whoever gives up the last reference. Must not throw. */
    protected abstract void destroy();
}
