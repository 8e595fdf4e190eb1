package io.github.iree4j.hal.virtual;

import io.github.iree4j.async.Fence;
import io.github.iree4j.async.FrontierTracker;
import io.github.iree4j.async.SemaphoreOptions;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.frontier.AxisAllocator;
import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.BufferParams;
import io.github.iree4j.hal.BufferRef;
import io.github.iree4j.hal.Channel;
import io.github.iree4j.hal.ChannelParams;
import io.github.iree4j.hal.Collective;
import io.github.iree4j.hal.CommandBuffer;
import io.github.iree4j.hal.DispatchConfig;
import io.github.iree4j.hal.Executable;
import io.github.iree4j.hal.ExecutableParams;
import io.github.iree4j.hal.HostSpan;
import io.github.iree4j.hal.QueueCounters;
import io.github.iree4j.hal.QueueOperation;
import io.github.iree4j.hal.SchedulingDomain;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A random program on virtual devices, run to its end, and everything that was seen of it.
 *
 * <p>Steps wait for and signal shared timelines that several of them advance, in any order of submission, some of them late; each also
 * signals a timeline of its own, from which its frontier is read. A step is an operation of a queue, a part in a collective, or work of
 * the host. What the host does in one go (a submission, one step of the clock, a signal of its own) is an action; actions are numbered.
 */
final class RandomProgram implements AutoCloseable {
    /**
     * What a program has.
     *
     * @param capacity of frontiers
     * @param history of timelines
     * @param external whether somebody outside signals
     * @param failures whether operations fail
     * @param collectives whether there are channels
     * @param joint whether some points are reached with the last of several signals
     * @param host whether the host works between fences
     * @param loss whether a device is lost
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
            boolean sabotaged) {
        /** Whether everything that is waited for is done by an operation. */
        boolean arePlain() {
            return !external && !failures && !loss;
        }

        /** Whether frontiers know exactly what is true. */
        boolean areTight() {
            return capacity == 64 && history == 64 && arePlain();
        }
    }

    /** A point on a shared timeline. */
    record Point(int timeline, long value) {}

    /** What a timeline said about a value after an action. */
    record Lookup(int action, Point point, long reached, Frontier frontier) {}

    /**
     * The joined history of memory that several used last, some of them unknown perhaps, and whether it could be reused without waiting
     * by an event when that became known, or by anybody.
     */
    record Reuse(Event by, BitSet users, boolean unknown, Frontier death, boolean covered, boolean over) {}

    /** Has a place on an axis: an operation, a collective, work of the host. Sequence numbers and actions start at 1; 0 is never. */
    final class Event {
        final int index = events.size();
        final String name;
        final boolean fifo;
        final @Nullable VirtualDevice device;
        long started;
        long ended;
        boolean ran; // else it never did, or its device was lost before
        int issuedBy; // the action after which its frontier was known
        int knewBy; // the action after which nothing more was imported: of the issue, on an unordered queue of the
        // start
        int completedBy; // the action after which the host knew of its end
        Frontier frontier = Frontier.EMPTY;
        /** Of the events known when this one became known those whose frontier it covered then. */
        final BitSet covered = new BitSet();

        final BitSet notCovered = new BitSet();

        @Nullable
        QueueOperation operation; // once it ran

        /** Where the frontier can be read before that: who signals when this is over. */
        @Nullable
        Step teller;

        Event(String name, @Nullable VirtualDevice device, boolean fifo) {
            this.name = name;
            this.device = device;
            this.fifo = fifo;
            events.add(this);
        }

        boolean isOver() {
            return ended > 0;
        }

        long axis() {
            return frontier.producerAxis();
        }

        long epoch() {
            return frontier.producerEpoch();
        }

        private @Nullable Frontier known() {
            if (operation != null) {
                return operation.frontier();
            }
            return teller == null ? null : teller.own.frontierAt(1);
        }

        @Override
        public String toString() {
            return "%s (%s, ran %d to %d, issued by action %d, completed by %d) %s"
                    .formatted(name, fifo ? "FIFO" : "unordered", started, ended, issuedBy, completedBy, frontier);
        }
    }

    /** What was asked for. */
    final class Step {
        final int index = steps.size();
        final @Nullable VirtualDevice device; // null when the host does it
        final int queue;
        final List<Point> waits = new ArrayList<>();
        final List<Point> signals = new ArrayList<>();
        final TimelineSemaphore own = closed(TimelineSemaphore.create(0));
        final @Nullable IreeException failure; // its own
        final @Nullable Meeting meeting;
        final int rank;
        final Event first;
        final Event last; // when it is over, the step is

        Step(@Nullable VirtualDevice device, int queue, @Nullable Meeting meeting, int rank, boolean tail) {
            this.device = device;
            this.queue = queue;
            this.meeting = meeting;
            this.rank = rank;
            this.failure = options.failures && random.nextInt(12) == 0
                    ? new IreeException(StatusCode.DATA_LOSS, "step " + index)
                    : null;
            boolean stream = device != null && isFifo(device, queue);
            String name = "step " + index;
            this.first = new Event(name, device, stream);
            if (meeting == null) {
                last = first;
                first.teller = device == null ? null : this; // the host says it itself
            } else if (tail) {
                last = new Event(name + ", behind the collective", device, stream);
                last.teller = this;
            } else {
                last = meeting.event;
                meeting.event.teller = this;
            }
            steps.add(this);
        }

        /** Whether the own failure came about. */
        boolean hasFailed() {
            return failure != null && (hasTail() ? last.ran : first.ran);
        }

        /** Whether it goes on behind its collective. */
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

    /** A collective of a group: of all its members, or from one to another. */
    final class Meeting {
        final Group group;
        final Event event = new Event("meeting " + events.size(), null, false);
        final boolean all = random.nextBoolean();
        final List<Step> parts = new ArrayList<>();

        Meeting(Group group) {
            this.group = group;
        }
    }

    /** Who takes part in the collectives of one channel. */
    record Group(List<Member> members) {}

    /** A participant, with a queue that it uses and something to send. */
    record Member(VirtualDevice device, int queue, Channel channel, Buffer buffer) {}

    private final List<AutoCloseable> toClose = new ArrayList<>(); // first: the others fill it
    final Options options;
    final List<Event> events = new ArrayList<>();
    final List<Step> steps = new ArrayList<>();
    final List<VirtualDevice> devices = new ArrayList<>();
    final List<Group> groups = new ArrayList<>();
    final List<TimelineSemaphore> timelines = new ArrayList<>();
    final List<Lookup> lookups = new ArrayList<>();
    final List<Reuse> reuses = new ArrayList<>();
    /** When points that no operation signals were reached, or their event fired: sequence numbers. */
    final Map<Point, Long> outside = new HashMap<>();

    final FrontierTracker tracker = closed(FrontierTracker.create());
    final IreeException loss = new IreeException(StatusCode.UNAVAILABLE, "fell off the bus");

    @Nullable
    VirtualDevice lost;

    private final Random random;
    private final VirtualClock clock = VirtualClock.stepped();
    private final SchedulingDomain domain;
    private final Map<Long, Boolean> fifo = new HashMap<>(); // by axis
    private final Map<VirtualDevice, Executable> kernels = new HashMap<>();
    private final List<Runnable> outsideActions = new ArrayList<>();
    private final Map<QueueOperation, long[]> times = new HashMap<>(); // started, ended, action of the start
    private @Nullable QueueOperation ending;
    private long[] last = new long[0]; // the greatest value that anybody signals, by timeline
    private long sequence;
    private int action;

    // A point that several signal, while there are fewer than it takes.
    private @Nullable Point joint;
    private int jointSignalsLeft;

    private <T extends AutoCloseable> T closed(T resource) {
        toClose.add(resource);
        return resource;
    }

    RandomProgram(long seed, Options options, int operations) {
        this.random = new Random(seed);
        this.options = options;
        this.domain = SchedulingDomain.create(AxisAllocator.create(5, 0), tracker, options.capacity);
        makeDevices();
        if (options.collectives) {
            makeGroups();
        }
        makeSteps(operations);
        run();
    }

    private void makeDevices() {
        int slowest = random.nextInt(8);
        int laziest = random.nextInt(3) * 4;
        VirtualScript script = new VirtualScript() {
            @Override
            public long duration(int queue, long number, QueueOperation operation) {
                times.put(operation, new long[] {++sequence, 0, action + 1});
                return slowest == 0 ? 1 : random.nextInt(slowest);
            }

            @Override
            public long completionDelay(int queue, long number, QueueOperation operation) {
                return laziest == 0 ? 0 : random.nextInt(laziest);
            }

            @Override
            public @Nullable IreeException failure(int queue, long number, QueueOperation operation) {
                times.get(operation)[1] = ++sequence;
                ending = operation;
                return null;
            }
        };
        Object group = new Object();
        int count = 1 + random.nextInt(3);
        for (int d = 0; d < count; d++) {
            VirtualDevice.Builder builder = VirtualDevice.builder()
                    .id("device" + d)
                    .clock(clock)
                    .schedulingDomain(domain)
                    .loader(new StepKernel((index, part) -> body(steps.get(index), part)))
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

    private boolean isFifo(VirtualDevice device, int queue) {
        return fifo.getOrDefault(device.axis(queue), false);
    }

    private VirtualDevice anyDevice() {
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
                kernels.computeIfAbsent(
                        device,
                        each -> closed(each.createExecutable(
                                new ExecutableParams(StepKernel.FORMAT, MemorySegment.ofArray(new byte[1])))));
            }
            groups.add(new Group(members));
        }
    }

    private void makeSteps(int operations) {
        int shared = 1 + random.nextInt(6);
        last = new long[shared];
        for (int i = 0; i < shared; i++) {
            timelines.add(
                    closed(TimelineSemaphore.create(SemaphoreOptions.DEFAULT.withHistoryCapacity(options.history))));
        }
        int foreign = options.external ? 1 + random.nextInt(2) : 0;
        while (steps.size() < operations || joint != null) {
            if (options.joint && joint == null && random.nextInt(6) == 0) {
                int timeline = random.nextInt(shared);
                joint = new Point(timeline, last[timeline] + 1 + random.nextInt(2));
                jointSignalsLeft = 2 + random.nextInt(2);
                timelines.get(timeline).expectSignals(joint.value, jointSignalsLeft);
            }
            if (!groups.isEmpty() && random.nextInt(5) == 0) {
                connect(meeting(groups.get(random.nextInt(groups.size()))).parts);
            } else if (options.host && random.nextInt(8) == 0) {
                connect(List.of(new Step(null, 0, null, 0, false)));
            } else {
                VirtualDevice device = anyDevice();
                connect(List.of(new Step(device, random.nextInt(device.queueCount()), null, 0, false)));
            }
            if (foreign > 0 && random.nextInt(6) == 0) {
                int timeline = random.nextInt(shared);
                if (joint == null || joint.timeline != timeline) {
                    foreign--;
                    addOutside(timeline, last[timeline], ++last[timeline]);
                }
            }
        }
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
            boolean tail = !meeting.parts.isEmpty() && random.nextBoolean(); // the first tells of the meeting
            meeting.parts.add(new Step(member.device, member.queue, meeting, rank, tail));
        }
        return meeting;
    }

    /** Gives waits and signals to steps none of which may wait for another. */
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

    /** Whoever advances a timeline waits for its last value. */
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

    /** A value that the host or somebody outside reaches, once the timeline is at the one before. */
    private void addOutside(int index, long before, long value) {
        TimelineSemaphore timeline = timelines.get(index);
        Point point = new Point(index, value);
        int kind = random.nextInt(3);
        outsideActions.add(() -> timeline.whenReached(before, (reached, failure) -> {
            if (failure != null || timeline.failure() != null) {
                return;
            }
            switch (kind) {
                case 0 -> {
                    outside.put(point, ++sequence);
                    timeline.signal(value);
                }
                case 1 -> {
                    outside.put(point, ++sequence);
                    timeline.signalExternal(value);
                }
                default -> {
                    VirtualEvent event = VirtualEvent.create(clock);
                    timeline.promiseExternal(value, event);
                    clock.after(random.nextInt(6), () -> {
                        outside.put(point, ++sequence);
                        event.fire();
                        clock.after(random.nextInt(6), () -> {
                            if (timeline.failure() == null) {
                                timeline.signalExternal(value);
                            }
                        });
                    });
                }
            }
        }));
    }

    private void run() {
        List<Runnable> actions = new ArrayList<>(outsideActions);
        for (Step step : orderOfSubmission()) {
            actions.add(() -> submit(step));
        }
        if (options.loss) {
            if (random.nextBoolean()) {
                actions.add(random.nextInt(actions.size() + 1), this::lose);
            } else {
                clock.after(random.nextInt(40), this::lose);
            }
        }
        int eagerness = random.nextInt(4);
        for (Runnable each : actions) {
            each.run();
            observe();
            for (int s = eagerness == 0 ? 0 : random.nextInt(eagerness * 2); s > 0; s--) {
                clock.step();
                observe();
            }
        }
        while (clock.step()) {
            observe();
            if (action > 100 * (events.size() + 10)) {
                throw new AssertionError("does not come to an end");
            }
        }
        times.clear();
    }

    /** Roughly in order, or in none; but participants agree on the order of their collectives. */
    private List<Step> orderOfSubmission() {
        int disorder = random.nextInt(3) == 0 ? steps.size() : 1 + random.nextInt(4);
        List<Step> order = new ArrayList<>(steps);
        for (int i = 0; i < order.size(); i++) {
            int other = Math.min(order.size() - 1, i + random.nextInt(disorder));
            Step moved = order.get(i);
            order.set(i, order.get(other));
            order.set(other, moved);
        }
        for (Group group : groups) {
            for (int rank = 0; rank < group.members.size(); rank++) {
                int place = 0;
                for (Step step : steps) {
                    if (isPart(step, group, rank)) {
                        while (!isPart(order.get(place), group, rank)) {
                            place++;
                        }
                        order.set(place++, step);
                    }
                }
            }
        }
        return order;
    }

    private static boolean isPart(Step step, Group group, int rank) {
        return step.meeting != null && step.meeting.group == group && step.rank == rank;
    }

    /** What was issued is over now, and has not run. */
    private void lose() {
        observe();
        VirtualDevice device = anyDevice();
        lost = device;
        for (Event event : events) {
            if (event.device == device && event.epoch() > 0 && !event.isOver()) {
                event.started = ++sequence;
                event.ended = ++sequence;
            }
        }
        device.lose(loss);
    }

    private void submit(Step step) {
        List<Fence.Entry> waits = new ArrayList<>();
        step.waits.forEach(point -> waits.add(new Fence.Entry(timelines.get(point.timeline), point.value)));
        if (options.sabotaged && !waits.isEmpty() && random.nextInt(3) == 0) {
            waits.removeFirst(); // the checker is not told
        }
        List<Fence.Entry> signals = new ArrayList<>();
        signals.add(new Fence.Entry(step.own, 1)); // first: who hears of a point below finds this one reached
        step.signals.forEach(point -> signals.add(new Fence.Entry(timelines.get(point.timeline), point.value)));
        Fence wait = waits.isEmpty() ? null : closed(Fence.of(waits));
        Fence signal = closed(Fence.of(signals));
        VirtualDevice device = step.device;
        if (device == null) {
            doOnHost(step, wait, signal);
        } else if (step.meeting != null) {
            takePart(step, step.meeting, device, wait, signal);
        } else {
            device.queue(step.queue).hostCall(wait, signal, () -> body(step, 0), 0);
        }
    }

    private void doOnHost(Step step, @Nullable Fence wait, Fence signal) {
        if (wait == null) {
            startOnHost(step, null, signal);
            return;
        }
        wait.whenReached(failure -> {
            if (failure != null) {
                signal.fail(failure);
            } else {
                startOnHost(step, wait, signal);
            }
        });
    }

    private void startOnHost(Step step, @Nullable Fence wait, Fence signal) {
        Event event = step.first;
        HostSpan span = domain.beginHostWork(wait);
        event.started = ++sequence;
        event.knewBy = action + 1;
        clock.after(random.nextInt(6), () -> {
            event.ended = ++sequence;
            event.ran = true;
            event.frontier = span.end();
            if (step.failure != null) {
                signal.fail(step.failure);
            } else {
                signal.signalOrFail(event.frontier);
            }
        });
    }

    private void takePart(Step step, Meeting meeting, VirtualDevice device, @Nullable Fence wait, Fence signal) {
        step.own.whenReached(1, (value, failure) -> {
            Event event = meeting.event;
            if (failure == null && !event.isOver()) { // the first part is told first
                event.started = ++sequence;
                event.ended = ++sequence;
                event.ran = true;
                event.knewBy = action + 1;
            }
        });
        Member member = meeting.group.members.get(step.rank);
        try (CommandBuffer commands = device.createCommandBuffer(CommandBuffer.ONE_SHOT, 3, -1, 0)) {
            Executable kernel = Objects.requireNonNull(kernels.get(device));
            DispatchConfig once = DispatchConfig.of(1, 1, 1);
            commands.dispatch(kernel, 0, once, new int[] {step.index, 0}, List.of(), 0);
            boolean sends = meeting.all || step == meeting.parts.getFirst();
            boolean receives = meeting.all || !sends;
            int kind = meeting.all ? Collective.ALL_REDUCE : sends ? Collective.SEND : Collective.RECV;
            int peer = meeting.all ? 0 : meeting.parts.get(sends ? 1 : 0).rank;
            commands.collective(
                    member.channel,
                    Collective.of(kind, meeting.all ? Collective.SUM : 0, Collective.S32),
                    peer,
                    sends ? BufferRef.of(member.buffer) : null,
                    receives ? BufferRef.of(member.buffer) : null,
                    1);
            if (step.hasTail()) {
                commands.dispatch(kernel, 0, once, new int[] {step.index, 1}, List.of(), 0);
            }
            commands.finish();
            device.queue(step.queue).execute(wait, signal, commands, null, 0);
        }
    }

    /** Runs at the end of the operation's time, right after the script was asked. */
    private void body(Step step, int part) {
        QueueOperation operation = ending;
        if (operation == null) {
            throw new AssertionError("step " + step.index + " runs without having started");
        }
        Event event = part == 0 ? step.first : step.last;
        long[] both = times.get(operation);
        event.started = both[0];
        event.ended = both[1];
        event.ran = true;
        if (!event.fifo || event.issuedBy == 0) {
            event.knewBy = (int) both[2];
        }
        event.operation = operation;
        if (step.failure != null && (part == 1 || !step.hasTail())) {
            throw step.failure;
        }
    }

    /** After each action: whose frontier is known now, and whose end? */
    private void observe() {
        action++;
        List<Event> fresh = new ArrayList<>();
        for (Event event : events) {
            if (event.issuedBy == 0) {
                // What failed on an unordered queue has told nobody.
                Frontier known = event.frontier.size() > 0 ? event.frontier : event.known();
                if (known != null && known.size() > 0) {
                    event.frontier = known;
                    event.issuedBy = action;
                    if (event.fifo && event.knewBy == 0) {
                        event.knewBy = action;
                    }
                    fresh.add(event);
                }
            }
            if (event.completedBy == 0 && event.epoch() > 0 && tracker.completed(event.axis()) >= event.epoch()) {
                event.completedBy = action;
            }
        }
        for (Event event : fresh) {
            for (Event other : events) {
                if (other.issuedBy > 0) {
                    boolean covers = event.frontier.covers(other.frontier, tracker);
                    (covers ? event.covered : event.notCovered).set(other.index);
                }
            }
        }
        if (!fresh.isEmpty()) {
            reuse(fresh.get(random.nextInt(fresh.size())));
        }
        lookUp();
    }

    /** Memory that was put together from what a few had freed, in two steps as a pool does it. */
    private void reuse(Event by) {
        BitSet users = new BitSet();
        Frontier death = Frontier.EMPTY;
        boolean unknown = options.external && random.nextInt(4) == 0;
        for (int block = 0; block < 2; block++) {
            Frontier joined = block == 0 && unknown ? Frontier.UNKNOWN : Frontier.EMPTY;
            for (int i = 1 + random.nextInt(2); i > 0; i--) {
                Event user = events.get(random.nextInt(events.size()));
                if (user.issuedBy > 0) {
                    users.set(user.index);
                    joined = joined.merge(user.frontier, options.capacity);
                }
            }
            death = death.merge(joined, options.capacity);
        }
        reuses.add(
                new Reuse(by, users, unknown, death, by.frontier.covers(death, tracker), death.isCompleted(tracker)));
    }

    private void lookUp() {
        int index = random.nextInt(timelines.size());
        if (last[index] > 0) {
            TimelineSemaphore timeline = timelines.get(index);
            Point point = new Point(index, 1 + random.nextInt((int) last[index]));
            Frontier frontier = timeline.frontierAt(point.value);
            if (frontier != null) {
                lookups.add(new Lookup(action, point, timeline.value(), frontier));
            }
        }
    }

    /** The steps that signal a point. */
    List<Step> signallers(Point point) {
        List<Step> found = new ArrayList<>();
        for (Step step : steps) {
            if (step.signals.contains(point)) {
                found.add(step);
            }
        }
        return found;
    }

    /** Adds up what the queues decided. */
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
