package io.github.iree4j.spring.problems;

import io.github.iree4j.IreeRuntime;
import io.github.iree4j.api.NotForApplications;
import io.github.iree4j.frontier.Axis;
import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.DeviceQueue;
import io.github.iree4j.hal.PendingOperation;
import io.github.iree4j.monitor.PendingCall;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/** Names the queues of a runtime, and describes awaited points. */
@NotForApplications
public final class QueueNames {

    private final IreeRuntime runtime;
    private final Map<Long, String> names = new HashMap<>();

    /**
     * Creates the names.
     *
     * @param runtime the runtime whose queues are named
     */
    public QueueNames(IreeRuntime runtime) {
        this(runtime, runtime.devices());
    }

    /**
     * Creates the names of the queues of some devices.
     *
     * @param runtime names the runtime's own devices; other devices have their id
     * @param devices of the runtime's scheduling domain
     */
    public QueueNames(IreeRuntime runtime, List<Device> devices) {
        this.runtime = runtime;
        for (Device device : devices) {
            for (int i = 0; i < device.queueCount(); i++) {
                names.put(device.queue(i).axis(), runtime.monitor().devices().nameOf(device) + "/" + i);
            }
        }
    }

    /** Returns device and queue, or the textual form of an axis outside this runtime. */
    public String name(long axis) {
        return names.getOrDefault(axis, Axis.toString(axis));
    }

    /** Returns the last operation completed by a queue, with all earlier operations. */
    public long completed(long axis) {
        return runtime.device().schedulingDomain().tracker().completed(axis);
    }

    /** Describes an awaited point, and the point's signaller. */
    private String describe(PendingOperation.Wait wait, Signallers signallers) {
        String point = wait.describe() + "; ";
        if (!wait.promised()) {
            return point + unpromised(wait, signallers);
        }
        return wait.producerEpoch() == 0
                ? point + "promised externally"
                : point
                        + "signalled by operation %d of queue %s, which is at %d"
                                .formatted(
                                        wait.producerEpoch(),
                                        name(wait.producerAxis()),
                                        completed(wait.producerAxis()));
    }

    private String unpromised(PendingOperation.Wait wait, Signallers signallers) {
        Signaller signaller = signallers.of(wait);
        if (signaller != null) {
            return "%s will signal it and %s"
                    .formatted(
                            describe(signaller),
                            switch (signaller) {
                                case Signallers.Submitted operation -> operation.issued() ? "is in flight" : "waits";
                                case ActiveCall call -> "is " + call.call().state();
                            });
        }
        List<DeviceQueue> unread = signallers.unread();
        if (!unread.isEmpty()) {
            return "no operation that was looked at signals it, queue %s has more"
                    .formatted(unread.stream().map(queue -> name(queue.axis())).collect(Collectors.joining(", ")));
        }
        Signallers.Signal later = signallers.first(wait);
        return "no submitted operation that can run signals it"
                + (later == null
                        ? ""
                        : "; %s, which signals %d, waits for it".formatted(describe(later.by()), later.value()));
    }

    private String describe(Signaller signaller) {
        return switch (signaller) {
            case Signallers.Submitted submitted ->
                submitted.operation().name() + " on queue "
                        + name(submitted.queue().axis());
            case ActiveCall call -> call.title();
        };
    }

    /** Describes the waits of an operation. */
    public List<String> waitsOf(PendingOperation operation, Signallers signallers) {
        return operation.forMemory()
                ? List.of(DeviceMemoryText.awaited(operation) + " held by other work, see 'pools'")
                : operation.waits().stream()
                        .map(wait -> describe(wait, signallers))
                        .toList();
    }

    /** Describes the waits of a call; empty while the call runs. */
    public List<String> waitsOf(PendingCall call, Signallers signallers) {
        if (!call.waits().isEmpty()) {
            return call.waits().stream().map(wait -> describe(wait, signallers)).toList();
        }
        return switch (call.state()) {
            case IN_LINE -> List.of("its turn; another call of the program is running");
            case FOR_ADMISSION ->
                List.of("its admission: what it needs is not known before a similar call has succeeded, a guess is %s"
                        .formatted(DeviceMemoryText.awaited(call.bytes(), List.of())));
            case FOR_MEMORY ->
                List.of(DeviceMemoryText.awaited(call.bytes(), List.of()) + " that it is likely to need, see 'pools'");
            case SUSPENDED -> List.of("no timeline point: waits for a function written in Java, or is about to resume");
            case BEFORE_INPUTS, BEFORE_RESULTS -> List.of("nothing; about to resume");
            case RUNNING -> List.of();
        };
    }
}
