package io.github.iree4j.spring.problems;

import io.github.iree4j.IreeRuntime;
import io.github.iree4j.Program;
import io.github.iree4j.api.NotForApplications;
import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.DeviceQueue;
import io.github.iree4j.hal.PendingOperation;
import io.github.iree4j.hal.pool.PoolSetStatistics;
import io.github.iree4j.monitor.LeakReport;
import io.github.iree4j.monitor.PendingCall;
import io.github.iree4j.spring.InvocationService;
import io.github.iree4j.spring.LoadedProgram;
import io.github.iree4j.spring.ProgramSource;
import io.github.iree4j.spring.ProgramStatus;
import io.github.iree4j.spring.Programs;
import io.github.iree4j.status.DurationText;
import io.github.iree4j.status.Known;
import io.github.iree4j.status.StatusCode;
import io.github.iree4j.task.ProcessExecutor;
import java.time.Duration;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Finds problems in the state of a runtime at one moment. Each piece of work unchanged for too long is followed to its
 * roots: the awaited point, the operation or call to signal the point, the point awaited by this work, and so on;
 * and from a call in line, to the call with the turn. Work with the same root forms one problem. A line is a
 * separate root only before that turn: a call that does not end is not preceded by a problem of its line. Remembers
 * the completed work of queues from one look to the next. Thread-safe.
 *
 * <p>Work moves during a look. A point is reported as unsignalled only when unsignalled at a second look, begun after
 * the end of the first: points signalled meanwhile are no longer awaited. No such point is reported while a queue has
 * more operations than are examined. A look costs time and memory in proportion to the operations and calls, and to the
 * work behind each root.
 */
@NotForApplications
public final class ProblemFinder {

    /** The maximum number of reported roots of a kind: the roots of the oldest work. */
    private static final int ROOTS = 100;

    /** The maximum number of lines of a chain. */
    private static final int LINES = 50;

    private final IreeRuntime runtime;
    private final Programs programs;
    private final @Nullable InvocationService invocations;
    private final Iterable<ProblemSource> sources;
    private final int most; // operations of a queue
    private final Map<Long, Standstill> standstills = new HashMap<>(); // by awaited axis; guarded by this

    /**
     * Creates a finder.
     *
     * @param runtime the runtime
     * @param programs the runtime's programs
     * @param invocations knows the traces of calls; null for none
     */
    public ProblemFinder(IreeRuntime runtime, Programs programs, @Nullable InvocationService invocations) {
        this(runtime, programs, invocations, List.of());
    }

    /**
     * Creates a finder.
     *
     * @param runtime the runtime
     * @param programs the runtime's programs
     * @param invocations knows the traces of calls; null for none
     * @param sources know further problems; iterated at each look
     */
    public ProblemFinder(
            IreeRuntime runtime,
            Programs programs,
            @Nullable InvocationService invocations,
            Iterable<ProblemSource> sources) {
        this(runtime, programs, invocations, sources, Signallers.MOST);
    }

    /** Creates a finder examining at most the given number of operations of a queue. */
    ProblemFinder(
            IreeRuntime runtime,
            Programs programs,
            @Nullable InvocationService invocations,
            Iterable<ProblemSource> sources,
            int most) {
        this.sources = sources;
        this.most = most;
        this.runtime = runtime;
        this.programs = programs;
        this.invocations = invocations;
    }

    /** An awaited point. */
    private record Point(long semaphore, long value) {
        static Point of(PendingOperation.Wait wait) {
            return new Point(wait.semaphore(), wait.value());
        }
    }

    /**
     * Looks for problems.
     *
     * @param patience time without change after which work is reported
     * @return the problems of this moment
     */
    public List<Problem> find(Duration patience) {
        Look look = new Look(patience);
        List<Problem> problems =
                look.suspects().isEmpty() ? look.problems(Set.of()) : new Look(patience).problems(look.suspects());
        sources.forEach(each -> problems.addAll(each.find(patience)));
        return problems;
    }

    /** Returns the calls in flight, of all programs. */
    List<ActiveCall> calls() {
        return ActiveCall.all(runtime, programs);
    }

    /** Returns whether a program or a worker runs, for a call with time left before the deadline. A GPU gives no such information. */
    boolean computes(List<ActiveCall> calls) {
        ProcessExecutor workers = runtime.monitor().workers().executor();
        boolean runs = workers.sleepingWorkers() < workers.workers()
                || calls.stream().anyMatch(each -> each.call().state() == PendingCall.State.RUNNING);
        return runs && (invocations == null || !invocations.monitor().areCallsLate());
    }

    /** Returns whether a program can serve new calls although nothing advances. */
    Known newCallsCanBeServed() {
        return new NewCalls(runtime, programs).canBeServed();
    }

    /** Returns whether there are devices, and none works: all calls fail. */
    boolean areAllDevicesLost() {
        List<Device> devices = runtime.devices();
        return !devices.isEmpty()
                && devices.stream().allMatch(device -> device.failure().isPresent());
    }

    /** Returns the amount of completed work; grows with every advance. */
    long completed() {
        long completed = invocations == null ? 0 : invocations.monitor().endedCalls();
        for (Device device : runtime.devices()) {
            for (int i = 0; i < device.queueCount(); i++) {
                completed += device.queue(i).counters().retired();
            }
        }
        return completed;
    }

    /** The completed epoch of a queue, and the start of the standstill. */
    private record Standstill(long completed, long since) {}

    /** Returns the queues, of this process or another, whose work is awaited without any completion for too long. */
    private synchronized Set<Long> stuckQueues(Set<Long> awaited, Duration patience, QueueNames names) {
        long now = System.nanoTime();
        standstills.keySet().retainAll(awaited);
        Set<Long> stuck = new HashSet<>();
        for (long axis : awaited) {
            long completed = names.completed(axis);
            Standstill before = standstills.get(axis);
            if (before == null || before.completed != completed) {
                standstills.put(axis, new Standstill(completed, now));
            } else if (now - before.since >= patience.toNanos()) {
                stuck.add(axis);
            }
        }
        return stuck;
    }

    /** A look at the runtime. Operations have the first numbers, calls the next, within each kind the longest waiting first. */
    private final class Look {
        private final Duration patience;
        private final QueueNames names = new QueueNames(runtime);
        private final Signallers signallers = new Signallers(runtime, programs, most, most);
        private final List<ActiveCall> calls = signallers.calls();
        private final List<Signallers.Submitted> operations = signallers.operations();
        private final WaitGraph graph = new WaitGraph(operations.size() + calls.size());
        private final WaitingWork works = new WaitingWork(operations, calls, names, signallers, invocations);
        private final ProblemLinks links = new ProblemLinks(graph, works);
        private final Map<Signaller, Integer> numbers = new IdentityHashMap<>();
        private final Map<Program, Integer> holders = new IdentityHashMap<>(); // of the turn: the number of the call
        private final Set<Long> stuck;
        private final Map<Point, Root> unsignalled = new LinkedHashMap<>();
        private final List<Root> deadlocks = new ArrayList<>();
        private final Set<Point> suspects = new HashSet<>(); // the points of {@code unsignalled} and {@code deadlocks}
        private final Map<String, Root> queues = new LinkedHashMap<>();
        private final Map<String, Root> memory = new LinkedHashMap<>(); // by device, like the next
        private final Map<String, Root> admission = new LinkedHashMap<>();
        private final Map<String, Root> endless = new LinkedHashMap<>();

        Look(Duration patience) {
            this.patience = patience;
            Set<Long> awaited = new HashSet<>();
            operations.forEach(each -> producers(each.waits(), awaited));
            calls.forEach(each -> producers(each.waits(), awaited));
            stuck = stuckQueues(awaited, patience, names);
            for (int i = 0; i < operations.size(); i++) {
                numbers.put(operations.get(i), i);
            }
            for (int i = 0; i < calls.size(); i++) {
                numbers.put(calls.get(i), operations.size() + i);
                PendingCall.State state = calls.get(i).call().state();
                if (state == PendingCall.State.RUNNING || state == PendingCall.State.SUSPENDED) {
                    holders.putIfAbsent(calls.get(i).instance(), operations.size() + i);
                }
            }
            for (int i = 0; i < operations.size(); i++) {
                Signallers.Submitted each = operations.get(i);
                if (each.operation().forMemory()) {
                    root(memory, deviceOf(each.queue())).addForMemory(i, each.operation(), patience);
                } else {
                    follow(i, each.operation().waits());
                }
            }
            for (int i = 0; i < calls.size(); i++) {
                follow(operations.size() + i, calls.get(i));
            }
            findDeadlocks();
        }

        private static void producers(List<PendingOperation.Wait> waits, Set<Long> axes) {
            for (PendingOperation.Wait each : waits) {
                if (each.producerEpoch() != 0) {
                    axes.add(each.producerAxis());
                }
            }
        }

        private boolean isLong(Duration time) {
            return time.compareTo(patience) >= 0;
        }

        /** Returns the points without an apparent signaller. */
        Set<Point> suspects() {
            return suspects;
        }

        /** Returns the problems; unsignalled points count only if also found by an earlier look. */
        List<Problem> problems(Set<Point> known) {
            List<Problem> problems = new ArrayList<>();
            lostDevices(problems);
            changedFiles(problems);
            unsignalled.keySet().retainAll(known);
            affected(byTimeline(unsignalled.values(), known)).forEach((subject, root) -> {
                PendingOperation.Wait wait = Objects.requireNonNull(root.wait);
                problems.add(new UnsignalledFence(
                        subject,
                        wait.value(),
                        wait.reached(),
                        wait.promised(),
                        root.count,
                        links.toMissing(wait, root.first),
                        root.chain,
                        root.since));
            });
            affected(byTimeline(deadlocks, known)).forEach((subject, root) -> {
                PendingOperation.Wait wait = Objects.requireNonNull(root.wait);
                problems.add(new Deadlock(
                        subject,
                        wait.value(),
                        wait.reached(),
                        root.count,
                        links.round(root.cycle),
                        root.chain,
                        root.since));
            });
            affected(queues)
                    .forEach((subject, root) ->
                            problems.add(new StarvedQueue(subject, root.cause, root.count, root.chain, root.since)));
            affected(memory).forEach((device, root) -> problems.add(ofMemory(device, root)));
            affected(admission)
                    .forEach((device, root) -> problems.add(new UnknownNeed(
                            "device '" + device + "'",
                            root.awaited(),
                            DeviceMemoryText.held(pools(device)),
                            root.count,
                            root.chain,
                            root.since)));
            affected(endless)
                    .forEach((subject, root) -> problems.add(new EndlessCall(
                            subject,
                            root.count,
                            root.chain,
                            DeviceMemoryText.holders(pools(root.device)),
                            root.runs,
                            root.call,
                            root.hasDeadline)));
            leaks(problems);
            return problems;
        }

        /** Returns the roots with known points by the names of the timelines; of several with the same timeline the first, with the work of all. */
        private static Map<String, Root> byTimeline(Collection<Root> roots, Set<Point> known) {
            Map<String, Root> found = new LinkedHashMap<>();
            for (Root each : roots) {
                PendingOperation.Wait wait = Objects.requireNonNull(each.wait);
                if (known.contains(Point.of(wait))) {
                    found.computeIfAbsent(PendingOperation.nameOf(wait.semaphore(), wait.timeline()), _ -> each)
                            .first
                            .or(each.first);
                }
            }
            return found;
        }

        /** Returns the first roots for which work has waited too long, together with this work. */
        private Map<String, Root> affected(Map<String, Root> roots) {
            Map<String, Root> affected = new LinkedHashMap<>();
            roots.forEach((subject, root) -> {
                if (affected.size() == ROOTS) {
                    return;
                }
                BitSet behind = graph.behind(root.first);
                for (int each = behind.nextSetBit(0); each >= 0; each = behind.nextSetBit(each + 1)) {
                    Duration age = works.age(each);
                    if (isLong(age) || isBehindALongCall(each)) {
                        root.count++;
                        root.since = root.since.compareTo(age) < 0 ? age : root.since;
                        if (root.chain.size() < LINES) {
                            root.chain.add(works.line(each));
                        }
                    }
                }
                if (root.count > 0) {
                    affected.put(subject, root);
                }
            });
            return affected;
        }

        /** Returns whether a call is in line behind a long call. Such a call, even if too recent to be a problem by itself, is affected. */
        private boolean isBehindALongCall(int work) {
            if (work < operations.size()) {
                return false;
            }
            ActiveCall call = calls.get(work - operations.size());
            Integer holder = call.call().state() == PendingCall.State.IN_LINE ? holders.get(call.instance()) : null;
            return holder != null && isLong(works.age(holder));
        }

        // ---- Roots.

        private void follow(int work, List<PendingOperation.Wait> waits) {
            for (PendingOperation.Wait wait : waits) {
                if (!wait.promised()) {
                    followUnpromised(work, wait);
                } else if (wait.producerEpoch() == 0) { // promised from outside the runtime
                    unsignalled(wait).first.set(work);
                } else if (stuck.contains(wait.producerAxis())) {
                    root(
                                    queues,
                                    "queue " + names.name(wait.producerAxis()),
                                    () -> "it is at operation %d, and %d is awaited"
                                            .formatted(names.completed(wait.producerAxis()), wait.producerEpoch()))
                            .first
                            .set(work);
                }
            }
        }

        /** Follows a wait without a promise: unordered queues make no promises. */
        private void followUnpromised(int work, PendingOperation.Wait wait) {
            switch (signallers.of(wait)) {
                case null -> {
                    if (signallers.unread().isEmpty()) {
                        unsignalled(wait).first.set(work);
                    }
                }
                case ActiveCall call -> followCall(work, Objects.requireNonNull(numbers.get(call)), wait);
                case Signallers.Submitted signaller -> {
                    if (signaller.issued()) {
                        followIssued(work, signaller);
                    } else {
                        graph.add(work, Objects.requireNonNull(numbers.get(signaller)), wait);
                    }
                }
            }
        }

        /** Follows a wait to the call that is to signal the point, unless the call advances. */
        private void followCall(int work, int call, PendingOperation.Wait wait) {
            if (!works.waits(call).isEmpty() || isLong(works.age(call))) {
                graph.add(work, call, wait);
            }
        }

        /** Follows a wait to the operation in flight that is to signal the point, unless the operation is recent. */
        private void followIssued(int work, Signallers.Submitted signaller) {
            PendingOperation operation = signaller.operation();
            if (isLong(operation.since())) {
                root(
                                queues,
                                "%s on queue %s"
                                        .formatted(
                                                operation.name(),
                                                names.name(signaller.queue().axis())),
                                () -> "it was issued " + DurationText.rounded(operation.since()) + " ago")
                        .first
                        .set(work);
            }
        }

        private Root unsignalled(PendingOperation.Wait wait) {
            suspects.add(Point.of(wait));
            return unsignalled.computeIfAbsent(Point.of(wait), _ -> new Root(wait, ""));
        }

        /** Finds cycles of waiting operations. */
        private void findDeadlocks() {
            BitSet deadlocked = graph.deadlocked();
            BitSet left = (BitSet) deadlocked.clone();
            for (int start = left.nextSetBit(0);
                    start >= 0 && deadlocks.size() < ROOTS;
                    start = left.nextSetBit(start + 1)) {
                BitSet members = new BitSet();
                PendingOperation.Wait named = null;
                List<WaitGraph.Edge> cycle = graph.cycle(start, deadlocked);
                for (WaitGraph.Edge each : cycle) {
                    members.set(each.waiter());
                    PendingOperation.Wait wait = each.awaited();
                    if (wait != null) {
                        suspects.add(Point.of(wait));
                        named = named == null || named.timeline().isEmpty() ? wait : named;
                    }
                }
                if (named != null) {
                    Root deadlock = new Root(named, "");
                    deadlock.first.or(members);
                    deadlock.cycle = cycle;
                    deadlocks.add(deadlock);
                }
                left.andNot(graph.behind(members));
            }
        }

        private void follow(int work, ActiveCall call) {
            switch (call.call().state()) {
                case RUNNING -> endless(work, call);
                case FOR_ADMISSION, FOR_MEMORY -> {
                    if (call.call().waits().isEmpty()) {
                        boolean isShort = call.call().state() == PendingCall.State.FOR_MEMORY;
                        root(isShort ? memory : admission, deviceOf(call)).addForMemory(work, call.call(), patience);
                    } else { // admitted by then at the latest
                        follow(work, call.call().waits());
                    }
                }
                case IN_LINE -> {
                    Duration age = call.call().unchanged();
                    Integer holder = holders.get(call.instance());
                    if (holder != null && isLong(works.age(holder))) {
                        graph.add(work, holder, null);
                    } else if (isLong(holder == null ? age : age.minus(works.age(holder)))) {
                        root(
                                        queues,
                                        "line of program '" + call.program() + "'",
                                        () -> "it is busy with work that began before")
                                .first
                                .set(work);
                    }
                }
                default -> {
                    if (call.call().waits().isEmpty()) {
                        endless(work, call);
                    } else {
                        follow(work, call.call().waits());
                    }
                }
            }
        }

        private void endless(int work, ActiveCall call) {
            Root root = root(endless, WaitingWork.subject(call));
            root.first.set(work);
            if (root.call == 0 || root.runs.compareTo(call.call().unchanged()) < 0) {
                root.call = call.call().id();
                root.runs = call.call().unchanged();
            }
            root.device = deviceOf(call);
            root.hasDeadline |= call.instance().timeout().isPresent()
                    || invocations != null
                            && invocations
                                    .monitor()
                                    .haveCallsDeadline(
                                            call.program(), call.call().function());
        }

        private static Root root(Map<String, Root> roots, String subject) {
            return root(roots, subject, () -> "");
        }

        private static Root root(Map<String, Root> roots, String subject, Supplier<String> cause) {
            return roots.computeIfAbsent(subject, _ -> new Root(null, cause.get()));
        }

        // ---- Problems.

        private void lostDevices(List<Problem> problems) {
            for (Device device : runtime.devices()) {
                device.failure()
                        .ifPresent(failure -> problems.add(new LostDevice(
                                "device '" + runtime.monitor().devices().nameOf(device) + "'",
                                failure.toString(),
                                programs.all().stream()
                                        .filter(each -> each.instances().stream()
                                                .anyMatch(instance ->
                                                        instance.devices().contains(device)))
                                        .map(each -> "program '" + each.source().name() + "' runs on it")
                                        .toList())));
            }
        }

        private void changedFiles(List<Problem> problems) {
            for (ProgramStatus status : programs.statuses()) {
                ProgramSource source = status.source();
                programs.find(source.name(), source.version())
                        .flatMap(LoadedProgram::failure)
                        .filter(failure -> failure.code() == StatusCode.DATA_LOSS) // known to be changed
                        .ifPresent(failure -> problems.add(new ChangedFile(
                                subject(source),
                                source.name(),
                                source.version(),
                                String.valueOf(failure.getMessage()))));
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
            String held = DeviceMemoryText.held(pools);
            boolean byHost = pools.pools().stream().anyMatch(each -> each.waitingForHost() > 0)
                    || pools.bytesPersistent() > pools.bytesTransient();
            return byHost
                    ? new SlowConsumer(
                            "device '" + device + "'",
                            runtime.monitor().openTensors(),
                            pools.bytesPersistent(),
                            root.awaited(),
                            held,
                            root.count,
                            root.chain,
                            root.since)
                    : new MemoryDeadlock(
                            "device '" + device + "'", root.awaited(), held, root.count, root.chain, root.since);
        }

        private PoolSetStatistics pools(String device) {
            return runtime.monitor()
                    .devices()
                    .find(device)
                    .orElseThrow()
                    .allocator()
                    .poolStatistics();
        }

        private void leaks(List<Problem> problems) {
            for (LeakReport.Site site : runtime.monitor().leaks().sites()) {
                problems.add(new Leak(
                        (site.program().isEmpty() ? "the application" : "program '" + site.program() + "'")
                                + (site.place().isEmpty() ? "" : ", created in " + site.place()),
                        site.count()));
            }
        }

        private String deviceOf(DeviceQueue queue) {
            String name = names.name(queue.axis());
            return name.substring(0, name.lastIndexOf('/'));
        }

        private String deviceOf(ActiveCall call) {
            return runtime.monitor().devices().nameOf(call.instance().devices().getFirst());
        }
    }
}
