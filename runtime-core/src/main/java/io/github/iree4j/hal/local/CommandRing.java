package io.github.iree4j.hal.local;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/**
 * A bounded multi-producer, multi-consumer FIFO queue without locks and allocations: Dmitry Vyukov's bounded queue.
 *
 * <p>Each place has a turn: position p may be filled at turn p, emptied at turn p + 1, and filled again at turn p +
 * capacity.
 *
 * <p>RING-2: an accepted operation is taken once, by a thread seeing everything written before the addition.
 */
final class CommandRing {
    // Each position has its own cache lines: producers write one position, consumers the other.
    private static final int ADDED = 16;
    private static final int TAKEN = 32;
    private static final VarHandle WORD = MethodHandles.arrayElementVarHandle(long[].class);

    private final long[] positions = new long[48];
    private final long[] turns;
    private final @Nullable CommandOperation[] places;
    private final int mask;

    /** Creates a ring of the given capacity, a power of two. */
    CommandRing(int capacity) {
        turns = new long[capacity];
        places = new @Nullable CommandOperation[capacity];
        mask = capacity - 1;
        for (int i = 0; i < capacity; i++) {
            turns[i] = i;
        }
    }

    /** Adds an operation; returns false without room. */
    boolean offer(CommandOperation operation) {
        for (long position = positionVolatile(ADDED); ; position = positionVolatile(ADDED)) {
            int place = (int) position & mask;
            long turn = turnAcquire(place);
            if (turn < position) {
                return false; // still occupied from the previous round
            }
            if (turn == position && WORD.compareAndSet(positions, ADDED, position, position + 1)) {
                places[place] = operation;
                WORD.setRelease(turns, place, position + 1); // RING-2
                return true;
            }
        }
    }

    /** Takes the first operation; null without a completely added operation. */
    @Nullable
    CommandOperation poll() {
        for (long position = positionVolatile(TAKEN); ; position = positionVolatile(TAKEN)) {
            int place = (int) position & mask;
            long turn = turnAcquire(place);
            if (turn <= position) {
                return null;
            }
            if (turn == position + 1 && WORD.compareAndSet(positions, TAKEN, position, position + 1)) { // RING-2
                CommandOperation operation = places[place];
                places[place] = null;
                WORD.setRelease(turns, place, position + mask + 1);
                return operation;
            }
        }
    }

    /** Returns the approximate number of operations. */
    int size() {
        return Math.clamp(positionVolatile(ADDED) - positionVolatile(TAKEN), 0, mask + 1);
    }

    private long positionVolatile(int which) {
        return (long) WORD.getVolatile(positions, which);
    }

    private long turnAcquire(int place) {
        return (long) WORD.getAcquire(turns, place);
    }
}
