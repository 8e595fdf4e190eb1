package io.github.iree4j.hal.local;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.async.Fence;
import io.github.iree4j.async.FrontierTracker;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.frontier.AxisAllocator;
import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.hal.BindingTable;
import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.ExecutableExport;
import io.github.iree4j.hal.SchedulingDomain;
import io.github.iree4j.hal.loader.HostDispatch;
import io.github.iree4j.hal.loader.LoadedExecutable;
import io.github.iree4j.hal.record.Recording;
import io.github.iree4j.hal.schedule.QueueBackend;
import io.github.iree4j.hal.schedule.QueueScheduler;
import io.github.iree4j.hal.spi.DeviceOptions;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.github.iree4j.task.ProcessExecutor;
import io.github.iree4j.task.SteppedExecutor;
import io.github.iree4j.task.TaskProcess;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The holder of the only lane of a queue, with the only worker stepped by the test. */
class LaneOrderTest {
    private final Device device = new LocalBackend().open(DeviceOptions.builder());
    private final FrontierTracker tracker = FrontierTracker.create();
    private final SteppedExecutor stepped =
            ProcessExecutor.builder(1).callers(1).computeSlots(4).buildStepped();
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
    private final QueueScheduler scheduler = QueueScheduler.create(
            SchedulingDomain.create(AxisAllocator.create(9, 0), tracker, Frontier.DEFAULT_CAPACITY),
            device,
            device,
            queue);
    private final List<AutoCloseable> toClose = new ArrayList<>();
    private final List<String> ran = new ArrayList<>();

    @AfterEach
    void close() throws Exception {
        for (AutoCloseable each : toClose.reversed()) {
            each.close();
        }
        scheduler.close();
        stepped.close();
        tracker.close();
        device.close();
    }

    private Fence submit(@Nullable Fence wait, String name, boolean singleDispatch) {
        TimelineSemaphore timeline = TimelineSemaphore.create(0);
        Fence done = Fence.at(timeline, 1);
        toClose.add(timeline);
        toClose.add(done);
        scheduler.submit(wait, done, () -> new Execution(name, singleDispatch));
        return done;
    }

    // LANE-2
    @Test
    void laterDispatchesDoNotTakeTheLaneAwaitedByARecording() {
        queue.connect(scheduler);
        Fence before = submit(null, "first", false);
        submit(null, "recording", false);
        for (int i = 0; i < 5; i++) {
            before = submit(before, "dispatch " + i, true);
        }
        stepped.step(0); // the recording finds the lane taken; then the first ends, and sets a dispatch free
        assertThat(ran).containsExactly("first");
        for (int i = 0; i < 20; i++) {
            queue.help(); // a waiting thread takes part in everything but the order
        }
        stepped.runUntilAsleep();
        assertThat(ran)
                .containsExactly(
                        "first", "recording", "dispatch 0", "dispatch 1", "dispatch 2", "dispatch 3", "dispatch 4");
    }

    /** Otherwise a device with shared workers would wait for the end of the lane when closed, until the wait is given up. */
    @Test
    void aLaneMadeWhileTheQueueIsBeingClosedEnds() {
        queue.connect(scheduler);
        queue.close(IreeException.of(StatusCode.ABORTED, "closed"));
        Fence done = submit(null, "late", false);
        stepped.runUntilAsleep();
        assertThat(done.failure().orElseThrow().code()).isEqualTo(StatusCode.ABORTED);
        assertThat(queue.processes()).hasSize(3).allMatch(TaskProcess::isReleased);
        assertThat(ran).isEmpty();
    }

    /** A workgroup too long for a worker with other work. */
    private final class Execution extends CommandOperation implements LoadedExecutable {
        private final String name;
        private final boolean singleDispatch;
        private final Recording recording;

        Execution(String name, boolean singleDispatch) {
            super(name, callerRunners);
            this.name = name;
            this.singleDispatch = singleDispatch;
            long[] code = new long[Recording.DISPATCH_WORDS];
            code[0] = Recording.DISPATCH;
            code[2] = 1L << 32 | 1;
            code[3] = 1L << 32;
            code[4] = 1L << 32 | 1;
            code[5] = 1L << 32;
            recording = new Recording(
                    code,
                    new int[1],
                    new int[] {0, 1},
                    new LocalBuffer[0],
                    new LocalExecutable[] {new LocalExecutable(name, this)},
                    MemorySegment.NULL,
                    new int[0]);
        }

        @Override
        public void dispatch(int export, HostDispatch dispatch, long begin, long end, int worker) {
            ran.add(name);
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

        @Override
        Recording recording() {
            return recording;
        }

        @Override
        @Nullable
        BindingTable bindings() {
            return null;
        }

        @Override
        long nanos() {
            return UNKNOWN;
        }

        @Override
        boolean isSingleDispatch() {
            return singleDispatch;
        }

        @Override
        protected void retain() {}

        @Override
        protected void release() {}
    }
}
