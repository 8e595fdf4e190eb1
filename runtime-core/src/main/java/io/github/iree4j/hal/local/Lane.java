package io.github.iree4j.hal.local;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.task.DrainResult;
import io.github.iree4j.task.Placement;
import io.github.iree4j.task.ProcessOptions;
import io.github.iree4j.task.TaskProcess;
import io.github.iree4j.task.WorkerContext;
import org.jspecify.annotations.Nullable;

/**
 * Runs a single recording at a time on any number of workers. The process is reused, so executions allocate nothing.
 *
 * <p>LANE-1: the thread taking the bit of a lane begins the next execution in the lane. The thread ending this
 * execution returns the bit, so each execution sees everything written by earlier executions.
 */
final class Lane extends TaskProcess {
    private final TaskQueue queue;
    private final int index;
    private final Processor processor;
    private volatile @Nullable CommandOperation operation; // being executed
    private boolean isForOneThread; // published with the regions

    Lane(TaskQueue queue, int index, String name) {
        super(ProcessOptions.named(name).placed(Placement.COMPUTE));
        this.queue = queue;
        this.index = index;
        this.processor = new Processor(queue.executor().workers());
    }

    int index() {
        return index;
    }

    /** Begins an execution. For the thread that has taken the lane. */
    void start(CommandOperation work) {
        operation = work;
        isForOneThread = queue.isForOneThread(work);
        queue.began(work);
        processor.begin(work.recording(), work.firstRegion(), work.endRegion(), work.bindings(), work.call(), work);
        if (queue.closed() != null && isReleased()) {
            abandon(); // no drain follows
        }
    }

    /** Returns whether there is work to claim; a racy snapshot. */
    boolean hasWork() {
        return processor.isOpen();
    }

    /** Returns whether there is work to claim for a thread that waits; a racy snapshot. */
    boolean hasWorkForHelpers() {
        return processor.isOpenToHelpers();
    }

    @Override
    protected DrainResult drain(WorkerContext worker) {
        boolean helps = worker.isCaller();
        boolean drained = processor.drain(queue.runner(worker).worker(), helps);
        if (helps && processor.isOpen() && !processor.isOpenToHelpers()) {
            schedule(); // LANE-3: a worker continues
        }
        if (drained) {
            return processor.isBusy() ? DrainResult.WORKED : DrainResult.DONE;
        }
        // Others run the last tiles of a region, and the next may want this worker in a few microseconds.
        return processor.isBusy() ? DrainResult.KEEP_WARM : DrainResult.IDLE;
    }

    @Override
    protected void completed(@Nullable IreeException failure) {
        queue.processEnded(failure);
    }

    @Override
    protected void released() {
        abandon();
    }

    /** Ends the execution without running the rest, see {@link Processor#stopped}. Callable by any thread at any time. */
    private void abandon() {
        CommandRunner runner = queue.callerRunners().acquire();
        try {
            while (processor.drain(runner.worker(), false)) {
                continue;
            }
        } finally {
            queue.callerRunners().release(runner);
        }
    }

    private final class Processor extends BlockProcessor {
        Processor(int workers) {
            super(workers);
        }

        @Override
        void want(int drainers, boolean first) {
            int wanted = isForOneThread ? 1 : drainers;
            changeWakeBudget(wanted);
            if (first || wanted > 1) { // otherwise the caller continues alone
                schedule();
            }
        }

        @Override
        @Nullable
        IreeException stopped() {
            IreeException closed = queue.closed();
            if (closed != null) {
                return closed;
            }
            CommandOperation work = operation;
            return work == null ? null : work.stopped();
        }

        @Override
        void ended(@Nullable IreeException cause) {
            CommandOperation work = operation;
            operation = null;
            queue.release(Lane.this); // first, so that dependents find the lane free
            if (work != null) {
                queue.completed(work, cause);
            }
        }
    }
}
