package io.github.iree4j.flight;

import io.github.iree4j.async.Fence;
import io.github.iree4j.async.FrontierTracker;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.frontier.AxisAllocator;
import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.BufferRef;
import io.github.iree4j.hal.CommandBuffer;
import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.DispatchConfig;
import io.github.iree4j.hal.Executable;
import io.github.iree4j.hal.ExecutableExport;
import io.github.iree4j.hal.ExecutableParams;
import io.github.iree4j.hal.SchedulingDomain;
import io.github.iree4j.hal.loader.ExecutableLoader;
import io.github.iree4j.hal.loader.HostDispatch;
import io.github.iree4j.hal.loader.LoadedExecutable;
import io.github.iree4j.hal.local.LocalDriverProvider;
import io.github.iree4j.hal.spi.CpuOptions;
import io.github.iree4j.hal.spi.DeviceOptions;
import io.github.iree4j.lifetime.RefCounted;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * A CPU device with kernels on a separate clock, which is the recorder's: each workgroup of {@code quick} takes a
 * microsecond, of {@code slow} a millisecond, {@code broken} fails, and {@code custom} runs code of a test.
 */
final class ClockedKernels implements ExecutableLoader, LoadedExecutable, AutoCloseable {
    static final int QUICK = 0;
    static final int SLOW = 1;
    static final int BROKEN = 2;
    static final int CUSTOM = 3;
    private static final List<String> NAMES = List.of("quick", "slow", "broken", "custom");

    static final long QUICK_NANOS = 1_000;
    static final long SLOW_NANOS = 1_000_000;

    final AtomicLong clock = new AtomicLong(1);
    final Device device;
    private final SchedulingDomain domain =
            SchedulingDomain.create(AxisAllocator.create(12, 0), FrontierTracker.create(), Frontier.DEFAULT_CAPACITY);
    private final Executable kernels;
    private boolean closed;
    volatile Runnable custom = () -> {};
    volatile @Nullable Thread ran; // the last workgroup

    ClockedKernels() {
        this(CpuOptions.DEFAULTS);
    }

    ClockedKernels(CpuOptions cpu) {
        device = new LocalDriverProvider()
                .open(
                        "local",
                        DeviceOptions.builder()
                                .schedulingDomain(domain)
                                .with(cpu.loader(this))
                                .build());
        kernels = device.createExecutable(new ExecutableParams("clocked", MemorySegment.ofArray(new byte[1])));
    }

    /** Opens a recorder of an execution in so many, on the kernels' clock. */
    FlightRecorder recorder(int dispatches) throws IOException {
        return FlightRecorder.open(domain, RecorderOptions.DEFAULTS.withDispatches(dispatches), clock::get);
    }

    /** Opens a recorder with the smallest ring and the machine's clock. */
    FlightRecorder smallRecorder() throws IOException {
        return FlightRecorder.open(
                domain,
                RecorderOptions.DEFAULTS
                        .withBytes(RecorderOptions.MINIMUM_BYTES)
                        .withDispatches(1));
    }

    /** Records kernels with a barrier after each; the caller closes the command buffer. */
    CommandBuffer commands(int... exports) {
        CommandBuffer commands = device.createCommandBuffer(0, CommandBuffer.DISPATCH, -1, 0);
        for (int each : exports) {
            dispatch(commands, each, 1);
            barrier(commands);
        }
        commands.finish();
        return commands;
    }

    void dispatch(CommandBuffer commands, int export, int workgroups) {
        commands.dispatch(kernels, export, DispatchConfig.of(workgroups, 1, 1), new int[0], List.of(), 0);
    }

    /** Records a dispatch with its counts in a buffer. */
    void dispatchIndirect(CommandBuffer commands, int export, Buffer counts) {
        commands.dispatchIndirect(kernels, export, BufferRef.of(counts), new int[0], List.of(), 0);
    }

    static void barrier(CommandBuffer commands) {
        commands.executionBarrier(CommandBuffer.STAGE_COMMAND_RETIRE, CommandBuffer.STAGE_COMMAND_ISSUE, 0);
    }

    /** Submits an execution with a signal of a separate fence; returns the fence, closed by the caller. */
    Fence submit(CommandBuffer commands) {
        TimelineSemaphore own = TimelineSemaphore.create(0);
        Fence done = Fence.at(own, 1);
        own.close(); // kept by the fence
        device.queue(0).execute(null, done, commands, null, 0);
        return done;
    }

    /** Executes, and waits for the end, with success or not. */
    void execute(CommandBuffer commands) {
        try (Fence done = submit(commands)) {
            done.await();
        } catch (IreeException e) {
            if (e.code() != StatusCode.DATA_LOSS) {
                throw e;
            }
        }
    }

    /** Waits until all operations are over: signals come before their record. */
    static OperationGraph everything(FlightRecorder recorder) {
        while (true) {
            OperationGraph graph = new OperationGraph(recorder.recording());
            if (graph.operations().stream().allMatch(each -> each.overAt() != RecordedOperation.NEVER)) {
                return graph;
            }
            Thread.onSpinWait();
        }
    }

    /** Records random executions, some with failing kernels. */
    static FlightRecording record(long seed) throws IOException {
        Random random = new Random(seed);
        try (ClockedKernels kernels = new ClockedKernels();
                FlightRecorder recorder = kernels.recorder(1 + random.nextInt(3))) {
            for (int i = 10 + random.nextInt(10); i > 0; i--) {
                try (CommandBuffer commands = kernels.device.createCommandBuffer(0, CommandBuffer.DISPATCH, -1, 0)) {
                    for (int dispatch = random.nextInt(6); dispatch >= 0; dispatch--) {
                        int export = random.nextInt(12) == 0 ? BROKEN : random.nextInt(2);
                        kernels.dispatch(commands, export, random.nextInt(4));
                        if (random.nextBoolean()) {
                            barrier(commands);
                        }
                    }
                    commands.finish();
                    kernels.execute(commands);
                }
            }
            return everything(recorder).recording();
        }
    }

    @Override
    public List<String> formats() {
        return List.of("clocked");
    }

    @Override
    public LoadedExecutable load(String format, MemorySegment data, @Nullable RefCounted owner, int[] constants) {
        return this;
    }

    @Override
    public int exportCount() {
        return NAMES.size();
    }

    @Override
    public ExecutableExport export(int ordinal) {
        return new ExecutableExport(NAMES.get(ordinal), 0, 0, 0, 0, 0, 0, 0);
    }

    @Override
    public void dispatch(int export, HostDispatch dispatch, long begin, long end, int worker) {
        ran = Thread.currentThread();
        for (long i = begin; i < end; i++) {
            switch (export) {
                case QUICK -> clock.addAndGet(QUICK_NANOS);
                case SLOW -> clock.addAndGet(SLOW_NANOS);
                case BROKEN -> {
                    clock.addAndGet(QUICK_NANOS);
                    throw IreeException.of(StatusCode.DATA_LOSS, "kernel failed on purpose");
                }
                default -> custom.run();
            }
        }
    }

    /** Closes the device, and then the code, on the device's call. */
    @Override
    public void close() {
        if (!closed) {
            closed = true;
            kernels.close();
            device.close();
        }
    }
}
