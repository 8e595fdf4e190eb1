package io.github.iree4j.spring.metrics;

import io.micrometer.common.docs.KeyName;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.docs.MeterDocumentation;
import org.jspecify.annotations.Nullable;

/** The meters of the runtime, each described by its text. Tag values come from the configuration or a fixed list, never from requests. */
public enum IreeMeters implements MeterDocumentation {
    QUEUE_DEPTH(
            "iree.queue.depth",
            "operations",
            Meter.Type.GAUGE,
            "Incomplete operations: pending or in flight.",
            Key.DEVICE,
            Key.QUEUE),

    QUEUE_PENDING(
            "iree.queue.pending",
            "operations",
            Meter.Type.GAUGE,
            "Operations pending, not yet issued.",
            Key.DEVICE,
            Key.QUEUE),

    QUEUE_OPERATIONS(
            "iree.queue.operations",
            "operations",
            Meter.Type.COUNTER,
            "Completed operations, by outcome: retired or failed.",
            Key.DEVICE,
            Key.QUEUE,
            Key.OUTCOME),

    QUEUE_WAITS(
            "iree.queue.waits",
            "waits",
            Meter.Type.COUNTER,
            "Waits of operations, by resolution: reached, elided-fifo, elided-frontier, covered, device, deferred.",
            Key.DEVICE,
            Key.QUEUE,
            Key.DECISION),

    STREAM_SUBMISSIONS(
            "iree.stream.submissions",
            "submissions",
            Meter.Type.COUNTER,
            "Submissions to the stream of a queue; several operations may share a submission.",
            Key.DEVICE,
            Key.QUEUE),

    STREAM_WAITS(
            "iree.stream.waits",
            "waits",
            Meter.Type.COUNTER,
            "Waits of the stream of a queue for other streams, or for foreign work.",
            Key.DEVICE,
            Key.QUEUE),

    FENCE_WAIT(
            "iree.fence.wait",
            null,
            Meter.Type.TIMER,
            "Time for which operations were deferred until the waits were reached.",
            Key.DEVICE,
            Key.QUEUE),

    FRONTIER_SIZE(
            "iree.frontier.size",
            "entries",
            Meter.Type.GAUGE,
            "Entries of the frontier of a queue's next operation.",
            Key.DEVICE,
            Key.QUEUE),

    FRONTIER_MERGES(
            "iree.frontier.merges",
            "merges",
            Meter.Type.COUNTER,
            "Merged frontiers of incomplete waits.",
            Key.DEVICE,
            Key.QUEUE),

    FRONTIER_EVICTIONS(
            "iree.frontier.evictions",
            "entries",
            Meter.Type.COUNTER,
            "Frontier entries evicted for lack of capacity.",
            Key.DEVICE,
            Key.QUEUE),

    TAINT_OPENED(
            "iree.taint.opened",
            "windows",
            Meter.Type.COUNTER,
            "Taint windows opened by an external signal of a timeline, process-wide."),

    TAINT_RECOVERED("iree.taint.recovered", "windows", Meter.Type.COUNTER, "Taint windows closed, process-wide."),

    POOL_BUDGET(
            "iree.pool.budget", "bytes", Meter.Type.GAUGE, "Maximum memory of the buffers of a device.", Key.DEVICE),

    POOL_MEMORY(
            "iree.pool.memory",
            "bytes",
            Meter.Type.GAUGE,
            "Memory of a pool: live, cached for reuse, reserved (both), or the peak of live.",
            Key.DEVICE,
            Key.POOL,
            Key.STATE),

    POOL_RESERVATIONS(
            "iree.pool.reservations",
            "reservations",
            Meter.Type.COUNTER,
            "Memory reservations, by origin: fresh, without-wait, after-wait.",
            Key.DEVICE,
            Key.POOL,
            Key.REUSE),

    POOL_REFUSALS(
            "iree.pool.refusals",
            "blocks",
            Meter.Type.COUNTER,
            "Free blocks not reused, by reason: tainted, uncovered.",
            Key.DEVICE,
            Key.POOL,
            Key.REASON),

    POOL_FAILURES(
            "iree.pool.failures",
            "requests",
            Meter.Type.COUNTER,
            "Failed requests for memory: requests that could never fit, could not wait, or waited without success.",
            Key.DEVICE,
            Key.POOL),

    POOL_WAITERS(
            "iree.pool.waiters",
            "requests",
            Meter.Type.GAUGE,
            "Requests waiting for memory, and calls waiting outside for memory.",
            Key.DEVICE),

    POOL_WAIT("iree.pool.wait", null, Meter.Type.TIMER, "Time requests waited for memory.", Key.DEVICE, Key.POOL),

    DEVICE_LOST("iree.device.lost", "devices", Meter.Type.GAUGE, "Whether a device was lost: 1, else 0.", Key.DEVICE),

    DEVICE_STREAMS(
            "iree.device.streams",
            "streams",
            Meter.Type.GAUGE,
            "Streams of the driver in use by a device.",
            Key.DEVICE),

    DEVICE_EVENTS(
            "iree.device.events",
            "events",
            Meter.Type.GAUGE,
            "Events made by the driver of a device, and reused.",
            Key.DEVICE),

    DEVICE_HELD(
            "iree.device.held",
            "submissions",
            Meter.Type.GAUGE,
            "Submissions waiting on the host because the driver of a device cannot take them yet.",
            Key.DEVICE),

    DEVICE_GRAPH_LAUNCHES(
            "iree.device.graph.launches",
            "launches",
            Meter.Type.COUNTER,
            "Graphs given to the driver of a device instead of the commands of a recording.",
            Key.DEVICE),

    TASK_WORKERS(
            "iree.task.workers",
            "workers",
            Meter.Type.GAUGE,
            "Workers that run compiled code and calls, by state: busy, sleeping.",
            Key.STATE),

    TASK_PROCESSES(
            "iree.task.processes",
            "processes",
            Meter.Type.GAUGE,
            "Live processes of the workers: calls that run or wait, and device queues."),

    CALLS_IN_LINE(
            "iree.calls.in.line", "calls", Meter.Type.GAUGE, "Calls waiting in line for their program.", Key.MODULE),

    CALLS_LINE(
            "iree.calls.line",
            null,
            Meter.Type.TIMER,
            "Time calls waited in line for their program; calls without a wait do not count.",
            Key.MODULE),

    POOL_USAGE(
            "iree.pool.usage",
            "bytes",
            Meter.Type.GAUGE,
            "Memory in use on a device by program; of no program: module 'none'.",
            Key.DEVICE,
            Key.MODULE),

    PROBLEMS(
            "iree.problems",
            "problems",
            Meter.Type.GAUGE,
            "Problems that keep work from advancing, by kind, found by the watchdog's last look.",
            Key.PROBLEM),

    PROBLEMS_FOUND("iree.problems.found", "problems", Meter.Type.COUNTER, "Problems found since the start."),

    STALLED(
            "iree.stalled",
            "runtimes",
            Meter.Type.GAUGE,
            "Whether calls are in flight, nothing advances, and no program is known to serve new ones: 1, else 0."),

    CALLS_ACTIVE("iree.calls.active", "calls", Meter.Type.GAUGE, "Calls of functions in flight."),

    TENSOR_OPEN("iree.tensor.open", "tensors", Meter.Type.GAUGE, "Open tensors with device memory."),

    TENSOR_LEAKED(
            "iree.tensor.leaked", "tensors", Meter.Type.COUNTER, "Tensors garbage-collected without being closed."),

    MODULE_LOAD(
            "iree.module.load",
            null,
            Meter.Type.TIMER,
            "Time to load programs, warm-up included, by outcome: ready or failed.",
            Key.MODULE,
            Key.OUTCOME),

    BATCH_SIZE(
            "iree.batch.size",
            "rows",
            Meter.Type.DISTRIBUTION_SUMMARY,
            "Rows of each batch, before padding.",
            Key.MODULE),

    BATCH_WAIT(
            "iree.batch.wait",
            null,
            Meter.Type.TIMER,
            "Time for which the first call of a batch waited for others.",
            Key.MODULE),

    REQUESTS_MEMORY(
            "iree.requests.memory",
            "bytes",
            Meter.Type.GAUGE,
            "Memory held by requests in flight: for bodies and values made of bodies, or for answers not yet read.",
            Key.STATE),

    REQUESTS_BUDGET("iree.requests.budget", "bytes", Meter.Type.GAUGE, "Maximum memory of requests in flight."),

    REQUESTS_AWAITED("iree.requests.awaited", "bodies", Meter.Type.GAUGE, "Bodies of requests that have not arrived."),

    REQUESTS_UNREAD("iree.requests.unread", "answers", Meter.Type.GAUGE, "Answers that clients have not read."),

    REQUESTS_ACTIVE(
            "iree.requests.active",
            "requests",
            Meter.Type.GAUGE,
            "Requests of the Open Inference Protocol being computed, or keeping a place for an unread answer.",
            Key.PROTOCOL),

    REQUESTS_WAITING(
            "iree.requests.waiting",
            "requests",
            Meter.Type.GAUGE,
            "Requests of the Open Inference Protocol that wait to be computed.",
            Key.PROTOCOL),

    REQUESTS_REFUSED(
            "iree.requests.refused",
            "requests",
            Meter.Type.COUNTER,
            "Requests refused or ended, by reason: memory, bodies, size, slow, unread, requests, calls, streams.",
            Key.REASON),

    GRPC_CALLS("iree.grpc.calls", "calls", Meter.Type.GAUGE, "Open calls of the gRPC server, of any service."),

    GRPC_STREAMS("iree.grpc.streams", "streams", Meter.Type.GAUGE, "Open streams of inference over gRPC."),

    VARIANT_CALLS(
            "iree.variant.calls",
            "calls",
            Meter.Type.COUNTER,
            "Calls of functions with shape variants, by the selected variant.",
            Key.MODULE,
            Key.FUNCTION,
            Key.VARIANT),

    VARIANT_ELEMENTS(
            "iree.variant.elements",
            "elements",
            Meter.Type.COUNTER,
            "Elements of the inputs of variants, padding included.",
            Key.MODULE,
            Key.FUNCTION),

    VARIANT_PADDING(
            "iree.variant.padding",
            "elements",
            Meter.Type.COUNTER,
            "Padding elements added to inputs to reach the shape of a variant.",
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

    /** Human-readable description. */
    public String getDescription() {
        return description;
    }

    @Override
    public KeyName[] getKeyNames() {
        return keys.clone();
    }

    /** Tag keys. */
    public enum Key implements KeyName {
        DEVICE("device", "Name of the device in {@code iree.devices}."),
        QUEUE("queue", "Number of the queue on its device."),
        POOL("pool", "Name of the pool: transient, persistent, large."),
        DECISION("decision", "How a wait was resolved."),
        REUSE("reuse", "Origin of the memory."),
        REASON("reason", "Why a free block was not reused, or a request was refused."),
        PROTOCOL("protocol", "How requests come: http, grpc."),
        STATE("state", "State of memory or of workers."),
        OUTCOME("outcome", "Outcome."),
        MODULE("module", "Name of the program in {@code iree.modules}."),
        FUNCTION("function", "Name of the function that was called."),
        VARIANT("variant", "Name of the selected compiled function."),
        PROBLEM("problem", "Kind of problem.");

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

        /** Human-readable description of the key's values. */
        public String getDescription() {
            return description;
        }
    }
}
