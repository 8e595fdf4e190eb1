package io.github.iree4j.lifetime;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * Base class of objects freed exactly once, when the last reference is released.
 *
 * <p>A new resource has one reference, the creator's. {@link #close()} releases this reference and is idempotent. All
 * other holders use {@link #retain()} and {@link #release()}. A creator that passes the reference on, such as a result
 * returned to a program, does not close: the receiver releases the reference.
 */
public abstract class Resource implements RefCounted, AutoCloseable {
    /*
     * All decisions are made on a single int:
     *
     *   31       30..0
     *   CLOSED | REFERENCES
     *
     * REFERENCES  number of references, the creator's included; the decrement to 0 runs destroy().
     * CLOSED      the creator has released its reference through close(); set once, never cleared.
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
     * Not volatile: the object is not shared during construction, and a volatile first write would cost a fence for
     * each of the dozen objects created by a call.
     */
    @SuppressWarnings("UnusedVariable") // through STATE
    private int state = 1;

    /** Creates a resource with a single reference, the caller's. */
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
            throw IreeException.of(StatusCode.FAILED_PRECONDITION, describe() + " is closed");
        }
    }

    /**
     * Adds a reference unless the last reference has been released: for callers that hold no reference themselves.
     *
     * @return false when the last reference has been released
     */
    public final boolean tryRetain() {
        for (int s = stateAcquire(); ; s = stateAcquire()) {
            int references = s & REFERENCES;
            if (references == 0) {
                return false;
            }
            if (references == REFERENCES) {
                throw IreeException.of(
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
                throw IreeException.of(
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

    /** Releases the creator's reference. Idempotent. */
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
     * Returns whether any reference is left.
     *
     * @return false once the resource is freed or being freed
     */
    public final boolean isLive() {
        return (stateAcquire() & REFERENCES) != 0;
    }

    /**
     * Returns whether the creator has released its reference.
     *
     * @return true after {@link #close()}, even while others hold references
     */
    protected final boolean isClosed() {
        return (stateAcquire() & CLOSED) != 0;
    }

    /**
     * Throws if no reference is left.
     *
     * @throws IreeException FAILED_PRECONDITION, naming the resource
     */
    protected final void checkLive() {
        if (!isLive()) {
            throw IreeException.of(StatusCode.FAILED_PRECONDITION, describe() + " is closed");
        }
    }

    /**
     * Describes the resource in error messages.
     *
     * @return a description, for example {@code buffer of 4096 bytes}
     */
    protected String describe() {
        return getClass().getSimpleName();
    }

    /** Frees everything held by the resource. Called exactly once, by the thread that releases the last reference. Must not throw. */
    protected abstract void destroy();
}
