package io.github.iree4j.hal.local;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/**
 * Ready operations, in FIFO order. Any thread adds, a single consumer takes. Neither locks nor allocates: operations
 * are linked through {@link HostOperation#next}.
 *
 * <p>Dmitry Vyukov's queue for many producers and one consumer: a producer makes its operation the last with an
 * exchange, and then links the predecessor to the operation. Between the two steps the consumer knows that another
 * operation exists, but does not know the operation yet.
 *
 * <p>READY-1: every added operation is taken once, operations of a thread in order of addition; the consumer sees
 * everything written before the addition.
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

    private final HostOperation stub = new Operations.Barrier(); // in the list whenever there is no other operation
    private HostOperation first = stub; // of the consumer

    @SuppressWarnings({"unused", "FieldMayBeFinal"}) // through LAST
    private HostOperation last = stub;

    @SuppressWarnings("unused") // through SIZE; goes up before adding and down after taking
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

    /** Takes the first operation; null for none. For a single thread at a time. */
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
                link(stub); // so that the last operation can be removed
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

    /** Waits for a producer between its two steps. */
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
