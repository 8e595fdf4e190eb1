package io.github.iree4j.hal.pool;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.CompletableFuture;

/**
 * The turn of calls whose inputs wait for memory of a device, first come, first served: only the call with the turn
 * keeps some of its inputs on the device while waiting for room for others. So calls without room for all of their
 * inputs do not wait for each other's parts.
 */
final class InputTurn {
    private final Deque<CompletableFuture<Void>> line = new ArrayDeque<>(); // the first has the turn; guarded by this

    /**
     * Waits for the turn, on the thread acting for a call.
     *
     * @return to be given back to {@link #leave}
     */
    CompletableFuture<Void> take(MemoryHolder call) {
        CompletableFuture<Void> place = new CompletableFuture<>();
        synchronized (this) {
            line.add(place);
            if (line.size() == 1) {
                place.complete(null);
            }
        }
        try {
            call.await(place);
        } catch (RuntimeException | Error e) {
            leave(place);
            throw e;
        }
        return place;
    }

    void leave(CompletableFuture<Void> place) {
        CompletableFuture<Void> next;
        synchronized (this) {
            line.remove(place);
            next = line.peek();
        }
        if (next != null) {
            next.complete(null); // again, if that was not the turn
        }
    }
}
