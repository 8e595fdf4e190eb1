package io.github.iree4j;

import io.github.iree4j.nativeaccess.NativeThreads;
import io.github.iree4j.task.ProcessExecutor;
import io.github.iree4j.task.Topology;
import io.github.iree4j.task.WorkerContext;
import io.github.iree4j.task.WorkerSetup;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Creates the executor of a runtime. The treatment of denormals is not a setting of workers: the call of a kernel sets
 * and restores the treatment, on any thread.
 */
final class RuntimeWorkers {
    private static final AtomicInteger MADE = new AtomicInteger();

    private RuntimeWorkers() {}

    /** Creates the executor; the caller closes the executor. Worker threads start on demand. */
    static ProcessExecutor start(TaskOptions options, Topology topology) {
        int workers = options.workers() == 0 ? topology.groups().size() : options.workers();
        int number = MADE.incrementAndGet();
        return ProcessExecutor.builder(workers)
                .name(number == 1 ? "iree4j" : "iree4j-" + number)
                .setup(options.affinity() ? new Affinity(topology) : WorkerSetup.NONE)
                .build();
    }

    /** Binds each worker to the processors of the worker's group. */
    private record Affinity(Topology topology) implements WorkerSetup {
        @Override
        public void begin(WorkerContext worker) {
            long[] mask = topology.groups().get(worker.index()).affinityMask();
            if (mask.length != 0) {
                NativeThreads.setAffinity(mask);
            }
        }
    }
}
