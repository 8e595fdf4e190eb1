package io.github.iree4j.hal.local;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.task.DrainResult;
import io.github.iree4j.task.Placement;
import io.github.iree4j.task.ProcessOptions;
import io.github.iree4j.task.TaskProcess;
import io.github.iree4j.task.WorkerContext;
import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;

/** Starts the operations of a queue in the order of becoming ready, a single operation per drain; itself runs operations for a single worker. */
final class QueueProcess extends TaskProcess {
    private final TaskQueue queue;
    private final ReadyList ready = new ReadyList();
    private final ArrayDeque<CommandOperation> withoutLane = new ArrayDeque<>(); // of the drainer

    /**
     * Whether an operation waits for a lane. LANE-2: set before the last check of the lanes, and read after a lane has
     * become free; so at least one side sees the other. The stream takes no lane meanwhile.
     */
    private volatile boolean wantsLane;

    QueueProcess(TaskQueue queue, String name) {
        super(ProcessOptions.named(name).placed(Placement.IMMEDIATE));
        this.queue = queue;
    }

    /** Adds an operation ready to start. */
    void add(HostOperation operation) {
        ready.add(operation);
        schedule();
        if (queue.closed() != null && isReleased()) {
            failAll(); // no drain follows
        }
    }

    /** Returns whether no operation waits to be started. */
    boolean isIdle() {
        return ready.isEmptyVolatile() && !wantsLane;
    }

    boolean wantsLane() {
        return wantsLane;
    }

    void laneIsFree() {
        if (wantsLane) { // LANE-2
            schedule();
        }
    }

    @Override
    protected DrainResult drain(WorkerContext worker) {
        IreeException closed = queue.closed();
        if (closed != null) {
            return failNext(closed);
        }
        CommandOperation blocked = withoutLane.peek();
        if (blocked != null && queue.startLane(blocked)) {
            withoutLane.remove();
            wantsLane = !withoutLane.isEmpty();
            return DrainResult.WORKED;
        }
        HostOperation operation = ready.poll();
        if (operation == null) {
            return DrainResult.IDLE;
        }
        if (!(operation instanceof CommandOperation commands)) {
            queue.began(operation);
            queue.completed(operation, operation.execute());
        } else if (!withoutLane.isEmpty() || !queue.start(commands)) {
            withoutLane.add(commands);
            wantsLane = true; // LANE-2: another drain follows and re-checks the lanes
        }
        return isIdle() ? DrainResult.DONE : DrainResult.WORKED;
    }

    private DrainResult failNext(IreeException cause) {
        HostOperation operation = withoutLane.poll();
        if (operation == null) {
            operation = ready.poll();
        }
        if (operation == null) {
            return DrainResult.IDLE;
        }
        queue.completed(operation, cause);
        return DrainResult.WORKED;
    }

    @Override
    protected void completed(@Nullable IreeException failure) {
        queue.processEnded(failure);
    }

    @Override
    protected void released() {
        failAll();
    }

    /** Fails operations that will not be started. Only after the end of the process: no drain is running. */
    private synchronized void failAll() {
        IreeException cause = queue.whyClosed();
        while (failNext(cause) == DrainResult.WORKED) {
            continue;
        }
    }
}
