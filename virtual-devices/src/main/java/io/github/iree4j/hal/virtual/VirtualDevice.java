package io.github.iree4j.hal.virtual;

import io.github.iree4j.async.Fence;
import io.github.iree4j.hal.DeviceInfo;
import io.github.iree4j.hal.SchedulingDomain;
import io.github.iree4j.hal.loader.ExecutableLoader;
import io.github.iree4j.hal.local.HostDevice;
import io.github.iree4j.hal.schedule.QueueBackend;
import io.github.iree4j.hal.schedule.QueueScheduler;
import io.github.iree4j.hal.schedule.ScheduledQueue;
import io.github.iree4j.hal.schedule.WaitRules;
import io.github.iree4j.hal.spi.CpuOptions;
import io.github.iree4j.hal.spi.DeviceOptions;
import io.github.iree4j.status.DeviceLostException;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/**
 * A device on a virtual clock. Operations take as long as set by a {@link VirtualScript} and then run as on the CPU.
 * Queues order work like queues of a GPU or of the CPU, by the same scheduler.
 *
 * <pre>{@code
 * VirtualClock clock = VirtualClock.stepped();
 * try (VirtualDevice device = VirtualDevice.builder().clock(clock).fifoQueues(2).build()) {
 *     device.queue(0).barrier(null, a, 0);
 *     device.queue(1).barrier(a, b, 0);
 *     clock.runUntilIdle();
 *     assert b.isReached() && device.queue(1).counters().deviceWaits() == 1;
 * }
 * }</pre>
 *
 * <p>A FIFO queue passes failed waits, as hardware does. A host call or file transfer behind a failed wait is skipped
 * if the host knows of the failure when the turn of the call or transfer comes. Behind the end of another operation,
 * reported late by the hardware, the host may not know: then only the signals of the call or transfer fail. Devices
 * with hardware wait for the host there.
 *
 * <p>Safe from any thread; deterministic when used by a single thread.
 */
public final class VirtualDevice extends HostDevice {
    private final VirtualClock clock;
    private final List<VirtualQueue> hardware = new ArrayList<>();

    private VirtualDevice(Builder builder) {
        super(
                new DeviceInfo(
                        "virtual",
                        builder.id,
                        builder.queues.size() + (builder.queues.size() == 1 ? " queue" : " queues")),
                builder.options.queueCount(builder.queues.size()).build());
        this.clock = builder.clock;
        Object directGroup = builder.directGroup == null ? this : builder.directGroup;
        for (int i = 0; i < builder.queues.size(); i++) {
            QueueKind kind = builder.queues.get(i);
            if (kind.width == FIFO) {
                VirtualStream stream =
                        new VirtualStream(clock, directGroup, builder.waitRules, i, kind.shared, builder.script);
                add(i, directGroup, stream, stream);
            } else {
                VirtualWorkers workers = new VirtualWorkers(clock, i, kind.width, builder.script);
                add(i, directGroup, workers, workers);
            }
        }
    }

    private void add(int index, Object directGroup, VirtualQueue queue, QueueBackend backend) {
        QueueScheduler scheduler = QueueScheduler.create(schedulingDomain(), this, directGroup, backend);
        queue.connect(scheduler);
        hardware.add(queue);
        addQueue(index, scheduler);
    }

    private static final Duration FOREVER = Duration.ofNanos(Long.MAX_VALUE);

    /** The width of a FIFO queue. */
    private static final int FIFO = -1;

    /** A queue to be created: the number of operations run at once, and the lanes shared with others. */
    private record QueueKind(int width, @Nullable VirtualLanes shared) {}

    /**
     * Returns a new builder.
     *
     * @return a builder
     */
    public static Builder builder() {
        return new Builder();
    }

    /**
     * Returns the clock.
     *
     * @return the clock, borrowed
     */
    public VirtualClock clock() {
        return clock;
    }

    /**
     * Submits an operation without work, only taking time.
     *
     * @param queue the queue's index
     * @param wait points to wait for; null for none
     * @param signal points to signal; null for none
     * @param operation the operation, submitted once
     * @return the failure so far, carried by the signal fence; null for none
     * @throws IreeException OUT_OF_RANGE when no such queue exists; without a signal fence a failure found now
     */
    public @Nullable IreeException submit(
            int queue, @Nullable Fence wait, @Nullable Fence signal, VirtualOperation operation) {
        return ((ScheduledQueue<?>) queue(queue)).scheduler().submit(wait, signal, () -> operation);
    }

    /** Simulates the loss of the device: all work, later submissions and the collective groups of the device fail. */
    @Override
    public void lose(IreeException cause) {
        IreeException loss = DeviceLostException.by(id(), cause);
        super.lose(loss);
        hardware.forEach(queue -> queue.stop(loss));
    }

    @Override
    public OptionalLong queryI64(String category, String key) {
        if (category.equals("hal.device.id")) {
            return OptionalLong.of(key.equals(id()) || key.equals("virtual") || key.equals("*") ? 1 : 0);
        }
        return super.queryI64(category, key);
    }

    @Override
    protected int concurrency() {
        return 1;
    }

    @Override
    protected void stop(IreeException cause) {
        hardware.forEach(queue -> queue.stop(cause));
        free(System.nanoTime() + CLOSE_LIMIT.toNanos());
    }

    /** Builds a device. Confined to a single thread. */
    public static final class Builder {
        private String id = "virtual";
        private VirtualClock clock = VirtualClock.stepped();
        private VirtualScript script = VirtualScript.DEFAULT;
        // Limits on waiting for memory are in real time, unknown to a virtual clock.
        private final DeviceOptions.Builder options =
                DeviceOptions.builder().memoryWait(FOREVER).memoryHostWait(FOREVER);
        private final List<QueueKind> queues = new ArrayList<>();
        private @Nullable Object directGroup;
        private WaitRules waitRules = WaitRules.ALL;

        private Builder() {}

        /**
         * Sets the id of the device.
         *
         * @param name the id, {@code virtual} unless set
         * @return this builder
         */
        public Builder id(String name) {
            this.id = Objects.requireNonNull(name, "name");
            return this;
        }

        /**
         * Sets the clock, shared by interacting devices.
         *
         * @param shared the clock; by default a stepped clock for this device
         * @return this builder
         */
        public Builder clock(VirtualClock shared) {
            this.clock = Objects.requireNonNull(shared, "shared");
            return this;
        }

        /**
         * Sets the behaviour of the hardware.
         *
         * @param behaviour the script; {@link VirtualScript#DEFAULT} unless set
         * @return this builder
         */
        public Builder script(VirtualScript behaviour) {
            this.script = Objects.requireNonNull(behaviour, "behaviour");
            return this;
        }

        /**
         * Sets the scheduling domain.
         *
         * @param domain the domain; by default the domain of the process
         * @return this builder
         */
        public Builder schedulingDomain(SchedulingDomain domain) {
            options.schedulingDomain(domain);
            return this;
        }

        /**
         * Sets the group of devices waiting for each other without the host.
         *
         * @param group the group, compared by identity; by default the device is alone
         * @return this builder
         */
        public Builder directGroup(Object group) {
            this.directGroup = Objects.requireNonNull(group, "group");
            return this;
        }

        /**
         * Sets the conclusions of the FIFO queues about waits.
         *
         * @param rules {@link WaitRules#ALL} unless set
         * @return this builder
         */
        public Builder waitRules(WaitRules rules) {
            this.waitRules = Objects.requireNonNull(rules, "rules");
            return this;
        }

        /**
         * Adds queues running operations in the order of issue.
         *
         * @param count number of queues
         * @return this builder
         */
        public Builder fifoQueues(int count) {
            for (int i = 0; i < count; i++) {
                queues.add(new QueueKind(FIFO, null));
            }
            return this;
        }

        /**
         * Adds queues running operations in the order of issue, on shared lanes. Only {@link VirtualOperation}s take a
         * lane.
         *
         * @param count number of queues
         * @param lanes the lanes, of the device's clock; other devices may share the lanes too
         * @return this builder
         */
        public Builder fifoQueues(int count, VirtualLanes lanes) {
            for (int i = 0; i < count; i++) {
                queues.add(new QueueKind(FIFO, Objects.requireNonNull(lanes, "lanes")));
            }
            return this;
        }

        /**
         * Adds a queue running operations when their waits are reached.
         *
         * @param width maximum number of concurrent operations, at least 1
         * @return this builder
         */
        public Builder unorderedQueue(int width) {
            if (width < 1) {
                throw IreeException.of(StatusCode.INVALID_ARGUMENT, "'width' is " + width + " and must be at least 1");
            }
            queues.add(new QueueKind(width, null));
            return this;
        }

        /**
         * Sets the limit of buffer memory.
         *
         * @param bytes the limit; 0 for the machine's memory
         * @return this builder
         */
        public Builder memoryLimit(long bytes) {
            options.memoryLimit(bytes);
            return this;
        }

        /**
         * Sets the memory quota of a consumer.
         *
         * @param consumer name of the consumer
         * @param bytes the quota
         * @return this builder
         */
        public Builder memoryQuota(String consumer, long bytes) {
            options.memoryQuota(consumer, bytes);
            return this;
        }

        /**
         * Adds a loader of executables.
         *
         * @param loader the loader
         * @return this builder
         */
        public Builder loader(ExecutableLoader loader) {
            options.with(options.driver(CpuOptions.DEFAULTS).loader(loader));
            return this;
        }

        /**
         * Creates the device.
         *
         * @return the device, with one FIFO queue if none was added; the caller closes it
         * @throws IreeException INVALID_ARGUMENT for more than 64 queues
         */
        public VirtualDevice build() {
            if (queues.isEmpty()) {
                fifoQueues(1);
            }
            return new VirtualDevice(this);
        }
    }
}
