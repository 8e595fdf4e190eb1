package io.github.iree4j.hal.local;

import io.github.iree4j.async.Fence;
import io.github.iree4j.async.FrontierTracker;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.frontier.AxisAllocator;
import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.hal.BindingTable;
import io.github.iree4j.hal.ExecutableExport;
import io.github.iree4j.hal.SchedulingDomain;
import io.github.iree4j.hal.loader.HostDispatch;
import io.github.iree4j.hal.loader.LoadedExecutable;
import io.github.iree4j.hal.record.Recording;
import io.github.iree4j.hal.schedule.QueueBackend;
import io.github.iree4j.hal.schedule.QueueScheduler;
import io.github.iree4j.hal.virtual.VirtualClock;
import io.github.iree4j.hal.virtual.VirtualDevice;
import io.github.iree4j.task.ProcessExecutor;
import io.github.iree4j.task.SteppedExecutor;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicReferenceArray;

/**
 * A queue with a single lane, and executions of the same recording: regions of a single workgroup each, counted in
 * plain fields, so only the lane orders the counts. An actor steps the only worker; the other actor is a waiting thread
 * that helps.
 */
final class StressLane implements LoadedExecutable {
    /** Provides a name for messages. */
    private static final VirtualDevice DEVICE =
            VirtualDevice.builder().clock(VirtualClock.stepped()).build();

    /** Lets the worker find nothing and fall asleep while the helper runs a workgroup. */
    private static final int HELPER_SPINS = 100;

    private final SteppedExecutor stepped =
            ProcessExecutor.builder(1).callers(2).computeSlots(4).buildStepped();
    private final CallerRunners callerRunners =
            new CallerRunners(stepped.executor().contexts(), 1);
    private final TaskQueue queue = new TaskQueue(
            "queue",
            stepped.executor(),
            new AtomicReferenceArray<>(stepped.executor().contexts()),
            callerRunners,
            QueueBackend.SAME_THREAD,
            0,
            1);
    private final Recording recording;
    private final TimelineSemaphore[] ends;
    private int ran;
    private int overlaps;
    private boolean inside;

    /** Submits {@code executions} executions of {@code regions} regions. The first has the lane when this returns. */
    StressLane(int executions, int regions) {
        LocalExecutable known = new LocalExecutable("counted", this); // helpers run no other
        for (int i = 0; i < LocalExecutable.NEW_RUNS; i++) {
            known.took(0, 1, 1, 1_000);
            known.ran(0);
        }
        long[] code = new long[regions * Recording.DISPATCH_WORDS];
        int[] commands = new int[regions];
        int[] firsts = new int[regions + 1];
        for (int region = 0; region < regions; region++) {
            int at = region * Recording.DISPATCH_WORDS;
            code[at] = Recording.DISPATCH;
            code[at + 2] = 1L << 32 | 1;
            code[at + 3] = 1L << 32;
            code[at + 4] = 1L << 32 | 1;
            code[at + 5] = 1L << 32;
            commands[region] = at;
            firsts[region + 1] = region + 1;
        }
        recording = new Recording(
                code,
                commands,
                firsts,
                new LocalBuffer[0],
                new LocalExecutable[] {known},
                MemorySegment.NULL,
                new int[0]);
        SchedulingDomain domain = SchedulingDomain.create(
                AxisAllocator.create(9, 0), FrontierTracker.create(), Frontier.DEFAULT_CAPACITY);
        QueueScheduler scheduler = QueueScheduler.create(domain, DEVICE, DEVICE, queue);
        queue.connect(scheduler);
        ends = new TimelineSemaphore[executions];
        for (int i = 0; i < executions; i++) {
            ends[i] = TimelineSemaphore.create(0);
            scheduler.submit(null, Fence.at(ends[i], 1), Execution::new);
        }
    }

    /** The worker looks for work a few times, and may fall asleep. */
    void work() {
        for (int i = 0; i < 3; i++) {
            stepped.step(0);
        }
    }

    /** A thread helps at most so many times and leaves. */
    void help(int times) {
        for (int i = 0; i < times; i++) {
            queue.help();
        }
        queue.helperLeaves();
    }

    /** The worker continues while awake. */
    void workWhileAwake() {
        stepped.runUntilAsleep();
    }

    int ran() {
        return ran;
    }

    int overlaps() {
        return overlaps;
    }

    int ended() {
        int ended = 0;
        for (TimelineSemaphore each : ends) {
            ended += each.isReached(1) ? 1 : 0;
        }
        return ended;
    }

    @Override
    public void dispatch(int export, HostDispatch dispatch, long begin, long end, int worker) {
        if (inside) {
            overlaps++;
        }
        inside = true;
        ran++;
        for (int i = 0; worker > 0 && i < HELPER_SPINS; i++) {
            Thread.onSpinWait();
        }
        inside = false;
    }

    @Override
    public int exportCount() {
        return 1;
    }

    @Override
    public ExecutableExport export(int ordinal) {
        return new ExecutableExport("e", 0, -1, 0, 0, 0, 0, 0);
    }

    @Override
    public void close() {}

    /** An execution too long to run inline. */
    private final class Execution extends CommandOperation {
        Execution() {
            super("execution", callerRunners);
        }

        @Override
        Recording recording() {
            return recording;
        }

        @Override
        BindingTable bindings() {
            return null;
        }

        @Override
        long nanos() {
            return UNKNOWN;
        }

        @Override
        protected void retain() {}

        @Override
        protected void release() {}
    }
}
