package io.github.iree4j.spring.problems;

import io.github.iree4j.IreeRuntime;
import io.github.iree4j.LeakReport;
import io.github.iree4j.PendingCall;
import io.github.iree4j.Program;
import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.DeviceQueue;
import io.github.iree4j.hal.PendingOperation;
import io.github.iree4j.hal.QueueCounters;
import io.github.iree4j.hal.pool.PoolSetStatistics;
import io.github.iree4j.spring.InvocationService;
import io.github.iree4j.spring.ProgramSource;
import io.github.iree4j.spring.ProgramStatus;
import io.github.iree4j.spring.Programs;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Finds problems in the state of a runtime at one moment. Each piece of work that has stayed as it is for too long is
 * followed to its root: what it waits for, the operation that would signal that, what that waits for in turn; and a call
 * in line, to the call that has the turn. Work with the same root is one problem. Remembers from one look to the next
 * what queues have completed. Thread-safe.
 */
public final class ProblemFinder {

    /** The most operations of a queue and calls of a program that are looked at. */
    private static final int MOST = 1000;

    /** The most lines of a chain. */
    private static final int LINES = 50;

    private final IreeRuntime runtime;
    private final Programs programs;
    private final @Nullable InvocationService invocations;
    private final Map<Long, Standstill> standstills = new HashMap<>(); // by queue; guarded by this

    /**
     * Creates a finder.
     *
     * @param runtime the runtime
     * @param programs its programs
     * @param invocations knows the traces of calls; null for none
     */
    public ProblemFinder(IreeRuntime runtime, Programs programs, @Nullable InvocationService invocations) {
        this.runtime = runtime;
        this.programs = programs;
        this.invocations = invocations;
    }

    /** A call with the name of its program. */
    record ActiveCall(String program, Program instance, PendingCall call) {}

    /** Work whose root is looked for. */
    private static final class Work {
        private final Supplier<String> line;
        private final Duration age;
        private final Set<Object> seen = Collections.newSetFromMap(new IdentityHashMap<>()); // on the way to its roots

        Work(Supplier<String> line, Duration age) {
            this.line = line;
            this.age = age;
        }
    }

    /** Work with one root. */
    private static final class Root {
        private final List<String> chain = new ArrayList<>();
        private Duration since = Duration.ZERO;
        private PendingOperation.@Nullable Wait wait;
        private int count;
        private boolean hasDeadline; // of calls that run
        private String device = ""; // where they run

        void add(Work work) {
            Duration age = work.age;
            count++;
            if (chain.size() < LINES) {
                chain.add(work.line.get());
            }
            since = since.compareTo(age) < 0 ? age : since;
        }
    }

    /**
     * Looks for problems.
     *
     * @param patience how long work may stay as it is
     * @return the problems of this moment
     */
    public List<Problem> find(Duration patience) {
        return new Look(patience).problems();
    }

    /** The calls in flight, of all programs. */
    List<ActiveCall> calls() {
        Map<Program, String> names = new IdentityHashMap<>();
        for (ProgramStatus status : programs.statuses()) {
            String name = status.source().name();
            programs.find(name, status.source().version())
                    .ifPresent(loaded -> loaded.instances().forEach(instance -> names.put(instance, name)));
        }
        List<ActiveCall> calls = new ArrayList<>();
        for (Program program : runtime.programs()) {
            for (PendingCall call : program.pendingCalls(MOST)) {
                calls.add(new ActiveCall(names.getOrDefault(program, program.name()), program, call));
            }
        }
        return calls;
    }

    /** Whether a program or a worker runs, for a call that still has time by its deadline. A GPU does not tell. */
    boolean computes(List<ActiveCall> calls) {
        boolean runs = runtime.executor().sleepingWorkers() < runtime.executor().workers()
                || calls.stream().anyMatch(each -> each.call.state() == PendingCall.State.RUNNING);
        return runs && (invocations == null || !invocations.areCallsLate());
    }

    /** Work that is complete; grows whenever something advances. */
    long completed() {
        long completed = invocations == null ? 0 : invocations.endedCalls();
        for (Device device : runtime.devices()) {
            for (int i = 0; i < device.queueCount(); i++) {
                completed += device.queue(i).counters().retired();
            }
        }
        return completed;
    }

    /** What a queue has completed, and since when it has stayed so. */
    private record Standstill(long completed, long since) {}

    /** A queue that has work in flight of which none has ended for too long; null when there is none. */
    private synchronized @Nullable DeviceQueue stuckQueue(Duration patience) {
        long now = System.nanoTime();
        DeviceQueue stuck = null;
        for (Device device : runtime.devices()) {
            for (int i = 0; i < device.queueCount(); i++) {
                DeviceQueue queue = device.queue(i);
                QueueCounters counters = queue.counters();
                Standstill before = standstills.get(queue.axis());
                if (counters.inFlight() == 0) {
                    standstills.remove(queue.axis());
                } else if (before == null || before.completed != counters.retired()) {
                    standstills.put(queue.axis(), new Standstill(counters.retired(), now));
                } else if (stuck == null && now - before.since >= patience.toNanos()) {
                    stuck = queue;
                }
            }
        }
        return stuck;
    }

    /** One look at the runtime. */
    private final class Look {
        private final Duration patience;
        private final QueueNames names = new QueueNames(runtime);
        private final List<ActiveCall> calls = calls();
        private final Signallers signallers = new Signallers(runtime, MOST);
        private final @Nullable DeviceQueue stuck;
        private final Map<String, Root> fences = new LinkedHashMap<>();
        private final Map<String, Root> queues = new LinkedHashMap<>();
        private final Map<String, Root> memory = new LinkedHashMap<>();
        private final Map<String, Root> endless = new LinkedHashMap<>();

        Look(Duration patience) {
            this.patience = patience;
            this.stuck = stuckQueue(patience);
        }

        private boolean isLong(Duration time) {
            return time.compareTo(patience) >= 0;
        }

        List<Problem> problems() {
            for (Signallers.Pending each : signallers.operations()) {
                PendingOperation operation = each.operation();
                if (isLong(operation.since())) {
                    follow(each.queue(), operation, new Work(() -> describe(each), operation.since()));
                }
            }
            for (ActiveCall each : calls) {
                if (isLong(each.call.unchanged())) {
                    follow(each, new Work(() -> describe(each), each.call.unchanged()));
                }
            }
            calls.stream().filter(this::isBehindALongCall).forEach(each -> {
                follow(each, new Work(() -> describe(each), each.call.unchanged()));
            });
            List<Problem> problems = new ArrayList<>();
            lostDevices(problems);
            changedFiles(problems);
            fences.forEach((subject, root) -> {
                PendingOperation.Wait wait = Objects.requireNonNull(root.wait);
                problems.add(new UnsignalledFence(
                        subject, wait.value(), wait.reached(), wait.promised(), root.count, root.chain, root.since));
            });
            queues.forEach((subject, root) ->
                    problems.add(new StarvedQueue(subject, cause(root), root.count, root.chain, root.since)));
            memory.forEach((device, root) -> problems.add(ofMemory(device, root)));
            endless.forEach((subject, root) -> problems.add(new EndlessCall(
                    subject,
                    "runs",
                    root.count,
                    root.chain,
                    holders(pools(root.device)),
                    root.since,
                    root.hasDeadline)));
            leaks(problems);
            return problems;
        }

        /** Whether a call came into line too late to be a problem by itself: it is affected by one all the same. */
        private boolean isBehindALongCall(ActiveCall call) {
            if (call.call.state() != PendingCall.State.IN_LINE || isLong(call.call.unchanged())) {
                return false;
            }
            ActiveCall holder = holderOfTurn(call);
            return holder != null && isLong(holder.call.unchanged());
        }

        private String cause(Root root) {
            PendingOperation.Wait wait = root.wait;
            return wait == null
                    ? "it is busy with work that began before"
                    : "it is at operation %d, and %d is awaited"
                            .formatted(names.completed(wait.producerAxis()), wait.producerEpoch());
        }

        // ---- Roots.

        private void follow(DeviceQueue queue, PendingOperation operation, Work work) {
            if (!work.seen.add(operation)) {
                return; // on another way, or a cycle, which some wait of it shows
            }
            if (operation.forMemory()) {
                root(memory, deviceOf(queue)).add(work);
            } else {
                follow(operation.waits(), work);
            }
        }

        private void follow(List<PendingOperation.Wait> waits, Work work) {
            for (PendingOperation.Wait wait : waits) {
                Signallers.Pending signaller = signallers.of(wait);
                if (signaller != null && !work.seen.contains(signaller.operation())) {
                    follow(signaller.queue(), signaller.operation(), work);
                } else if (!wait.promised() && stuck != null) { // queues without order make no promises
                    root(queues, "queue " + names.name(stuck.axis())).add(work);
                } else if (wait.promised() && wait.producerEpoch() != 0) {
                    root(queues, "queue " + names.name(wait.producerAxis()), wait)
                            .add(work);
                } else {
                    root(fences, QueueNames.timeline(wait.semaphore(), wait.timeline()), wait)
                            .add(work);
                }
            }
        }

        private void follow(ActiveCall call, Work work) {
            switch (call.call.state()) {
                case RUNNING -> endless(call).add(work);
                case FOR_MEMORY ->
                    root(memory, runtime.nameOf(call.instance.devices().getFirst()))
                            .add(work);
                case IN_LINE -> {
                    ActiveCall holder = holderOfTurn(call);
                    if (holder == null || !isLong(holder.call.unchanged())) {
                        root(queues, "line of program '" + call.program + "'").add(work);
                    } else {
                        follow(holder, work);
                    }
                }
                default -> {
                    if (call.call.waits().isEmpty()) {
                        endless(call).add(work);
                    } else {
                        follow(call.call.waits(), work);
                    }
                }
            }
        }

        private Root endless(ActiveCall call) {
            Root root = root(endless, subject(call));
            root.device = runtime.nameOf(call.instance.devices().getFirst());
            root.hasDeadline |= call.instance.callLimit() != null
                    || invocations != null && invocations.haveCallsDeadline(call.program, call.call.function());
            return root;
        }

        /** The call that has the turn that another waits for. */
        private @Nullable ActiveCall holderOfTurn(ActiveCall waiting) {
            for (ActiveCall each : calls) {
                boolean holds = each.call.state() == PendingCall.State.RUNNING
                        || each.call.state() == PendingCall.State.SUSPENDED;
                if (holds && each.instance.equals(waiting.instance)) {
                    return each;
                }
            }
            return null;
        }

        private static Root root(Map<String, Root> roots, String subject) {
            return roots.computeIfAbsent(subject, _ -> new Root());
        }

        private static Root root(Map<String, Root> roots, String subject, PendingOperation.Wait wait) {
            Root root = root(roots, subject);
            if (root.wait == null) {
                root.wait = wait;
            }
            return root;
        }

        // ---- Problems.

        private void lostDevices(List<Problem> problems) {
            for (Device device : runtime.devices()) {
                if (device.failure() != null) {
                    problems.add(new LostDevice(
                            "device '" + runtime.nameOf(device) + "'",
                            String.valueOf(device.failure()),
                            programs.all().stream()
                                    .filter(each -> each.instances().stream()
                                            .anyMatch(instance ->
                                                    instance.devices().contains(device)))
                                    .map(each -> "program '" + each.source().name() + "' runs on it")
                                    .toList()));
                }
            }
        }

        private void changedFiles(List<Problem> problems) {
            for (ProgramStatus status : programs.statuses()) {
                ProgramSource source = status.source();
                programs.find(source.name(), source.version())
                        .map(Programs.LoadedProgram::failure)
                        .ifPresent(failure ->
                                problems.add(new ChangedFile(subject(source), String.valueOf(failure.getMessage()))));
            }
        }

        private static String subject(ProgramSource source) {
            return "program '%s'%s"
                    .formatted(
                            source.name(),
                            source.version().equals(ProgramSource.DEFAULT_VERSION)
                                    ? ""
                                    : " version " + source.version());
        }

        private Problem ofMemory(String device, Root root) {
            PoolSetStatistics pools = pools(device);
            String holders = holders(pools);
            boolean byHost = pools.pools().stream().anyMatch(each -> each.waitingForHost() > 0)
                    || pools.bytesPersistent() > pools.bytesTransient();
            return byHost
                    ? new SlowConsumer(
                            "device '" + device + "'",
                            runtime.openResults(),
                            pools.bytesPersistent(),
                            holders,
                            root.count,
                            root.chain,
                            root.since)
                    : new MemoryKnot("device '" + device + "'", holders, root.count, root.chain, root.since);
        }

        private PoolSetStatistics pools(String device) {
            return runtime.findDevice(device).orElseThrow().allocator().poolStatistics();
        }

        private static String holders(PoolSetStatistics pools) {
            return pools.consumers().stream()
                    .filter(each -> each.bytesTransient() + each.bytesPersistent() > 0)
                    .map(each -> "%s holds %d bytes"
                            .formatted(
                                    each.consumer().isEmpty() ? "the application" : "program '" + each.consumer() + "'",
                                    each.bytesTransient() + each.bytesPersistent()))
                    .collect(Collectors.joining(", "));
        }

        private void leaks(List<Problem> problems) {
            for (LeakReport.Site site : runtime.leakReport().sites()) {
                problems.add(new Leak(
                        (site.program().isEmpty() ? "the application" : "program '" + site.program() + "'")
                                + (site.place().isEmpty() ? "" : ", created in " + site.place()),
                        site.count()));
            }
        }

        // ---- Lines.

        private String deviceOf(DeviceQueue queue) {
            String name = names.name(queue.axis());
            return name.substring(0, name.lastIndexOf('/'));
        }

        private static String subject(ActiveCall work) {
            return "call of '%s' of program '%s'".formatted(work.call.function(), work.program);
        }

        private String describe(ActiveCall work) {
            List<String> traces =
                    invocations == null ? List.of() : invocations.traces(work.program, work.call.function());
            return subject(work)
                    + (traces.isEmpty() ? "" : " (trace " + traces.getFirst() + ")")
                    + " is " + work.call.state() + " for " + work.call.unchanged()
                    + waits(names.waitsOf(work.call, signallers));
        }

        private String describe(Signallers.Pending work) {
            PendingOperation operation = work.operation();
            return "%s on queue %s"
                            .formatted(operation.name(), names.name(work.queue().axis()))
                    + (operation.function().isEmpty()
                            ? ""
                            : ", of call of '%s' of program '%s',".formatted(operation.function(), operation.program()))
                    + " waits since " + operation.since()
                    + waits(names.waitsOf(operation, signallers));
        }

        private static String waits(List<String> waits) {
            return waits.isEmpty() ? "" : ", for " + String.join(", and ", waits);
        }
    }
}
