package io.github.iree4j.hal.virtual;

import io.github.iree4j.async.Fence;
import io.github.iree4j.async.FrontierTracker;
import io.github.iree4j.async.SemaphoreOptions;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.frontier.AxisAllocator;
import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.hal.DeviceQueue;
import io.github.iree4j.hal.QueueCounters;
import io.github.iree4j.hal.QueueOperation;
import io.github.iree4j.hal.SchedulingDomain;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.jspecify.annotations.Nullable;

/**
 * A random program on virtual devices, run to its end, and everything that was seen of it.
 *
 * <p>Operations wait for and signal shared timelines that several of them advance, in any order of submission, some of them late; each
 * also signals a timeline of its own, from which its frontier is read. What the host does in one go (a submission, one step of the clock,
 * a signal of its own) is an action; actions are numbered.
 */
final class RandomProgram implements AutoCloseable {
    /** What a program has. */
    record Options(int capacity, int history, boolean external, boolean failures, boolean sabotaged) {}

    /** A point on a shared timeline. */
    record Point(int timeline, long value) {}

    /** One operation: what was asked for, and what was seen. Sequence numbers and actions start at 1; 0 is never. */
    final class Step {
        final int index;
        final VirtualDevice device;
        final int queue;
        final List<Point> waits = new ArrayList<>();
        final List<Point> signals = new ArrayList<>();
        final TimelineSemaphore own = closed(TimelineSemaphore.create(0));
        final @Nullable IreeException failure; // its own
        long started;
        long ended;
        int issuedBy; // the action after which its frontier was known
        int knewBy; // the action after which nothing more was imported: of the issue, on an unordered queue of the
        // start
        int completedBy; // the action after which the host knew of its end
        Frontier frontier = Frontier.EMPTY;

        @Nullable
        QueueOperation operation; // once it ran

        Step(int index, VirtualDevice device, int queue, boolean fails) {
            this.index = index;
            this.device = device;
            this.queue = queue;
            this.failure = fails ? new IreeException(StatusCode.DATA_LOSS, "operation " + index) : null;
        }

        boolean ran() {
            return ended > 0;
        }

        long axis() {
            return device.axis(queue);
        }

        long epoch() {
            return frontier.producerEpoch();
        }

        boolean isFifo() {
            return fifo.get(axis());
        }

        @Override
        public String toString() {
            return "operation %d on %s queue %d of %s (epoch %d, ran %d to %d, issued by action %d), waits %s, signals %s, %s"
                    .formatted(
                            index,
                            isFifo() ? "FIFO" : "unordered",
                            queue,
                            device.id(),
                            epoch(),
                            started,
                            ended,
                            issuedBy,
                            waits,
                            signals,
                            frontier);
        }
    }

    private final List<AutoCloseable> toClose = new ArrayList<>(); // first: the others fill it
    final Options options;
    final List<Step> steps = new ArrayList<>();
    final List<VirtualDevice> devices = new ArrayList<>();
    final Map<Long, Boolean> fifo = new HashMap<>(); // by axis
    final List<TimelineSemaphore> timelines = new ArrayList<>();
    /** When points that no operation signals were reached, or their event fired: sequence numbers. */
    final Map<Point, Long> outside = new HashMap<>();

    final FrontierTracker tracker = closed(FrontierTracker.create());

    private final Random random;
    private final VirtualClock clock = VirtualClock.stepped();
    private final List<Runnable> outsideActions = new ArrayList<>();
    private final Map<QueueOperation, long[]> times = new HashMap<>(); // started, ended, action of the start
    private @Nullable QueueOperation ending;
    private long sequence;
    private int action;

    private <T extends AutoCloseable> T closed(T resource) {
        toClose.add(resource);
        return resource;
    }

    RandomProgram(long seed, Options options, int operations) {
        this.random = new Random(seed);
        this.options = options;
        makeDevices();
        makeSteps(operations);
        run();
    }

    private void makeDevices() {
        SchedulingDomain domain = SchedulingDomain.create(AxisAllocator.create(5, 0), tracker, options.capacity);
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
                fifo.put(device.axis(q), kinds.get(q));
            }
        }
    }

    private void makeSteps(int operations) {
        int shared = 1 + random.nextInt(6);
        long[] last = new long[shared]; // the greatest value that anybody signals
        for (int i = 0; i < shared; i++) {
            timelines.add(
                    closed(TimelineSemaphore.create(SemaphoreOptions.DEFAULT.withHistoryCapacity(options.history))));
        }
        int foreign = options.external ? 1 + random.nextInt(2) : 0;
        for (int i = 0; i < operations; i++) {
            VirtualDevice device = devices.get(random.nextInt(devices.size()));
            Step step = new Step(
                    i, device, random.nextInt(device.queueCount()), options.failures && random.nextInt(12) == 0);
            for (int w = random.nextInt(4); w > 0; w--) {
                int timeline = random.nextInt(shared);
                if (last[timeline] > 0) {
                    // Mostly recent values, sometimes old ones.
                    long back = random.nextInt(3) == 0 ? random.nextInt((int) last[timeline]) : random.nextInt(2);
                    wait(step, new Point(timeline, Math.max(1, last[timeline] - back)));
                }
            }
            for (int s = random.nextInt(3); s > 0; s--) {
                int timeline = random.nextInt(shared);
                if (step.signals.stream().anyMatch(point -> point.timeline == timeline)) {
                    continue;
                }
                if (last[timeline] > 0) { // whoever advances a timeline waits for its last value
                    wait(step, new Point(timeline, last[timeline]));
                }
                last[timeline] += 1 + random.nextInt(2);
                step.signals.add(new Point(timeline, last[timeline]));
            }
            if (foreign > 0 && random.nextInt(6) == 0) {
                foreign--;
                int timeline = random.nextInt(shared);
                long value = last[timeline] + 1;
                addOutside(timeline, last[timeline], value);
                last[timeline] = value;
            }
            steps.add(step);
        }
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
        int disorder = random.nextInt(3) == 0 ? steps.size() : 1 + random.nextInt(4);
        List<Step> order = new ArrayList<>(steps);
        for (int i = 0; i < order.size(); i++) { // submitted roughly in order, or in none
            int other = Math.min(order.size() - 1, i + random.nextInt(disorder));
            Step moved = order.get(i);
            order.set(i, order.get(other));
            order.set(other, moved);
        }
        for (Step step : order) {
            actions.add(() -> submit(step));
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
        }
        times.clear();
    }

    private void submit(Step step) {
        List<Fence.Entry> waits = new ArrayList<>();
        step.waits.forEach(point -> waits.add(new Fence.Entry(timelines.get(point.timeline), point.value)));
        if (options.sabotaged && !waits.isEmpty() && random.nextInt(3) == 0) {
            waits.removeFirst(); // the checker is not told
        }
        List<Fence.Entry> signals = new ArrayList<>();
        step.signals.forEach(point -> signals.add(new Fence.Entry(timelines.get(point.timeline), point.value)));
        signals.add(new Fence.Entry(step.own, 1));
        DeviceQueue queue = step.device.queue(step.queue);
        try (Fence signal = Fence.of(signals)) {
            if (waits.isEmpty()) {
                queue.hostCall(null, signal, () -> body(step), 0);
            } else {
                try (Fence wait = Fence.of(waits)) {
                    queue.hostCall(wait, signal, () -> body(step), 0);
                }
            }
        }
    }

    /** Runs at the end of the operation's time, right after the script was asked. */
    private void body(Step step) {
        QueueOperation operation = ending;
        if (operation == null) {
            throw new AssertionError("operation " + step.index + " runs without having started");
        }
        long[] both = times.get(operation);
        step.started = both[0];
        step.ended = both[1];
        if (!step.isFifo()) {
            step.knewBy = (int) both[2];
        }
        step.operation = operation;
        if (step.failure != null) {
            throw step.failure;
        }
    }

    /** After each action: whose frontier is known now, and whose end? */
    private void observe() {
        action++;
        for (Step step : steps) {
            if (step.issuedBy == 0) {
                // What failed on an unordered queue has told nobody.
                QueueOperation operation = step.operation;
                Frontier known = operation != null ? operation.frontier() : step.own.frontierAt(1);
                if (known != null && known.size() > 0) {
                    step.frontier = known;
                    step.issuedBy = action;
                    step.knewBy = step.isFifo() ? action : step.knewBy;
                }
            }
            if (step.completedBy == 0 && step.epoch() > 0 && tracker.completed(step.axis()) >= step.epoch()) {
                step.completedBy = action;
            }
        }
    }

    /** The operation that signals a point, or null. */
    @Nullable
    Step producer(Point point) {
        for (Step step : steps) {
            if (step.signals.contains(point)) {
                return step;
            }
        }
        return null;
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
