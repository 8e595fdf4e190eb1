package io.github.iree4j.hal.local;

import io.github.iree4j.async.CallThreads;
import io.github.iree4j.async.HandoffThread;
import io.github.iree4j.async.WaitHelper;
import io.github.iree4j.hal.DeviceInfo;
import io.github.iree4j.hal.schedule.QueueScheduler;
import io.github.iree4j.hal.spi.CpuOptions;
import io.github.iree4j.hal.spi.DeviceOptions;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.task.ProcessExecutor;
import io.github.iree4j.task.TaskProcess;
import io.github.iree4j.task.Topology;
import io.github.iree4j.task.TopologyOptions;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/** The CPU as a device: workers run the queues, and waiting or submitting threads help. */
final class LocalDevice extends HostDevice {
    /** Maximum number of waiting threads that may run commands along with the workers. */
    private static final int CALLERS = 32;

    private static final int CLOSE_LOOK_NANOS = 100_000;

    private final ProcessExecutor executor;
    private final boolean ownsExecutor;
    private final AtomicReferenceArray<@Nullable CommandRunner> runners; // by drainer number
    private final List<TaskQueue> taskQueues = new ArrayList<>();

    static LocalDevice open(DeviceInfo info, DeviceOptions options) {
        CpuOptions cpu = options.driver(CpuOptions.DEFAULTS);
        ProcessExecutor shared = cpu.executor();
        ProcessExecutor executor = shared == null ? executor(info, cpu.workers()) : shared;
        return new LocalDevice(info, options, cpu, executor, new HandoffThread("iree4j-wake " + info.id()));
    }

    private LocalDevice(
            DeviceInfo info, DeviceOptions options, CpuOptions cpu, ProcessExecutor executor, Executor wakes) {
        super(info, options, wakes, new CallerRunners(executor.contexts(), executor.workers()));
        this.executor = executor;
        this.ownsExecutor = cpu.executor() == null;
        this.runners = new AtomicReferenceArray<>(executor.contexts());
        helpWaiters(new Helper());
        for (int i = 0; i < queueCount(); i++) {
            TaskQueue backend = new TaskQueue(
                    info.id() + " queue " + i,
                    executor,
                    runners,
                    callerRunners(),
                    wakes,
                    cpu.inlineWork().toNanos());
            QueueScheduler scheduler = QueueScheduler.create(options.schedulingDomain(), this, this, backend);
            backend.connect(scheduler);
            taskQueues.add(backend);
            addQueue(i, scheduler);
        }
    }

    private static ProcessExecutor executor(DeviceInfo info, int wanted) {
        int workers = wanted != 0
                ? wanted
                : Topology.detect(TopologyOptions.DEFAULTS).groups().size();
        return ProcessExecutor.builder(workers)
                .name("iree4j-" + info.id())
                .callers(CALLERS)
                .closeTimeout(CLOSE_LIMIT)
                .build();
    }

    @Override
    protected int concurrency() {
        return executor.workers();
    }

    /** Runs some of the queues' work on a thread waiting for any of these queues. */
    private final class Helper implements WaitHelper {
        @Override
        public Outcome help() {
            Outcome outcome = Outcome.NOTHING;
            for (TaskQueue queue : taskQueues) {
                switch (queue.help()) {
                    case WORKED -> {
                        return Outcome.WORKED;
                    }
                    case BUSY -> outcome = Outcome.BUSY;
                    case NOTHING -> {}
                }
            }
            return outcome;
        }

        @Override
        public void end(boolean worked) {
            if (worked) {
                taskQueues.forEach(TaskQueue::helperLeaves); // LANE-3
            }
        }
    }

    @Override
    protected void stop(IreeException cause) {
        taskQueues.forEach(queue -> queue.close(cause));
        if (executor.isWorkerThread()) {
            // The calling thread would wait for itself.
            CallThreads.start("iree4j-close " + id(), this::closeWhenQuiet);
        } else {
            closeWhenQuiet();
        }
    }

    /** Waits for running drains, and frees their memory. */
    private void closeWhenQuiet() {
        long deadline = System.nanoTime() + CLOSE_LIMIT.toNanos();
        if (ownsExecutor) {
            executor.close();
        } else {
            awaitProcesses(deadline);
        }
        free(deadline);
    }

    @Override
    protected void freeRunners() {
        for (int i = 0; i < runners.length(); i++) {
            CommandRunner runner = runners.getAcquire(i);
            if (runner != null) {
                runner.worker().close();
            }
        }
    }

    private void awaitProcesses(long deadline) {
        for (TaskQueue queue : taskQueues) {
            for (TaskProcess process : queue.processes()) {
                while (!process.isReleased()) {
                    if (System.nanoTime() - deadline > 0) {
                        throw notClosed(process.toString());
                    }
                    LockSupport.parkNanos(this, CLOSE_LOOK_NANOS);
                }
            }
        }
    }
}
