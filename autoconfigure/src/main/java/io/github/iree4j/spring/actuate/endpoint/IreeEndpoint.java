package io.github.iree4j.spring.actuate.endpoint;

import io.github.iree4j.IreeRuntime;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.flight.FlightRecorder;
import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.DeviceQueue;
import io.github.iree4j.hal.PendingOperation;
import io.github.iree4j.hal.QueuePeaks;
import io.github.iree4j.spring.IreeEvents;
import io.github.iree4j.spring.ProgramLoadException;
import io.github.iree4j.spring.ProgramState;
import io.github.iree4j.spring.ProgramStatus;
import io.github.iree4j.spring.Programs;
import io.github.iree4j.spring.actuate.endpoint.FrontierDescriptor.OfQueue;
import io.github.iree4j.spring.actuate.endpoint.FrontierDescriptor.OfTimeline;
import io.github.iree4j.spring.problems.Problem;
import io.github.iree4j.spring.problems.QueueNames;
import io.github.iree4j.spring.problems.Signallers;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.IntSupplier;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.actuate.endpoint.Access;
import org.springframework.boot.actuate.endpoint.OperationResponseBody;
import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import org.springframework.boot.actuate.endpoint.annotation.Selector;
import org.springframework.boot.actuate.endpoint.annotation.WriteOperation;
import org.springframework.boot.actuate.endpoint.web.WebEndpointResponse;

/**
 * {@link Endpoint @Endpoint} showing devices, queues, frontiers, taint, pools, memory, programs, pending work with
 * dependencies, and recent events.
 *
 * <p>Read-only, unless {@code management.endpoint.iree.access=unrestricted} also permits loading, unloading and warming
 * programs, cancelling calls and trimming pools. Responses contain no addresses; the size of a response is bounded by
 * the number of devices, queues, programs and timelines held by the application.
 */
@Endpoint(id = "iree", defaultAccess = Access.READ_ONLY)
public final class IreeEndpoint {

    private static final List<String> SELECTORS = List.of(
            "devices",
            "queues",
            "frontiers",
            "taint",
            "pools",
            "memory",
            "modules",
            "timelines",
            "calls",
            "problems",
            "events",
            "live",
            "recording");

    private static final int MOST_EVENTS = 100;
    private static final int LOOKS = 3;

    /** Held while reading, since a reader copies records of the recorder: one reader at a time, regardless of the number of clients. */
    private final Lock reading = new ReentrantLock(true);

    /** A permit for each reader that reads or waits. */
    private final Semaphore readers = new Semaphore(1 + IreeEndpointWebExtension.MOST_WAITING);

    private final IreeRuntime runtime;
    private final Programs programs;
    private final IreeEvents events;
    private final @Nullable FlightRecorder recorder;
    private final Supplier<List<Problem>> problems;
    private final List<EndpointPart> parts;
    private final Peaks peaks;

    /**
     * Creates an endpoint for a runtime.
     *
     * @param runtime the runtime whose devices to show
     * @param programs the programs to show
     * @param events the recent events
     * @param problems returns the known problems
     */
    public IreeEndpoint(IreeRuntime runtime, Programs programs, IreeEvents events, Supplier<List<Problem>> problems) {
        this(runtime, programs, events, problems, programs::activeCalls, null, List.of());
    }

    /**
     * Creates an endpoint for a runtime with a recorder and parts of other modules.
     *
     * @param runtime the runtime whose devices to show
     * @param programs the programs to show
     * @param events the recent events
     * @param problems returns the known problems
     * @param mostCalls returns the largest number of calls in flight at once since it was last asked; asked by the
     *     endpoint only, which is the only reader of the runtime's peaks as well
     * @param recorder the flight recorder; null for none
     * @param parts the parts of other modules
     */
    public IreeEndpoint(
            IreeRuntime runtime,
            Programs programs,
            IreeEvents events,
            Supplier<List<Problem>> problems,
            IntSupplier mostCalls,
            @Nullable FlightRecorder recorder,
            List<EndpointPart> parts) {
        this.recorder = recorder;
        this.parts = List.copyOf(parts);
        this.runtime = runtime;
        this.programs = programs;
        this.events = events;
        this.problems = problems;
        this.peaks = new Peaks(() -> takePeaks(mostCalls));
    }

    /** Returns a summary. */
    @ReadOperation
    public IreeDescriptor iree() {
        Map<String, ProgramState> modules = new TreeMap<>();
        for (ProgramStatus status : programs.statuses()) {
            modules.putIfAbsent(status.source().name(), status.state());
        }
        return new IreeDescriptor(
                devices().devices(),
                modules,
                TaskDescriptor.of(runtime),
                programs.activeCalls(),
                waiting(),
                problems.get().size(),
                Stream.concat(SELECTORS.stream(), parts.stream().map(EndpointPart::name))
                        .toList());
    }

    /**
     * Returns a part.
     *
     * @param part devices, queues, frontiers, taint, pools, memory, modules, timelines, calls, problems, events or
     *     recording; live for all but the recording; or a part of another module
     * @param since for events, live and the recording, the cursor of the previous response; everything retained when
     *     absent
     * @param peaks for live, the cursor of the peaks of the previous response; when absent, peaks are since the last
     *     response to anybody
     * @return the part, or null for an unknown name
     * @throws IreeException RESOURCE_EXHAUSTED when one caller reads the recording, and four wait
     */
    @ReadOperation
    public @Nullable OperationResponseBody part(@Selector String part, @Nullable Long since, @Nullable Long peaks) {
        return switch (part) {
            case "devices" -> devices();
            case "queues" -> queues();
            case "frontiers" -> frontiers();
            case "taint" -> TaintDescriptor.now();
            case "pools" -> pools();
            case "memory" -> memory();
            case "modules" -> modules();
            case "timelines" -> timelines();
            case "calls" -> listedCalls();
            case "problems" -> ProblemsDescriptor.of(problems.get());
            case "events" -> events(since);
            case "live" ->
                new LiveDescriptor(
                        Instant.now(),
                        runtime.device().schedulingDomain().axes().machine(),
                        recorder != null,
                        programs.activeCalls(),
                        TaskDescriptor.of(runtime),
                        this.peaks.since(peaks),
                        devices().devices(),
                        queues().queues(),
                        frontiers(),
                        TaintDescriptor.now(),
                        pools().pools(),
                        memory().devices(),
                        modules().modules(),
                        timelines(),
                        ProblemsDescriptor.of(problems.get()).problems(),
                        events(since));
            case "recording" -> recording(since == null ? 0 : since);
            default ->
                parts.stream()
                        .filter(each -> each.name().equals(part))
                        .findFirst()
                        .map(EndpointPart::read)
                        .orElse(null);
        };
    }

    private @Nullable RecordingDescriptor recording(long since) {
        if (recorder == null) {
            return null;
        }
        if (!readers.tryAcquire()) {
            throw IreeException.of(
                    StatusCode.RESOURCE_EXHAUSTED,
                    "1 recording is being read, and %d requests wait; try again"
                            .formatted(IreeEndpointWebExtension.MOST_WAITING));
        }
        reading.lock();
        try {
            return RecordingDescriptor.of(recorder, since);
        } finally {
            reading.unlock();
            readers.release();
        }
    }

    /**
     * Returns a program, call or pool.
     *
     * @param part modules, calls or pools
     * @param name the program's name, the id of the call, or the name of the device
     * @return the description, or null when there is no such object
     */
    @ReadOperation
    public @Nullable OperationResponseBody one(@Selector String part, @Selector String name) {
        return switch (part) {
            case "modules" -> programs.versions(name).isEmpty() ? null : ModuleDescriptor.of(name, runtime, programs);
            case "pools" ->
                pools().pools().stream()
                        .filter(pool -> pool.device().equals(name))
                        .findFirst()
                        .orElse(null);
            case "calls" -> call(name);
            default -> null;
        };
    }

    private TimelinesDescriptor.@Nullable Call call(String id) {
        QueueNames names = new QueueNames(runtime, shown());
        return runtime.programs().stream()
                .flatMap(program -> program.monitor().pendingCalls(Integer.MAX_VALUE).stream()
                        .filter(call -> Long.toString(call.id()).equals(id))
                        .map(call -> TimelinesDescriptor.call(
                                programs.nameOf(program),
                                call,
                                names,
                                new Signallers(runtime, programs, TimelinesDescriptor.LISTED))))
                .findFirst()
                .orElse(null);
    }

    /**
     * Performs an action on a program, a call or a pool.
     *
     * @param part modules, calls or pools
     * @param name the program's name, the id of the call, or the name of the device
     * @param action for modules load, unload or warm; for calls cancel; for pools trim
     * @param version the version of the module; the latest when absent
     * @return the state afterwards, for a call the state before; status 404 when there is no such object or version, 400
     *     when there is no such action, and 503 when the action failed, each with a {@link Refusal}
     */
    @WriteOperation
    public WebEndpointResponse<OperationResponseBody> act(
            @Selector String part, @Selector String name, String action, @Nullable String version) {
        try {
            return perform(part, name, action, version);
        } catch (ProgramLoadException e) {
            return refused(String.valueOf(e.getMessage()), WebEndpointResponse.STATUS_SERVICE_UNAVAILABLE);
        } catch (IreeException e) {
            boolean isUnknown = e.code() == StatusCode.NOT_FOUND;
            return refused(
                    String.valueOf(e.getMessage()),
                    isUnknown ? WebEndpointResponse.STATUS_NOT_FOUND : WebEndpointResponse.STATUS_SERVICE_UNAVAILABLE);
        }
    }

    private WebEndpointResponse<OperationResponseBody> perform(
            String part, String name, String action, @Nullable String version) {
        OperationResponseBody before = one(part, name);
        if (before == null) {
            return absent(part, name);
        }
        switch (part + "/" + action) {
            case "calls/cancel" -> {
                long id = Long.parseLong(name);
                boolean isEnded = runtime.programs().stream()
                        .anyMatch(program -> program.monitor().cancelCall(id));
                return isEnded ? new WebEndpointResponse<>(before) : absent(part, name); // the call ends soon
            }
            case "modules/load" -> programs.actions().load(name, version);
            case "modules/unload" -> programs.actions().unload(name, version);
            case "modules/warm" -> programs.actions().warm(name, version);
            case "pools/trim" ->
                runtime.monitor().devices().find(name).orElseThrow().allocator().trim();
            default -> {
                String known = switch (part) {
                    case "pools" -> "trim";
                    case "calls" -> "cancel";
                    default -> "load, unload, warm";
                };
                return refused(
                        "action '%s' of %s is not one of: %s".formatted(action, part, known),
                        WebEndpointResponse.STATUS_BAD_REQUEST);
            }
        }
        OperationResponseBody after = one(part, name);
        return after == null ? absent(part, name) : new WebEndpointResponse<>(after);
    }

    /**
     * The answer to a request that was refused.
     *
     * @param error the reason
     */
    public record Refusal(String error) implements OperationResponseBody {}

    private static WebEndpointResponse<OperationResponseBody> absent(String part, String name) {
        return refused(
                part.equals("calls")
                        ? "there is no call '%s' in progress".formatted(name)
                        : "there is no '%s' in %s".formatted(name, part),
                WebEndpointResponse.STATUS_NOT_FOUND);
    }

    private static WebEndpointResponse<OperationResponseBody> refused(String error, int status) {
        return new WebEndpointResponse<>(new Refusal(error), status);
    }

    /** Returns the devices of the runtime and of other modules. */
    private List<Device> shown() {
        List<Device> devices = new ArrayList<>(runtime.devices());
        for (EndpointPart part : parts) {
            for (Device each : part.devices()) {
                if (!devices.contains(each)) {
                    devices.add(each);
                }
            }
        }
        return devices;
    }

    private DeviceDescriptor.All devices() {
        return new DeviceDescriptor.All(shown().stream()
                .map(device -> DeviceDescriptor.of(runtime, device))
                .toList());
    }

    private List<DeviceQueue> allQueues() {
        List<DeviceQueue> queues = new ArrayList<>();
        for (Device device : shown()) {
            for (int i = 0; i < device.queueCount(); i++) {
                queues.add(device.queue(i));
            }
        }
        return queues;
    }

    private Peaks.Values takePeaks(IntSupplier mostCalls) {
        QueueNames names = new QueueNames(runtime, shown());
        Map<String, PeaksDescriptor.OfQueue> queues = new LinkedHashMap<>();
        for (DeviceQueue queue : allQueues()) {
            String name = names.name(queue.axis());
            QueuePeaks its = queue.takePeaks();
            queues.put(name, new PeaksDescriptor.OfQueue(name, its.pending(), its.inFlight()));
        }
        Map<String, PeaksDescriptor.OfMemory> memory = new LinkedHashMap<>();
        for (Device device : runtime.devices()) {
            String name = runtime.monitor().devices().nameOf(device);
            memory.put(
                    name, new PeaksDescriptor.OfMemory(name, device.allocator().takeMostLive()));
        }
        int calls = Math.max(mostCalls.getAsInt(), programs.activeCalls());
        return new Peaks.Values(calls, runtime.monitor().workers().executor().takeMostAwake(), queues, memory);
    }

    private QueueDescriptor.All queues() {
        QueueNames names = new QueueNames(runtime, shown());
        return new QueueDescriptor.All(allQueues().stream()
                .map(queue -> QueueDescriptor.of(queue, names))
                .toList());
    }

    private FrontierDescriptor.All frontiers() {
        QueueNames names = new QueueNames(runtime, shown());
        return new FrontierDescriptor.All(
                runtime.device().schedulingDomain().frontierCapacity(),
                allQueues().stream().map(queue -> OfQueue.of(queue, names)).toList(),
                runtime.monitor().timelines().stream()
                        .map(timeline -> OfTimeline.of(timeline, names))
                        .toList());
    }

    private PoolDescriptor.All pools() {
        return new PoolDescriptor.All(runtime.devices().stream()
                .map(device -> PoolDescriptor.of(runtime, device))
                .toList());
    }

    private MemoryDescriptor.All memory() {
        QueueNames names = new QueueNames(runtime, shown());
        return new MemoryDescriptor.All(runtime.devices().stream()
                .map(device -> MemoryDescriptor.of(runtime, device, names))
                .toList());
    }

    private EventsDescriptor events(@Nullable Long since) {
        long after = since == null ? 0 : since;
        return EventsDescriptor.of(after, events.since(after, MOST_EVENTS));
    }

    private ModuleDescriptor.All modules() {
        return new ModuleDescriptor.All(programs.statuses().stream()
                .map(status -> status.source().name())
                .distinct()
                .map(name -> ModuleDescriptor.of(name, runtime, programs))
                .toList());
    }

    private long waiting() {
        return allQueues().stream()
                .mapToLong(queue -> queue.counters().pending())
                .sum();
    }

    private TimelinesDescriptor timelines() {
        QueueNames names = new QueueNames(runtime, shown());
        TimelinesDescriptor look = look(names);
        // Work moves during the inspection: a point without a signaller for good has no signaller at every look.
        for (int i = 1; i < LOOKS && !look.isExplained(); i++) {
            look = look(names);
        }
        return look;
    }

    private TimelinesDescriptor look(QueueNames names) {
        Signallers signallers = new Signallers(runtime, programs, TimelinesDescriptor.LISTED);
        List<TimelinesDescriptor.Operation> operations = signallers.operations().stream()
                .map(each -> TimelinesDescriptor.operation(each, names, signallers))
                .toList();
        return new TimelinesDescriptor(
                waiting(), operations, programs.activeCalls(), calls(names, signallers), listed());
    }

    /** Returns the timelines of the application, and the timelines awaited by work. */
    private List<TimelinesDescriptor.Timeline> listed() {
        Map<Long, TimelinesDescriptor.Timeline> listed = new TreeMap<>();
        Stream<PendingOperation.Wait> ofOperations = allQueues().stream()
                .flatMap(queue -> queue.pending(TimelinesDescriptor.LISTED).stream())
                .flatMap(operation -> operation.waits().stream());
        Stream<PendingOperation.Wait> ofCalls = runtime.programs().stream()
                .flatMap(program -> program.monitor().pendingCalls(TimelinesDescriptor.LISTED).stream())
                .flatMap(call -> call.waits().stream());
        Stream.concat(ofOperations, ofCalls)
                .forEach(wait -> listed.put(
                        wait.semaphore(),
                        new TimelinesDescriptor.Timeline(wait.semaphore(), wait.timeline(), wait.reached(), "")));
        runtime.monitor().timelines().forEach(timeline -> listed.put(timeline.id(), describe(timeline)));
        return List.copyOf(listed.values());
    }

    private TimelinesDescriptor.Calls listedCalls() {
        return new TimelinesDescriptor.Calls(
                programs.activeCalls(),
                calls(new QueueNames(runtime, shown()), new Signallers(runtime, programs, TimelinesDescriptor.LISTED)));
    }

    /** Returns the oldest calls in flight, of all programs. */
    private List<TimelinesDescriptor.Call> calls(QueueNames axes, Signallers signallers) {
        return runtime.programs().stream()
                .flatMap(program -> program.monitor().pendingCalls(TimelinesDescriptor.LISTED).stream()
                        .map(call -> TimelinesDescriptor.call(programs.nameOf(program), call, axes, signallers)))
                .sorted(Comparator.comparing(TimelinesDescriptor.Call::since).reversed())
                .limit(TimelinesDescriptor.LISTED)
                .toList();
    }

    private static TimelinesDescriptor.Timeline describe(TimelineSemaphore timeline) {
        IreeException failure = timeline.failure();
        return new TimelinesDescriptor.Timeline(
                timeline.id(), timeline.name(), timeline.value(), failure == null ? "" : failure.toString());
    }
}
