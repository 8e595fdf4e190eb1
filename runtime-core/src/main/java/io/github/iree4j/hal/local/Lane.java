package io.github.iree4j.hal.local;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.task.DrainResult;
import io.github.iree4j.task.Placement;
import io.github.iree4j.task.ProcessOptions;
import io.github.iree4j.task.TaskProcess;
import io.github.iree4j.task.WorkerContext;
import org.jspecify.annotations.Nullable;

/**
 * Runs one recording at a time on any number of workers. A process for life, so that executions cost no objects.
 *
 * <p>LANE-1: whoever takes the bit of a lane begins the next execution in it; the thread that ends that one gives the bit back, so all
 * that the executions wrote is seen by the next.
 */
final class Lane extends TaskProcess {
    private final TaskQueue queue;
    private final int index;
    private final Processor processor;
    private volatile @Nullable CommandOperation operation; // being executed

    Lane(TaskQueue queue, int index, String name) {
        super(ProcessOptions.named(name).placed(Placement.COMPUTE));
        this.queue = queue;
        this.index = index;
        this.processor = new Processor(queue.executor().workers());
    }

    int index() {
        return index;
    }

    /** Begins an execution. For whoever has taken the lane. */
    void start(CommandOperation work) {
        operation = work;
        processor.begin(work.recording(), work.firstRegion(), work.endRegion(), work.bindings(), work.call());
        if (queue.closed() != null && isReleased()) {
            abandon(); // nobody drains any more
        }
    }

    /** Whether there is something to be claimed, as far as can be seen. */
    boolean hasWork() {
        return processor.isOpen();
    }

    @Override
    protected DrainResult drain(WorkerContext worker) {
        if (processor.drain(queue.runner(worker).worker())) {
            return DrainResult.WORKED;
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

    /** Ends the execution without running what is left of it: {@link Processor#stopped} says so. Any thread may, at any time. */
    private void abandon() {
        CommandRunner runner = queue.guests().acquire();
        try {
            while (processor.drain(runner.worker())) {
                continue;
            }
        } finally {
            queue.guests().release(runner);
        }
    }

    private final class Processor extends BlockProcessor {
        Processor(int workers) {
            super(workers);
        }

        @Override
        void want(int drainers, boolean first) {
            changeWakeBudget(drainers);
            if (first || drainers > 1) { // else the one who calls goes on alone
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
            queue.release(Lane.this); // first, so that what this one is waited for by finds it free
            if (work != null) {
                queue.completed(work, cause);
            }
        }
    }
}
