package io.github.iree4j.hal.local;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.github.iree4j.async.Fence;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.hal.BindingTable;
import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.DispatchConfig;
import io.github.iree4j.hal.Executable;
import io.github.iree4j.hal.ExecutableExport;
import io.github.iree4j.hal.ExecutableParams;
import io.github.iree4j.hal.loader.ExecutableLoader;
import io.github.iree4j.hal.loader.HostDispatch;
import io.github.iree4j.hal.loader.LoadedExecutable;
import io.github.iree4j.hal.spi.CpuOptions;
import io.github.iree4j.hal.spi.DeviceOptions;
import io.github.iree4j.lifetime.RefCounted;
import io.github.iree4j.status.IreeException;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;

/** Devices with a kernel of a test's code. */
abstract class TaskQueueFixture {
    static final int[] NONE = {};

    final Kernel kernel = new Kernel();
    final List<AutoCloseable> toClose = new ArrayList<>();

    /** A single kernel for code of the test. */
    static final class Kernel implements ExecutableLoader, LoadedExecutable {
        volatile Body body = (group, dispatch, worker) -> {};

        interface Body {
            void run(long group, HostDispatch dispatch, int worker) throws Exception;
        }

        @Override
        public List<String> formats() {
            return List.of("test");
        }

        @Override
        public LoadedExecutable load(String format, MemorySegment data, @Nullable RefCounted owner, int[] constants) {
            return this;
        }

        @Override
        public int exportCount() {
            return 1;
        }

        @Override
        public ExecutableExport export(int ordinal) {
            return new ExecutableExport("test", 0, -1, -1, 0, 0, 0, 0);
        }

        @Override
        public void dispatch(int export, HostDispatch dispatch, long begin, long end, int worker) {
            for (long i = begin; i < end; i++) {
                try {
                    body.run(i, dispatch, worker);
                } catch (IreeException e) {
                    throw e;
                } catch (Exception e) {
                    throw new IllegalStateException(e);
                }
            }
        }

        @Override
        public void close() {}
    }

    <T extends AutoCloseable> T closed(T closeable) {
        toClose.add(closeable);
        return closeable;
    }

    @AfterEach
    void closeAll() throws Exception {
        for (AutoCloseable each : toClose.reversed()) {
            each.close();
        }
    }

    Device open(int workers) {
        return open(DeviceOptions.builder().with(CpuOptions.DEFAULTS.workers(workers)));
    }

    Device open(DeviceOptions.Builder options) {
        return closed(new LocalDriverProvider()
                .open(
                        "local",
                        options.with(options.driver(CpuOptions.DEFAULTS).loader(kernel))
                                .build()));
    }

    Fence fence(Device device) {
        TimelineSemaphore timeline = closed(device.createSemaphore(0, 0));
        return closed(Fence.at(timeline, 1));
    }

    Executable executable(Device device) {
        return closed(
                device.createExecutable(new ExecutableParams("test", MemorySegment.ofArray(new byte[1]), null, NONE)));
    }

    /** As after many measured dispatches, on an otherwise idle machine. */
    static Executable known(Executable code, int groups, long duration) {
        LocalExecutable local = (LocalExecutable) code;
        for (int i = 0; i < 40; i++) {
            local.took(0, groups, groups, groups * duration);
            local.ran(0);
        }
        return code;
    }

    Fence dispatch(Device device, @Nullable Fence wait, int groups) {
        return dispatch(device, wait, executable(device), groups);
    }

    Fence dispatch(Device device, @Nullable Fence wait, Executable code, int groups) {
        Fence done = fence(device);
        device.queue(0).dispatch(wait, done, code, 0, DispatchConfig.of(groups, 1, 1), NONE, new BindingTable(), 0);
        return done;
    }

    /** Waits without helping. */
    static void awaitAsleep(Fence fence) {
        CountDownLatch over = new CountDownLatch(1);
        fence.whenReached(failure -> over.countDown());
        try {
            assertThat(over.await(60, TimeUnit.SECONDS)).isTrue();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    static IreeException failure(Fence fence) {
        return catchThrowableOfType(IreeException.class, () -> fence.await(Duration.ofSeconds(60)));
    }
}
