package io.github.iree4j.hal.virtual;

import io.github.iree4j.async.FrontierTracker;
import io.github.iree4j.async.SemaphoreOptions;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.frontier.AxisAllocator;
import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.BufferParams;
import io.github.iree4j.hal.Channel;
import io.github.iree4j.hal.ChannelParams;
import io.github.iree4j.hal.Executable;
import io.github.iree4j.hal.ExecutableParams;
import io.github.iree4j.hal.QueueCounters;
import io.github.iree4j.hal.SchedulingDomain;
import io.github.iree4j.hal.contract.StepKernel;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * A random program on virtual devices, run to its end, with all observations.
 *
 * <p>Steps wait for and signal shared timelines with several steps on each, in any order of submission, some of them
 * late; each also signals a private timeline, for reading its frontier. Independent signallers of a timeline do not
 * wait for each other, and a lower value may come late, in any way: promised after a higher value, signalled before it,
 * by a queue, by several or by hand; or too late, and then the timeline fails. A step is an operation of a queue, a
 * part in a collective, or work of the host. An uninterrupted activity of the host (a submission, a step of the clock,
 * a signal by hand) is an action; actions are numbered.
 */
final class RandomProgram implements AutoCloseable {
    /**
     * Features of a program.
     *
     * @param capacity of frontiers
     * @param history of timelines
     * @param external whether there are external signals
     * @param failures whether operations fail
     * @param collectives whether there are channels
     * @param joint whether some points need several signals
     * @param host whether the host works between fences
     * @param loss whether a device is lost
     * @param independent whether the signallers of a timeline are unordered, without waits for each other
     * @param sabotaged whether waits are left out behind the checker's back
     */
    record Options(
            int capacity,
            int history,
            boolean external,
            boolean failures,
            boolean collectives,
            boolean joint,
            boolean host,
            boolean loss,
            boolean independent,
            boolean sabotaged) {
        /** Whether every wait has a single, known producer operation. */
        boolean arePlain() {
            return !external && !failures && !loss && !independent;
        }

        /** Whether frontiers are exact. */
        boolean areTight() {
            return capacity == 64 && history == 64 && arePlain();
        }

        /** Whether frontiers know only waits. */
        boolean areFrugal() {
            return capacity == 64 && history == 64 && !external && !failures && !loss;
        }
    }

    /** A point on a shared timeline. */
    record Point(int timeline, long value) {}

    /**
     * A value reached by the host or from outside, once the timeline is at the predecessor, in one of three ways; or a
     * failure.
     */
    record FromOutside(int timeline, long before, long value, int kind) {
        static final int BY_HAND = 0;
        static final int EXTERNAL = 1;
        static final int EVENT = 2;
        static final int DEADLINE = 3;
    }

    /** The result of a lookup in a timeline after an action; whether the timeline had failed. */
    record Lookup(int action, Point point, long reached, boolean failed, Frontier frontier) {}

    /**
     * The joined history of memory with several last users, possibly unknown users, and whether the memory could be
     * reused without waiting by an event when the history became known, or by any event.
     */
    record Reuse(Event by, BitSet users, boolean unknown, Frontier death, boolean covered, boolean over) {}

    private Event event(String name, @Nullable VirtualDevice device, boolean fifo) {
        Event event = new Event(events.size(), name, device, fifo);
        events.add(event);
        return event;
    }

    /** A requested step. */
    final class Step {
        final int index = steps.size();
        final @Nullable VirtualDevice device; // null for the host
        final int queue;
        final List<Point> waits = new ArrayList<>();
        final List<Point> signals = new ArrayList<>();
        final TimelineSemaphore own = closed(TimelineSemaphore.create(0));
        final @Nullable IreeException failure; // its own failure
        final @Nullable Meeting meeting;
        final int rank;
        final Event first;
        final Event last; // the end is the step's

        Step(@Nullable VirtualDevice device, int queue, @Nullable Meeting meeting, int rank, boolean tail) {
            this.device = device;
            this.queue = queue;
            this.meeting = meeting;
            this.rank = rank;
            this.failure = options.failures && random.nextInt(12) == 0
                    ? IreeException.of(StatusCode.DATA_LOSS, "step " + index)
                    : null;
            boolean stream = device != null && isFifo(device, queue);
            String name = "step " + index;
            this.first = event(name, device, stream);
            if (meeting == null) {
                last = first;
                first.teller = device == null ? null : this; // known to the host
            } else if (tail) {
                last = event(name + ", behind the collective", device, stream);
                last.teller = this;
            } else {
                last = meeting.event;
                meeting.event.teller = this;
            }
            steps.add(this);
        }

        /** Whether the planned failure occurred. */
        boolean hasFailed() {
            return failure != null && (hasTail() ? last.ran : first.ran);
        }

        /** Whether the participant continues after the collective. */
        boolean hasTail() {
            return meeting != null && last != meeting.event;
        }

        @Override
        public String toString() {
            return "step %d on queue %d of %s%s, waits %s, signals %s: %s"
                    .formatted(
                            index,
                            queue,
                            device == null ? "the host" : device.id(),
                            meeting == null ? "" : ", rank %d of %s".formatted(rank, meeting.event.name),
                            waits,
                            signals,
                            first == last ? first : first + " ... " + last);
        }
    }

    /** A collective of a group: of all members, or from one member to another. */
    final class Meeting {
        final Group group;
        final Event event = event("meeting " + events.size(), null, false);
        final boolean all = random.nextBoolean();
        final List<Step> parts = new ArrayList<>();

        Meeting(Group group) {
            this.group = group;
        }
    }

    /** The participants of a channel. */
    record Group(List<Member> members) {}

    /** A participant, with a queue and a buffer to send. */
    record Member(VirtualDevice device, int queue, Channel channel, Buffer buffer) {}

    private final List<AutoCloseable> toClose = new ArrayList<>(); // first: filled by the others
    final Options options;
    final List<Event> events = new ArrayList<>();
    final List<Step> steps = new ArrayList<>();
    final List<VirtualDevice> devices = new ArrayList<>();
    final List<Group> groups = new ArrayList<>();
    final List<TimelineSemaphore> timelines = new ArrayList<>();
    final List<FromOutside> fromOutside = new ArrayList<>();
    /** The last sequence number of each action. */
    final List<Long> sequences = new ArrayList<>(List.of(0L));

    final List<Lookup> lookups = new ArrayList<>();
    final List<Reuse> reuses = new ArrayList<>();
    /** The times when points without a signalling operation were reached, or their event fired: sequence numbers. */
    final Map<Point, Long> outside = new HashMap<>();

    /** The real values of each timeline, with the reaching action. */
    final List<TreeMap<Long, Integer>> reached = new ArrayList<>();

    /** Signalled values, by timeline. */
    private final List<TreeSet<Long>> used = new ArrayList<>();

    final FrontierTracker tracker = closed(FrontierTracker.create());
    IreeException loss = IreeException.of(StatusCode.UNAVAILABLE, "fell off the bus");
    final IreeException deadline = IreeException.of(StatusCode.DEADLINE_EXCEEDED, "too late");

    @Nullable
    VirtualDevice lost;

    final Random random;
    final VirtualClock clock = VirtualClock.stepped();
    final SchedulingDomain domain;
    private final Map<Long, Boolean> fifo = new HashMap<>(); // by axis
    private final Map<VirtualDevice, Executable> kernels = new HashMap<>();
    long[] last = new long[0]; // the greatest signalled value, by timeline

    private final ProgramRun run = new ProgramRun(this);

    // A point with several signallers, while some are missing.
    private @Nullable Point joint;
    private int jointSignalsLeft;

    /** Whether timelines keep every value from the start, even while a single queue uses them. */
    final boolean whole;

    <T extends AutoCloseable> T closed(T resource) {
        toClose.add(resource);
        return resource;
    }

    RandomProgram(long seed, Options options, int operations) {
        this.random = new Random(seed);
        this.options = options;
        this.whole = options.history == 64 && (seed & 1) == 1;
        this.domain = SchedulingDomain.create(AxisAllocator.create(5, 0), tracker, options.capacity);
        makeDevices();
        if (options.collectives) {
            makeGroups();
        }
        makeSteps(operations);
        run.toItsEnd();
    }

    private void makeDevices() {
        VirtualScript script = run.script(slowness(), random.nextInt(3) * 4);
        Object group = new Object();
        int count = 1 + random.nextInt(3);
        for (int d = 0; d < count; d++) {
            VirtualDevice.Builder builder = VirtualDevice.builder()
                    .id("device" + d)
                    .clock(clock)
                    .schedulingDomain(domain)
                    .loader(new StepKernel((index, part) -> run.body(steps.get(index), part)))
                    .script(script);
            if (random.nextInt(3) > 0) {
                builder.directGroup(group);
            }
            int queues = 1 + random.nextInt(4);
            List<Boolean> kinds = new ArrayList<>();
            for (int q = 0; q < queues; q++) {
                boolean stream = random.nextInt(3) > 0;
                kinds.add(stream);
                if (stream) {
                    builder.fifoQueues(1);
                } else {
                    builder.unorderedQueue(1 + random.nextInt(3));
                }
            }
            VirtualDevice device = closed(builder.build());
            devices.add(device);
            for (int q = 0; q < queues; q++) {
                fifo.put(device.queue(q).axis(), kinds.get(q));
            }
        }
    }

    /** The maximum duration of operations by queue index; early and late events need queues of very different speed. */
    private int[] slowness() {
        int all = random.nextInt(8);
        int[] each = {all, all, all, all};
        for (int q = 0; options.independent && q < each.length; q++) {
            each[q] = random.nextBoolean() ? 1 + random.nextInt(4) : 10 + random.nextInt(40);
        }
        return each;
    }

    private boolean isFifo(VirtualDevice device, int queue) {
        return fifo.getOrDefault(device.queue(queue).axis(), false);
    }

    /** The kernel of steps on a device. */
    Executable kernel(VirtualDevice device) {
        return kernels.computeIfAbsent(
                device,
                each -> closed(each.createExecutable(
                        new ExecutableParams(StepKernel.FORMAT, MemorySegment.ofArray(new byte[1])))));
    }

    VirtualDevice anyDevice() {
        return devices.get(random.nextInt(devices.size()));
    }

    private void makeGroups() {
        for (int g = 1 + random.nextInt(2); g > 0; g--) {
            int size = 2 + random.nextInt(3);
            List<Member> members = new ArrayList<>();
            for (int rank = 0; rank < size; rank++) {
                VirtualDevice device = anyDevice();
                members.add(new Member(
                        device,
                        random.nextInt(device.queueCount()),
                        closed(device.createChannel(-1, ChannelParams.of("group" + g, rank, size))),
                        closed(device.allocator().allocate(BufferParams.DEFAULT, 4))));
            }
            groups.add(new Group(members));
        }
    }

    private void makeSteps(int operations) {
        int shared = 1 + random.nextInt(6);
        last = new long[shared];
        for (int i = 0; i < shared; i++) {
            timelines.add(
                    closed(TimelineSemaphore.create(SemaphoreOptions.DEFAULTS.withHistoryCapacity(options.history))));
            if (whole) {
                timelines.getLast().keepHistory();
            }
            used.add(new TreeSet<>());
            reached.add(new TreeMap<>());
        }
        if (options.independent) {
            makeIndependentSteps(operations);
            return;
        }
        int foreign = options.external ? 1 + random.nextInt(2) : 0;
        while (steps.size() < operations || joint != null) {
            if (options.joint && joint == null && random.nextInt(6) == 0) {
                int timeline = random.nextInt(shared);
                joint = new Point(timeline, last[timeline] + 1 + random.nextInt(2));
                jointSignalsLeft = 2 + random.nextInt(2);
                timelines.get(timeline).expectSignals(joint.value, jointSignalsLeft);
            }
            connect(newSteps());
            if (foreign > 0 && random.nextInt(6) == 0) {
                int timeline = random.nextInt(shared);
                if (joint == null || joint.timeline != timeline) {
                    foreign--;
                    fromOutside.add(new FromOutside(timeline, last[timeline], ++last[timeline], random.nextInt(3)));
                }
            }
        }
    }

    /** An operation, or the parts of a collective. */
    private List<Step> newSteps() {
        if (!groups.isEmpty() && random.nextInt(5) == 0) {
            return meeting(groups.get(random.nextInt(groups.size()))).parts;
        }
        if (options.host && random.nextInt(8) == 0) {
            return List.of(new Step(null, 0, null, 0, false));
        }
        VirtualDevice device = anyDevice();
        return List.of(new Step(device, random.nextInt(device.queueCount()), null, 0, false));
    }

    /** Steps with waits for earlier signals, or for lower values, and with signals in any order. */
    private void makeIndependentSteps(int operations) {
        int order = random.nextInt(4); // how many in four signals wait for the value below
        while (steps.size() < operations || joint != null) {
            if (options.joint && joint == null && random.nextInt(6) == 0) {
                int timeline = random.nextInt(timelines.size());
                joint = new Point(timeline, unused(timeline));
                jointSignalsLeft = 2 + random.nextInt(2);
                timelines.get(timeline).expectSignals(joint.value, jointSignalsLeft);
            }
            connectFreely(newSteps(), order);
            if (random.nextInt(6) == 0) {
                int timeline = random.nextInt(timelines.size());
                long before = random.nextBoolean() ? 0 : random.nextInt((int) last[timeline] + 1);
                int kind = options.external ? random.nextInt(3) : FromOutside.BY_HAND;
                if (options.failures && random.nextInt(4) == 0) {
                    kind = FromOutside.DEADLINE;
                }
                long value = unused(timeline);
                fromOutside.add(new FromOutside(timeline, Math.min(before, value - 1), value, kind));
                last[timeline] = Math.max(last[timeline], value);
            }
        }
    }

    /** A value without a signaller: above all others, usually leaving a gap, or inside a gap. */
    private long unused(int timeline) {
        TreeSet<Long> taken = used.get(timeline);
        long value = last[timeline] + 1 + random.nextInt(3);
        if (last[timeline] > 0 && random.nextInt(5) < 2) {
            long lower = 1 + random.nextInt((int) last[timeline]);
            value = taken.contains(lower) ? value : lower;
        }
        while (!taken.add(value)) {
            value++;
        }
        return value;
    }

    private void connectFreely(List<Step> together, int order) {
        Map<Integer, Long> greatest = new HashMap<>();
        for (Step step : together) {
            for (int w = random.nextInt(4); w > 0; w--) {
                int timeline = random.nextInt(timelines.size());
                if (last[timeline] > 0) {
                    wait(step, new Point(timeline, 1 + random.nextInt((int) last[timeline])));
                }
            }
            if (joint != null && jointSignalsLeft > 0 && random.nextBoolean()) {
                step.signals.add(joint);
                if (--jointSignalsLeft == 0) {
                    greatest.merge(joint.timeline, joint.value, Math::max);
                }
            }
            for (int s = random.nextInt(3); s > 0; s--) {
                int timeline = random.nextInt(timelines.size());
                if (step.signals.stream().noneMatch(point -> point.timeline == timeline)) {
                    long value = unused(timeline);
                    Long below = used.get(timeline).lower(value);
                    if (below != null && below <= last[timeline] && random.nextInt(4) < order) {
                        wait(step, new Point(timeline, below));
                    }
                    step.signals.add(new Point(timeline, value));
                    greatest.merge(timeline, value, Math::max);
                }
            }
        }
        if (jointSignalsLeft == 0) {
            joint = null;
        }
        greatest.forEach((timeline, value) -> last[timeline] = Math.max(last[timeline], value));
    }

    private Meeting meeting(Group group) {
        Meeting meeting = new Meeting(group);
        int size = group.members.size();
        List<Integer> ranks = new ArrayList<>();
        if (meeting.all) {
            for (int rank = 0; rank < size; rank++) {
                ranks.add(rank);
            }
        } else {
            int from = random.nextInt(size);
            ranks.add(from);
            ranks.add((from + 1 + random.nextInt(size - 1)) % size);
        }
        for (int rank : ranks) {
            Member member = group.members.get(rank);
            boolean tail =
                    !meeting.parts.isEmpty() && random.nextBoolean(); // the first participant observes the meeting
            meeting.parts.add(new Step(member.device, member.queue, meeting, rank, tail));
        }
        return meeting;
    }

    /** Gives waits and signals to a group of independent steps. */
    private void connect(List<Step> together) {
        int shared = timelines.size();
        Set<Integer> taken = new HashSet<>();
        Map<Integer, Long> reached = new HashMap<>();
        if (joint != null) {
            taken.add(joint.timeline);
        }
        for (Step step : together) {
            for (int w = random.nextInt(4); w > 0; w--) {
                int timeline = random.nextInt(shared);
                if (last[timeline] > 0) {
                    // Mostly recent values, sometimes old ones.
                    long back = random.nextInt(3) == 0 ? random.nextInt((int) last[timeline]) : random.nextInt(2);
                    wait(step, new Point(timeline, Math.max(1, last[timeline] - back)));
                }
            }
            if (joint != null && jointSignalsLeft > 0) {
                signal(step, joint);
                if (--jointSignalsLeft == 0) {
                    reached.put(joint.timeline, joint.value);
                }
            }
            for (int s = random.nextInt(3); s > 0; s--) {
                int timeline = random.nextInt(shared);
                if (taken.add(timeline)) {
                    long value = last[timeline] + 1 + random.nextInt(2);
                    signal(step, new Point(timeline, value));
                    reached.put(timeline, value);
                }
            }
        }
        if (jointSignalsLeft == 0) {
            joint = null;
        }
        reached.forEach((timeline, value) -> last[timeline] = value);
    }

    /** A step on a timeline waits for the last value of the timeline. */
    private void signal(Step step, Point point) {
        if (last[point.timeline] > 0) {
            wait(step, new Point(point.timeline, last[point.timeline]));
        }
        step.signals.add(point);
    }

    private static void wait(Step step, Point point) {
        for (int i = 0; i < step.waits.size(); i++) {
            if (step.waits.get(i).timeline == point.timeline) {
                if (step.waits.get(i).value < point.value) {
                    step.waits.set(i, point);
                }
                return;
            }
        }
        step.waits.add(point);
    }

    /** Sums up the decisions of the queues. */
    long[] decisions() {
        long[] sums = new long[6];
        for (VirtualDevice device : devices) {
            for (int q = 0; q < device.queueCount(); q++) {
                QueueCounters counters = device.queue(q).counters();
                sums[0] += counters.reached();
                sums[1] += counters.elidedFifo();
                sums[2] += counters.elidedFrontier();
                sums[3] += counters.deviceWaits();
                sums[4] += counters.deferred();
                sums[5] += counters.covered();
            }
        }
        return sums;
    }

    /** A readable description. */
    String describe() {
        StringBuilder text = new StringBuilder();
        for (VirtualDevice device : devices) {
            text.append("%n%s, queues %s".formatted(device.id(), queueKinds(device)));
        }
        for (int t = 0; t < timelines.size(); t++) {
            text.append("%ntimeline %d had %s, failure %s"
                    .formatted(t, reached.get(t).keySet(), timelines.get(t).failure()));
        }
        fromOutside.forEach(each -> text.append("%n%s".formatted(each)));
        steps.forEach(each -> text.append("%n%s".formatted(each)));
        return text.toString();
    }

    private String queueKinds(VirtualDevice device) {
        return IntStream.range(0, device.queueCount())
                .mapToObj(queue -> isFifo(device, queue) ? "FIFO" : "unordered")
                .collect(Collectors.joining(", "));
    }

    @Override
    public void close() {
        for (AutoCloseable resource : toClose.reversed()) {
            try {
                resource.close();
            } catch (Exception e) {
                throw new AssertionError(e);
            }
        }
    }
}
