package io.github.iree4j.call;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.ArrayDeque;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * The turn to run code of a program: held by one call at a time, since calls share the program's state. Threads wait in
 * line. Calls without a thread also wait in line, and are notified. A thread arriving while the turn is free takes the
 * turn ahead of the line, thereby saving a wake-up for each of many short calls. Calls without a thread get the turn in
 * order of arrival, higher priorities first.
 */
final class ProgramLock {
    /*
     * STATE
     *   FREE    no holder; a thread at the head of the line, if any, has been woken and has not checked yet
     *   TAKEN   held, and no place in line needs a notification on release
     *   WANTED  held, and the holder notifies the first in line
     *
     * PROGRAM-1: from FREE until the next FREE, the turn has one holder, or successive holders passing the turn on.
     * PROGRAM-2: whenever the line is not empty, the state is WANTED, or FREE with the head woken, so no waiter waits forever.
     *
     * The line is guarded by this; so is every change to WANTED and from it.
     */
    private static final int FREE = 0;
    private static final int TAKEN = 1;
    private static final int WANTED = 2;

    private static final VarHandle STATE;

    static {
        try {
            STATE = MethodHandles.lookup().findVarHandle(ProgramLock.class, "state", int.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    /** A place in line, taken again only once its turn is over. */
    abstract static class Place {
        private final int priority;

        /** A place of priority 0. */
        Place() {
            this(0);
        }

        /** A place ahead of all places of lower priority, behind places of equal priority. */
        Place(int priority) {
            this.priority = priority;
        }

        /** Written by the thread that passes the turn, under the lock; read by the waiter. */
        private volatile boolean given;

        /** Whether this place has the turn. */
        final boolean isGiven() {
            return given;
        }

        /** Notifies the waiter. Called without the lock, after the turn is given. */
        abstract void granted();
    }

    private static final class WaitingThread extends Place {
        final Thread thread = Thread.currentThread();

        @Override
        void granted() {
            LockSupport.unpark(thread);
        }
    }

    private final ArrayDeque<Place> line = new ArrayDeque<>();

    @SuppressWarnings("FieldMayBeFinal") // written through STATE
    private volatile int state;

    /** The thread that runs code; written by the holder of the turn, and otherwise only compared with the calling thread. */
    private @Nullable Thread runner;

    private boolean casState(int expected, int next) {
        return STATE.compareAndSet(this, expected, next);
    }

    /** Whether the calling thread is inside a call, by {@link #run}. */
    boolean isRunBySelf() {
        return Thread.currentThread().equals(runner);
    }

    /** Marks the calling thread, which holds the turn, as running code. {@link #release} removes the mark. */
    void run() {
        runner = Thread.currentThread();
    }

    /** Marks that no thread runs code, although the caller keeps the turn. */
    void pause() {
        runner = null;
    }

    /** Acquires the turn if it is free. */
    boolean tryTake() {
        return casState(FREE, TAKEN);
    }

    /** Acquires the turn. Blocks. */
    void take() throws InterruptedException {
        if (!casState(FREE, TAKEN)) {
            waitInLine(true);
        }
    }

    /** Acquires the turn, even when interrupted. Blocks. */
    void takeUninterruptibly() {
        if (!casState(FREE, TAKEN)) {
            try {
                waitInLine(false);
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        }
    }

    private void waitInLine(boolean interruptibly) throws InterruptedException {
        WaitingThread self = new WaitingThread();
        join(self);
        boolean interrupted = false;
        while (!takeAsFirst(self)) {
            LockSupport.park(this);
            if (Thread.interrupted()) {
                if (interruptibly) {
                    leave(self);
                    throw new InterruptedException();
                }
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private synchronized boolean takeAsFirst(WaitingThread self) {
        if (line.peekFirst() != self) {
            return false; // its predecessor notifies the next
        }
        for (; ; ) {
            switch (state) {
                case FREE -> {
                    if (casState(FREE, line.size() > 1 ? WANTED : TAKEN)) {
                        line.removeFirst();
                        return true;
                    }
                }
                case TAKEN -> {
                    if (casState(TAKEN, WANTED)) {
                        return false;
                    }
                }
                default -> {
                    return false;
                }
            }
        }
    }

    /**
     * Takes a place in line. The turn is given to the place once, possibly before this method returns, and is kept
     * until {@link #release}. Never blocks.
     */
    void join(Place place) {
        Place next;
        synchronized (this) {
            place.given = false;
            insert(place);
            next = settle();
        }
        if (next != null) {
            next.granted();
        }
    }

    /**
     * Inserts a place behind all places of equal or higher priority; under the lock. Lines are mostly of one priority,
     * so the search starts at the end.
     */
    private void insert(Place place) {
        Place last = line.peekLast();
        if (last == null || last.priority >= place.priority) {
            line.addLast(place);
            return;
        }
        ArrayDeque<Place> behind = new ArrayDeque<>();
        while (!line.isEmpty() && line.getLast().priority < place.priority) {
            behind.addFirst(line.removeLast());
        }
        line.addLast(place);
        line.addAll(behind);
    }

    /**
     * Gives up a place in line.
     *
     * @return false when the turn has been given to the place, and must be released
     */
    boolean leave(Place place) {
        Place next;
        synchronized (this) {
            if (place.given) {
                return false;
            }
            line.remove(place);
            next = settle();
        }
        if (next != null) {
            next.granted();
        }
        return true;
    }

    /** Ends the turn. */
    void release() {
        runner = null;
        if (casState(TAKEN, FREE)) {
            return;
        }
        Place next;
        synchronized (this) {
            next = passOn();
        }
        if (next != null) {
            next.granted();
        }
    }

    /** Ensures that the first in line is notified; under the lock. Returns the place that the caller must notify. */
    private @Nullable Place settle() {
        while (!line.isEmpty()) {
            switch (state) {
                case FREE -> {
                    if (casState(FREE, WANTED)) {
                        return passOn();
                    }
                }
                case TAKEN -> {
                    if (casState(TAKEN, WANTED)) {
                        return null;
                    }
                }
                default -> {
                    return null;
                }
            }
        }
        return null;
    }

    /** Passes the turn, held by the caller in state WANTED, to the first in line; under the lock. Returns the place to notify. */
    private @Nullable Place passOn() {
        Place first = line.peekFirst();
        if (first == null || first instanceof WaitingThread) {
            state = FREE; // the woken thread takes the turn, unless another thread arrives first
            return first;
        }
        line.removeFirst();
        state = line.isEmpty() ? TAKEN : WANTED;
        first.given = true;
        return first;
    }
}
