package io.github.iree4j.hal.stream;

import io.github.iree4j.async.Fence;
import io.github.iree4j.hal.DeviceQueue;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import org.jspecify.annotations.Nullable;

/** Empty submissions, with or without a host step behind them. */
public final class EmptyCommands {
    private EmptyCommands() {}

    /** Submits commands that do nothing. */
    public static void run(DeviceQueue queue, @Nullable Fence wait, @Nullable Fence signal) {
        submit(queue, wait, signal, null);
    }

    /** The same, with a step behind them that ends when the latch opens. */
    public static void pause(DeviceQueue queue, @Nullable Fence wait, @Nullable Fence signal, CountDownLatch end) {
        submit(queue, wait, signal, end);
    }

    private static void submit(
            DeviceQueue queue, @Nullable Fence wait, @Nullable Fence signal, @Nullable CountDownLatch end) {
        StreamQueue own = (StreamQueue) queue;
        own.scheduler().submit(wait, signal, () -> new Operation(own, end));
    }

    private static final class Operation extends StreamOperation implements StreamWork {
        private final StreamQueue queue;
        private final @Nullable CountDownLatch pause;
        private @Nullable TransferCommands lent;
        private @Nullable DriverCommands ready;

        Operation(StreamQueue queue, @Nullable CountDownLatch pause) {
            super("commands");
            this.queue = queue;
            this.pause = pause;
        }

        @Override
        StreamWork prepare() {
            TransferCommands commands = queue.streamDevice().encoder().transfers(queue.lane());
            lent = commands;
            ready = commands.finish("commands");
            return this;
        }

        @Override
        @Nullable
        HostStep hostStep() {
            CountDownLatch end = pause;
            return end == null
                    ? null
                    : done -> {
                        try {
                            end.await();
                        } catch (InterruptedException e) {
                            throw new AssertionError(e);
                        }
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
