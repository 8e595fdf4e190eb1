package io.github.iree4j.call;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.ArrayDeque;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * Whose turn it is to run code of a program: one call's at a time, since calls share the program's state. Threads wait in line, and so do
 * calls that have no thread, which are told. A thread that comes when the turn is free takes it past those in line, which saves waking
 * somebody for each of many short calls; calls without a thread get it in the order they came, those of higher priority first.
 */
final class ProgramLock {
    /*
     * STATE
     *   FREE    nobody's; a thread at the head of the line, if there is one, has been woken and has not looked yet
     *   TAKEN   somebody's, and nobody in line has to be told when it is given back
     *   WANTED  somebody's, who tells the first in line
     *
     * PROGRAM-1: from FREE until it is FREE again the turn is one caller's, or one's after another to whom it is given.
     * PROGRAM-2: whenever somebody is in line, the state is WANTED, or FREE with the head on its way, so nobody waits forever.
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

    /** A place in line. */
    abstract static class Place {
        private final int priority;

        /** A place among those of priority 0. */
        Place() {
            this(0);
        }

        /** A place before all of lower priority, behind those of the same. */
        Place(int priority) {
            this.priority = priority;
        }

        /** Written by whoever gives the turn, under the lock; read by the one who waits. */
        private volatile boolean given;

        /** Whether the turn is this one's. */
        final boolean isGiven() {
            return given;
        }

        /** Makes the one who waits look. Called without the lock, once it is given. */
        abstract void tell();
    }

    private static final class WaitingThread extends Place {
        final Thread thread = Thread.currentThread();

        @Override
        void tell() {
            LockSupport.unpark(thread);
        }
    }

    private final ArrayDeque<Place> line = new ArrayDeque<>();

    @SuppressWarnings("FieldMayBeFinal") // written through STATE
    private volatile int state;

    /** Who runs code now; written by whose turn it is, and otherwise only compared with oneself. */
    private @Nullable Thread runner;

    private boolean casState(int expected, int next) {
        return STATE.compareAndSet(this, expected, next);
    }

    /** Whether the calling thread is inside a call, by {@link #run}. */
    boolean isRunBySelf() {
        return Thread.currentThread().equals(runner);
    }

    /** Says that the calling thread now runs code in this turn, which is its. {@link #release} ends that. */
    void run() {
        runner = Thread.currentThread();
    }

    /** Says that nobody runs code now, though the turn is still the caller's. */
    void pause() {
        runner = null;
    }

    /** Waits for the turn. Blocks. */
    void take() throws InterruptedException {
        if (!casState(FREE, TAKEN)) {
            waitInLine(true);
        }
    }

    /** Waits for the turn, also when interrupted. Blocks. */
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
            return false; // whoever is before it tells the next
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
     * Takes a place in line: the turn is given to it, once, maybe before this returns, and stays its until {@link #release}. Never blocks.
     */
    void join(Place place) {
        Place next;
        synchronized (this) {
            insert(place);
            next = settle();
        }
        if (next != null) {
            next.tell();
        }
    }

    /** Behind all of its priority and above; under the lock. Lines are mostly of one priority, so the last place is looked at first. */
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
     * Gives a place in line up.
     *
     * @return false when the turn has been given to it, and must be released
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
            next.tell();
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
            next.tell();
        }
    }

    /** Sees to it that somebody tells the first in line; under the lock. Returns whom the caller has to tell. */
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

    /** Gives the turn, which is the caller's and WANTED, to the first in line; under the lock. Returns whom to tell. */
    private @Nullable Place passOn() {
        Place first = line.peekFirst();
        if (first == null || first instanceof WaitingThread) {
            state = FREE; // a thread takes it when it looks, unless another comes first
            return first;
        }
        line.removeFirst();
        state = line.isEmpty() ? TAKEN : WANTED;
        first.given = true;
        return first;
    }
}
