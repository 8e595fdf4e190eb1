package io.github.iree4j.spring.metrics;

import io.micrometer.common.docs.KeyName;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.docs.MeterDocumentation;
import org.jspecify.annotations.Nullable;

/** The meters of the runtime. Values of tags come from the configuration or from a fixed list, never from requests. */
public enum IreeMeters implements MeterDocumentation {
    /** Operations that are not over: waiting to be issued, or in flight. */
    QUEUE_DEPTH(
            "iree.queue.depth",
            "operations",
            Meter.Type.GAUGE,
            "Operations that are not over: waiting to be issued, or in flight.",
            Key.DEVICE,
            Key.QUEUE),

    /** Operations that wait to be issued. */
    QUEUE_PENDING(
            "iree.queue.pending",
            "operations",
            Meter.Type.GAUGE,
            "Operations that wait to be issued.",
            Key.DEVICE,
            Key.QUEUE),

    /** Operations that are over, by outcome: retired or failed. */
    QUEUE_OPERATIONS(
            "iree.queue.operations",
            "operations",
            Meter.Type.COUNTER,
            "Operations that are over, by outcome: retired or failed.",
            Key.DEVICE,
            Key.QUEUE,
            Key.OUTCOME),

    /** Waits of operations, by what became of them: reached, elided-fifo, elided-frontier, covered, device, deferred. */
    QUEUE_WAITS(
            "iree.queue.waits",
            "waits",
            Meter.Type.COUNTER,
            "Waits of operations, by what became of them: reached, elided-fifo, elided-frontier, covered, device, deferred.",
            Key.DEVICE,
            Key.QUEUE,
            Key.DECISION),

    /** Time for which operations were held back until their waits were reached. */
    FENCE_WAIT(
            "iree.fence.wait",
            null,
            Meter.Type.TIMER,
            "Time for which operations were held back until their waits were reached.",
            Key.DEVICE,
            Key.QUEUE),

    /** Entries of what the next operation of a queue runs after. */
    FRONTIER_SIZE(
            "iree.frontier.size",
            "entries",
            Meter.Type.GAUGE,
            "Entries of what the next operation of a queue runs after.",
            Key.DEVICE,
            Key.QUEUE),

    /** Frontiers of waits that were joined because they had not completed. */
    FRONTIER_MERGES(
            "iree.frontier.merges",
            "merges",
            Meter.Type.COUNTER,
            "Frontiers of waits that were joined because they had not completed.",
            Key.DEVICE,
            Key.QUEUE),

    /** Entries of frontiers that were lost for want of room. */
    FRONTIER_EVICTIONS(
            "iree.frontier.evictions",
            "entries",
            Meter.Type.COUNTER,
            "Entries of frontiers that were lost for want of room.",
            Key.DEVICE,
            Key.QUEUE),

    /** Times that a timeline was signalled from outside after a signal of our own. Of the process. */
    TAINT_OPENED(
            "iree.taint.opened",
            "windows",
            Meter.Type.COUNTER,
            "Times that a timeline was signalled from outside after a signal of our own. Of the process."),

    /** Times that a signal of our own ended that. Of the process. */
    TAINT_RECOVERED(
            "iree.taint.recovered",
            "windows",
            Meter.Type.COUNTER,
            "Times that a signal of our own ended that. Of the process."),

    /** The most memory that the buffers of a device may take. */
    POOL_BUDGET(
            "iree.pool.budget",
            "bytes",
            Meter.Type.GAUGE,
            "The most memory that the buffers of a device may take.",
            Key.DEVICE),

    /** Memory of a pool: live, cached for later, reserved (both), or the peak of live. */
    POOL_MEMORY(
            "iree.pool.memory",
            "bytes",
            Meter.Type.GAUGE,
            "Memory of a pool: live, cached for later, reserved (both), or the peak of live.",
            Key.DEVICE,
            Key.POOL,
            Key.STATE),

    /** Memory given out, by where it came from: fresh, without-wait, after-wait. */
    POOL_RESERVATIONS(
            "iree.pool.reservations",
            "reservations",
            Meter.Type.COUNTER,
            "Memory given out, by where it came from: fresh, without-wait, after-wait.",
            Key.DEVICE,
            Key.POOL,
            Key.REUSE),

    /** Free blocks that were passed over, by reason: tainted, uncovered. */
    POOL_REFUSALS(
            "iree.pool.refusals",
            "blocks",
            Meter.Type.COUNTER,
            "Free blocks that were passed over, by reason: tainted, uncovered.",
            Key.DEVICE,
            Key.POOL,
            Key.REASON),

    /** Requests for memory that could never fit. */
    POOL_FAILURES(
            "iree.pool.failures",
            "requests",
            Meter.Type.COUNTER,
            "Requests for memory that could never fit.",
            Key.DEVICE,
            Key.POOL),

    /** Requests that wait for memory. */
    POOL_WAITERS("iree.pool.waiters", "requests", Meter.Type.GAUGE, "Requests that wait for memory.", Key.DEVICE),

    /** Time for which requests waited for memory. */
    POOL_WAIT(
            "iree.pool.wait",
            null,
            Meter.Type.TIMER,
            "Time for which requests waited for memory.",
            Key.DEVICE,
            Key.POOL),

    /** Whether a device was lost: 1, else 0. */
    DEVICE_LOST("iree.device.lost", "devices", Meter.Type.GAUGE, "Whether a device was lost: 1, else 0.", Key.DEVICE),

    /** Workers that run compiled code and calls, by state: busy, sleeping. */
    TASK_WORKERS(
            "iree.task.workers",
            "workers",
            Meter.Type.GAUGE,
            "Workers that run compiled code and calls, by state: busy, sleeping.",
            Key.STATE),

    /** What the workers have in hand: calls that run or wait, and queues of devices. */
    TASK_PROCESSES(
            "iree.task.processes",
            "processes",
            Meter.Type.GAUGE,
            "What the workers have in hand: calls that run or wait, and queues of devices."),

    /** Calls of functions under way. */
    CALLS_ACTIVE("iree.calls.active", "calls", Meter.Type.GAUGE, "Calls of functions under way."),

    /** Tensors with device memory that are open. */
    TENSOR_OPEN("iree.tensor.open", "tensors", Meter.Type.GAUGE, "Tensors with device memory that are open."),

    /** Tensors that were dropped without being closed. */
    TENSOR_LEAKED(
            "iree.tensor.leaked", "tensors", Meter.Type.COUNTER, "Tensors that were dropped without being closed."),

    /** Time that it took to load programs, warm-up included, by outcome: ready or failed. */
    MODULE_LOAD(
            "iree.module.load",
            null,
            Meter.Type.TIMER,
            "Time that it took to load programs, warm-up included, by outcome: ready or failed.",
            Key.MODULE,
            Key.OUTCOME),

    /** Rows of the calls that were made of several. */
    BATCH_SIZE(
            "iree.batch.size",
            "rows",
            Meter.Type.DISTRIBUTION_SUMMARY,
            "Rows of the calls that were made of several.",
            Key.MODULE),

    /** Time for which the first call of a batch waited for others. */
    BATCH_WAIT(
            "iree.batch.wait",
            null,
            Meter.Type.TIMER,
            "Time for which the first call of a batch waited for others.",
            Key.MODULE),

    /** Calls of functions that have variants by shape, by the variant that was chosen. */
    VARIANT_CALLS(
            "iree.variant.calls",
            "calls",
            Meter.Type.COUNTER,
            "Calls of functions that have variants by shape, by the variant that was chosen.",
            Key.MODULE,
            Key.FUNCTION,
            Key.VARIANT),

    /** Elements of the inputs that variants were called with, padding included. */
    VARIANT_ELEMENTS(
            "iree.variant.elements",
            "elements",
            Meter.Type.COUNTER,
            "Elements of the inputs that variants were called with, padding included.",
            Key.MODULE,
            Key.FUNCTION),

    /** Elements of these inputs that no caller gave: what was added to reach the shape of a variant. */
    VARIANT_PADDING(
            "iree.variant.padding",
            "elements",
            Meter.Type.COUNTER,
            "Elements of these inputs that no caller gave: what was added to reach the shape of a variant.",
            Key.MODULE,
            Key.FUNCTION);

    private final String meterName;
    private final @Nullable String unit;
    private final Meter.Type type;
    private final String description;
    private final Key[] keys;

    IreeMeters(String meterName, @Nullable String unit, Meter.Type type, String description, Key... keys) {
        this.meterName = meterName;
        this.unit = unit;
        this.type = type;
        this.description = description;
        this.keys = keys;
    }

    @Override
    public String getName() {
        return meterName;
    }

    @Override
    public @Nullable String getBaseUnit() {
        return unit;
    }

    @Override
    public Meter.Type getType() {
        return type;
    }

    /** What it says, for people. */
    public String getDescription() {
        return description;
    }

    @Override
    public KeyName[] getKeyNames() {
        return keys.clone();
    }

    /** Tags. */
    public enum Key implements KeyName {
        /** Name of a device. */
        DEVICE("device", "Name of the device in {@code iree.devices}."),
        /** Number of a queue. */
        QUEUE("queue", "Number of the queue on its device."),
        /** Name of a pool. */
        POOL("pool", "Name of the pool: transient, persistent, large."),
        /** What became of a wait. */
        DECISION("decision", "What became of a wait."),
        /** Where memory came from. */
        REUSE("reuse", "Where memory came from."),
        /** Why a block was passed over. */
        REASON("reason", "Why a block was passed over."),
        /** State of memory or of workers. */
        STATE("state", "State of memory or of workers."),
        /** How it ended. */
        OUTCOME("outcome", "How it ended."),
        /** Name of a program. */
        MODULE("module", "Name of the program in {@code iree.modules}."),
        /** Name of a function. */
        FUNCTION("function", "Name of the function that was called."),
        /** Name of a variant. */
        VARIANT("variant", "Name of the compiled function that was chosen.");

        private final String key;
        private final String description;

        Key(String key, String description) {
            this.key = key;
            this.description = description;
        }

        @Override
        public String asString() {
            return key;
        }

        /** What its values are, for people. */
        public String getDescription() {
            return description;
        }
    }
}
