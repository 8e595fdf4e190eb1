package io.github.iree4j.hal.local;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/**
 * Ready operations, in FIFO order. Any thread adds, one thread at a time takes. Neither locks nor allocates: operations
 * are linked through {@link HostOperation#next}.
 *
 * <p>Dmitry Vyukov's queue for many producers and one consumer: a producer makes its operation the last with one exchange, and
 * then links its predecessor to it; between the two steps the consumer sees that there is another operation, but not yet which.
 *
 * <p>READY-1: every operation that was added is taken once, those of one thread in their order; the consumer sees everything
 * written before it was added.
 */
@SuppressWarnings("ReferenceEquality") // operations compare by identity
final class ReadyList {
    private static final VarHandle LAST;
    private static final VarHandle NEXT;
    private static final VarHandle SIZE;

    static {
        try {
            MethodHandles.Lookup lookup = MethodHandles.lookup();
            LAST = lookup.findVarHandle(ReadyList.class, "last", HostOperation.class);
            SIZE = lookup.findVarHandle(ReadyList.class, "size", int.class);
            NEXT = lookup.findVarHandle(HostOperation.class, "next", HostOperation.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final HostOperation stub = new Operations.Barrier(); // in the list whenever it would be empty
    private HostOperation first = stub; // of the consumer

    @SuppressWarnings({"unused", "FieldMayBeFinal"}) // through LAST
    private HostOperation last = stub;

    @SuppressWarnings("unused") // through SIZE; goes up before an operation is added and down after it is taken
    private int size;

    /** Adds an operation that is on no list. */
    void add(HostOperation operation) {
        SIZE.getAndAdd(this, 1);
        link(operation);
    }

    private void link(HostOperation operation) {
        NEXT.set(operation, null);
        HostOperation before = (HostOperation) LAST.getAndSet(this, operation); // READY-1
        NEXT.setRelease(before, operation);
    }

    /** Takes the first operation; null when there is none. One thread at a time. */
    @Nullable
    HostOperation poll() {
        if (isEmptyVolatile()) {
            return null;
        }
        HostOperation head = first;
        HostOperation second = nextAcquire(head);
        if (head == stub) {
            if (second == null) {
                if (lastAcquire() == stub) {
                    return null;
                }
                second = awaitNext(head);
            }
            first = second;
            head = second;
            second = nextAcquire(head);
        }
        if (second == null) {
            if (lastAcquire() == head) {
                link(stub); // so that the last one can be taken off
            }
            second = awaitNext(head);
        }
        first = second;
        SIZE.getAndAdd(this, -1);
        return head;
    }

    /** Returns whether the list is empty, and no producer is about to add. */
    boolean isEmptyVolatile() {
        return (int) SIZE.getVolatile(this) == 0;
    }

    /** Waits for a producer that is between its two steps. */
    private static HostOperation awaitNext(HostOperation operation) {
        HostOperation next;
        while ((next = nextAcquire(operation)) == null) {
            Thread.onSpinWait();
        }
        return next;
    }

    private HostOperation lastAcquire() {
        return (HostOperation) LAST.getAcquire(this);
    }

    private static @Nullable HostOperation nextAcquire(HostOperation operation) {
        return (HostOperation) NEXT.getAcquire(operation);
    }
}
