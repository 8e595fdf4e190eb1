package io.github.iree4j.hal.stream;

import io.github.iree4j.async.Fence;
import io.github.iree4j.hal.DeviceQueue;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import org.jspecify.annotations.Nullable;

/** Empty submissions, with or without a host step behind them. */
public final class EmptyCommands {
    private EmptyCommands() {}

    /** Submits commands without work. */
    public static void run(DeviceQueue queue, @Nullable Fence wait, @Nullable Fence signal) {
        submit(queue, wait, signal, null);
    }

    /**
     * The same, with a step behind them that ends when the latch opens; returns a latch opened at the begin of the
     * step.
     */
    public static CountDownLatch pause(
            DeviceQueue queue, @Nullable Fence wait, @Nullable Fence signal, CountDownLatch end) {
        CountDownLatch begun = new CountDownLatch(1);
        submit(queue, wait, signal, () -> {
            begun.countDown();
            try {
                end.await();
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        });
        return begun;
    }

    private static void submit(
            DeviceQueue queue, @Nullable Fence wait, @Nullable Fence signal, @Nullable Runnable step) {
        StreamQueue own = (StreamQueue) queue;
        own.scheduler().submit(wait, signal, () -> new Operation(own, step));
    }

    private static final class Operation extends StreamOperation implements StreamWork {
        private final StreamQueue queue;
        private final @Nullable Runnable step;
        private @Nullable TransferCommands lent;
        private @Nullable DriverCommands ready;

        Operation(StreamQueue queue, @Nullable Runnable step) {
            super("commands");
            this.queue = queue;
            this.step = step;
        }

        @Override
        StreamWork prepare() {
            TransferCommands commands = queue.streamDevice().encoder().transfers(queue.lane());
            lent = commands;
            try {
                ready = commands.finish("commands");
            } catch (RuntimeException | Error e) { // the device is lost: over() will not be called
                commands.release();
                throw e;
            }
            return this;
        }

        @Override
        @Nullable
        HostStep hostStep() {
            Runnable given = step;
            return given == null
                    ? null
                    : done -> {
                        given.run();
                        done.accept(null);
                    };
        }

        @Override
        public DriverCommands commands() {
            return Objects.requireNonNull(ready);
        }

        @Override
        public void over() {
            Objects.requireNonNull(lent).release();
        }

        @Override
        protected void retain() {}

        @Override
        protected void release() {}
    }
}
