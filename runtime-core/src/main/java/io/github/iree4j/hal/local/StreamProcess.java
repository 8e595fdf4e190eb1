package io.github.iree4j.hal.local;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.task.DrainResult;
import io.github.iree4j.task.Placement;
import io.github.iree4j.task.ProcessOptions;
import io.github.iree4j.task.TaskProcess;
import io.github.iree4j.task.WorkerContext;
import org.jspecify.annotations.Nullable;

/**
 * Runs independent operations on arrival, each on a single worker, on as many workers as there are operations. For
 * dispatches submitted without a command buffer, and recordings too short to be shared. A long recording gets a lane.
 */
final class StreamProcess extends TaskProcess {
    /** Capacity; further operations wait in the queue. */
    private static final int CAPACITY = 256;

    private final TaskQueue queue;
    private final CommandRing ring = new CommandRing(CAPACITY);

    StreamProcess(TaskQueue queue, String name) {
        super(ProcessOptions.named(name).placed(Placement.COMPUTE));
        this.queue = queue;
    }

    /** Accepts a ready operation, unless full. */
    boolean offer(CommandOperation operation) {
        if (queue.closed() != null || !ring.offer(operation)) {
            return false;
        }
        int wanted = Math.clamp(ring.size(), 1, queue.executor().workers());
        if (wanted != wakeBudget()) {
            changeWakeBudget(wanted);
        }
        schedule();
        if (queue.closed() != null && isReleased()) {
            failAll(); // no drain follows
        }
        return true;
    }

    /** Returns whether there is an operation to take; a racy snapshot. */
    boolean hasWork() {
        return ring.size() > 0;
    }

    @Override
    protected DrainResult drain(WorkerContext worker) {
        CommandOperation operation = ring.poll();
        if (operation == null) {
            return DrainResult.IDLE;
        }
        IreeException closed = queue.closed();
        if (closed != null) {
            queue.completed(operation, closed);
        } else if (queue.isSerial(operation)) {
            queue.began(operation);
            queue.completed(operation, operation.execute(queue.runner(worker)));
        } else if (queue.isLaneWanted() || !queue.startLane(operation)) { // LANE-2: behind operations without a lane
            queue.awaitLane(operation);
        }
        return hasWork() ? DrainResult.WORKED : DrainResult.DONE;
    }

    @Override
    protected void completed(@Nullable IreeException failure) {
        queue.processEnded(failure);
    }

    @Override
    protected void released() {
        failAll();
    }

    /** Fails operations that will not run. */
    private void failAll() {
        IreeException cause = queue.whyClosed();
        for (CommandOperation operation; (operation = ring.poll()) != null; ) {
            queue.completed(operation, cause);
        }
    }
}
