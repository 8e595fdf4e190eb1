package io.github.iree4j.flight;

import io.github.iree4j.hal.virtual.VirtualClock;
import java.util.ArrayDeque;
import java.util.List;
import java.util.function.BooleanSupplier;

/**
 * The hardware of a queue of a replay: runs stand-ins in order, each on the virtual clock for the recorded running
 * time. Confined to one thread.
 */
final class PlayedQueue {
    private final VirtualClock clock;
    private final Explanation explanation;
    private final boolean inOrder;
    private final Runnable moreEnded; // lets others check whether the awaited operations have ended
    private final ArrayDeque<Slot> line = new ArrayDeque<>();
    private boolean running;
    private long endedUpTo; // of a stream: an epoch

    private record Slot(StandIn operation, List<BooleanSupplier> waits) {}

    /**
     * Creates a queue.
     *
     * @param inOrder whether the queue runs one operation after the other; otherwise each begins at once
     * @param moreEnded called after each end
     */
    PlayedQueue(VirtualClock clock, Explanation explanation, boolean inOrder, Runnable moreEnded) {
        this.clock = clock;
        this.explanation = explanation;
        this.inOrder = inOrder;
        this.moreEnded = moreEnded;
    }

    /** Appends an operation, begun once all waits answer true. */
    void add(StandIn operation, List<BooleanSupplier> waits) {
        line.add(new Slot(operation, waits));
        advance();
    }

    /** Returns whether a stream has ended everything up to an epoch. */
    boolean hasEnded(long epoch) {
        return epoch <= endedUpTo;
    }

    /** Begins all operations able to begin. */
    void advance() {
        for (Slot head; !(inOrder && running) && (head = line.peek()) != null; ) {
            if (!head.waits.stream().allMatch(BooleanSupplier::getAsBoolean)) {
                return;
            }
            line.remove();
            running = true;
            StandIn operation = head.operation;
            if (explanation.isEndKnown(operation.recorded())) {
                long duration = explanation.readyToEnd(operation.recorded());
                clock.schedule(Math.min(duration, Long.MAX_VALUE - clock.now()), () -> end(operation));
            }
        }
    }

    private void end(StandIn operation) {
        running = false;
        operation.ended(clock.now());
        endedUpTo = Math.max(endedUpTo, operation.epoch()); // 0 on an unordered queue
        moreEnded.run();
    }
}
