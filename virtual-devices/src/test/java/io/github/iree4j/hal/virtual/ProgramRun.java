package io.github.iree4j.hal.virtual;

import io.github.iree4j.async.Fence;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.hal.BindingTable;
import io.github.iree4j.hal.BufferRef;
import io.github.iree4j.hal.Collective;
import io.github.iree4j.hal.CommandBuffer;
import io.github.iree4j.hal.DispatchConfig;
import io.github.iree4j.hal.Executable;
import io.github.iree4j.hal.HostSpan;
import io.github.iree4j.hal.schedule.QueueOperation;
import io.github.iree4j.hal.virtual.RandomProgram.FromOutside;
import io.github.iree4j.hal.virtual.RandomProgram.Group;
import io.github.iree4j.hal.virtual.RandomProgram.Lookup;
import io.github.iree4j.hal.virtual.RandomProgram.Meeting;
import io.github.iree4j.hal.virtual.RandomProgram.Member;
import io.github.iree4j.hal.virtual.RandomProgram.Point;
import io.github.iree4j.hal.virtual.RandomProgram.Reuse;
import io.github.iree4j.hal.virtual.RandomProgram.Step;
import io.github.iree4j.status.DeviceLostException;
import io.github.iree4j.status.IreeException;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Runs a {@link RandomProgram} and records the observations. An uninterrupted activity of the host (a submission, a
 * step of the clock, a signal by hand) is an action; actions are numbered.
 */
final class ProgramRun {
    private final RandomProgram program;
    private final Map<QueueOperation, long[]> times = new HashMap<>(); // started, ended, action of the start
    private @Nullable QueueOperation ending;
    private long sequence;
    private int action;

    ProgramRun(RandomProgram program) {
        this.program = program;
    }

    /** Hardware with a maximum duration for each queue, and a maximum delay of reports to the host. */
    VirtualScript script(int[] slowest, int laziest) {
        return new VirtualScript() {
            @Override
            public long duration(int queue, long number, QueueOperation operation) {
                times.put(operation, new long[] {++sequence, 0, action + 1});
                int most = slowest[queue];
                return most == 0 ? 1 : program.random.nextInt(most);
            }

            @Override
            public long completionDelay(int queue, long number, QueueOperation operation) {
                return laziest == 0 ? 0 : program.random.nextInt(laziest);
            }

            @Override
            public @Nullable IreeException failure(int queue, long number, QueueOperation operation) {
                times.get(operation)[1] = ++sequence;
                ending = operation;
                return null;
            }
        };
    }

    /** Reaches a value from outside, once the timeline is at the predecessor. */
    private void await(FromOutside outside) {
        TimelineSemaphore timeline = program.timelines.get(outside.timeline());
        Point point = new Point(outside.timeline(), outside.value());
        timeline.whenReached(outside.before(), (reached, failure) -> {
            // In any order: values already passed are skipped.
            if (failure == null && timeline.failure() == null && timeline.value() < outside.value()) {
                reach(point, timeline, outside.kind());
            }
        });
    }

    private void reach(Point point, TimelineSemaphore timeline, int kind) {
        switch (kind) {
            case FromOutside.BY_HAND -> {
                program.outside.put(point, ++sequence);
                timeline.signal(point.value());
            }
            case FromOutside.DEADLINE -> timeline.fail(program.deadline);
            case FromOutside.EXTERNAL -> {
                program.outside.put(point, ++sequence);
                timeline.signalExternal(point.value());
            }
            default -> {
                VirtualEvent event = VirtualEvent.create(program.clock);
                timeline.promiseExternal(point.value(), event);
                program.clock.after(program.random.nextInt(6), () -> {
                    program.outside.put(point, ++sequence);
                    event.fire();
                    program.clock.after(program.random.nextInt(6), () -> {
                        if (timeline.failure() == null && timeline.value() < point.value()) {
                            timeline.signalExternal(point.value());
                        }
                    });
                });
            }
        }
    }

    /** Submits and steps until everything has ended. */
    void toItsEnd() {
        for (int t = 0; t < program.timelines.size(); t++) {
            TreeMap<Long, Integer> reached = program.reached.get(t);
            for (long value = 1; value <= program.last[t]; value++) {
                program.timelines.get(t).whenReached(value, (at, failure) -> {
                    if (failure == null) {
                        reached.putIfAbsent(at, action + 1);
                    }
                });
            }
        }
        List<Runnable> actions = new ArrayList<>();
        for (FromOutside each : program.fromOutside) {
            actions.add(() -> await(each));
        }
        for (Step step : orderOfSubmission()) {
            actions.add(() -> submit(step));
        }
        if (program.options.independent()) {
            for (int i = 0; i < program.fromOutside.size(); i++) {
                actions.add(program.random.nextInt(actions.size()), actions.removeFirst());
            }
        }
        if (program.options.loss()) {
            if (program.random.nextBoolean()) {
                actions.add(program.random.nextInt(actions.size() + 1), this::lose);
            } else {
                program.clock.after(program.random.nextInt(40), this::lose);
            }
        }
        int eagerness = program.random.nextInt(4);
        for (Runnable each : actions) {
            each.run();
            observe();
            for (int s = eagerness == 0 ? 0 : program.random.nextInt(eagerness * 2); s > 0; s--) {
                program.clock.step();
                observe();
            }
        }
        while (program.clock.step()) {
            observe();
            if (action > 100 * (program.events.size() + 10)) {
                throw new AssertionError("does not come to an end");
            }
        }
        times.clear();
    }

    /** Roughly in order, or in random order; but participants agree on the order of their collectives. */
    private List<Step> orderOfSubmission() {
        int disorder = program.random.nextInt(3) == 0 ? program.steps.size() : 1 + program.random.nextInt(4);
        List<Step> order = new ArrayList<>(program.steps);
        for (int i = 0; i < order.size(); i++) {
            int other = Math.min(order.size() - 1, i + program.random.nextInt(disorder));
            Step moved = order.get(i);
            order.set(i, order.get(other));
            order.set(other, moved);
        }
        for (Group group : program.groups) {
            for (int rank = 0; rank < group.members().size(); rank++) {
                int place = 0;
                for (Step step : program.steps) {
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

    /** Issued events have now ended without running. */
    private void lose() {
        observe();
        VirtualDevice device = program.anyDevice();
        program.lost = device;
        for (Event event : program.events) {
            if (event.device == device && event.epoch() > 0 && !event.isComplete()) {
                event.started = ++sequence;
                event.ended = ++sequence;
            }
        }
        program.loss = DeviceLostException.by(device.id(), program.loss);
        device.lose(program.loss);
    }

    private void submit(Step step) {
        List<Fence.Entry> waits = new ArrayList<>();
        step.waits.forEach(point -> waits.add(new Fence.Entry(program.timelines.get(point.timeline()), point.value())));
        if (program.options.sabotaged() && !waits.isEmpty() && program.random.nextInt(3) == 0) {
            waits.removeFirst(); // the checker is not told
        }
        List<Fence.Entry> signals = new ArrayList<>();
        signals.add(new Fence.Entry(step.own, 1)); // first: listeners of the points below find this one reached
        step.signals.forEach(
                point -> signals.add(new Fence.Entry(program.timelines.get(point.timeline()), point.value())));
        Fence wait = waits.isEmpty() ? null : program.closed(Fence.of(waits));
        Fence signal = program.closed(Fence.of(signals));
        VirtualDevice device = step.device;
        if (device == null) {
            doOnHost(step, wait, signal);
        } else if (step.meeting != null) {
            takePart(step, step.meeting, device, wait, signal);
        } else {
            DispatchConfig once = DispatchConfig.of(1, 1, 1);
            int[] constants = {step.index, 0};
            device.queue(step.queue)
                    .dispatch(wait, signal, program.kernel(device), 0, once, constants, BindingTable.of(), 0);
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
        HostSpan span = program.domain.beginHostWork(wait);
        event.started = ++sequence;
        event.knewBy = action + 1;
        program.clock.after(program.random.nextInt(6), () -> {
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
            if (failure == null && !event.isComplete()) { // the first part is reported first
                event.started = ++sequence;
                event.ended = ++sequence;
                event.ran = true;
                event.knewBy = action + 1;
            }
        });
        Member member = meeting.group.members().get(step.rank);
        try (CommandBuffer commands = device.createCommandBuffer(CommandBuffer.ONE_SHOT, 3, -1, 0)) {
            Executable kernel = program.kernel(device);
            DispatchConfig once = DispatchConfig.of(1, 1, 1);
            commands.dispatch(kernel, 0, once, new int[] {step.index, 0}, List.of(), 0);
            boolean sends = meeting.all || step == meeting.parts.getFirst();
            boolean receives = meeting.all || !sends;
            int kind = meeting.all ? Collective.ALL_REDUCE : sends ? Collective.SEND : Collective.RECV;
            int peer = meeting.all ? 0 : meeting.parts.get(sends ? 1 : 0).rank;
            commands.collective(
                    member.channel(),
                    Collective.of(kind, meeting.all ? Collective.SUM : 0, Collective.S32),
                    peer,
                    sends ? BufferRef.of(member.buffer()) : null,
                    receives ? BufferRef.of(member.buffer()) : null,
                    1);
            if (step.hasTail()) {
                commands.dispatch(kernel, 0, once, new int[] {step.index, 1}, List.of(), 0);
            }
            commands.finish();
            device.queue(step.queue).execute(wait, signal, commands, null, 0);
        }
    }

    /** Runs at the end of the operation's time, right after the script was asked. */
    void body(Step step, int part) {
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

    /** Records, after each action, newly known frontiers and ends. */
    private void observe() {
        action++;
        program.sequences.add(sequence);
        List<Event> fresh = new ArrayList<>();
        for (Event event : program.events) {
            if (event.issuedBy == 0) {
                // A failure on an unordered queue leaves no frontier.
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
            if (event.completedBy == 0
                    && event.epoch() > 0
                    && program.tracker.completed(event.axis()) >= event.epoch()) {
                event.completedBy = action;
            }
        }
        for (Step step : program.steps) {
            // The axis of a lost device ends with the loss, although earlier completions may be reported later.
            if (step.last.completedBy == 0
                    && step.last.device != null
                    && step.last.device == program.lost
                    && step.own.value() > 0) {
                step.last.completedBy = action;
            }
        }
        for (Event event : fresh) {
            for (Event other : program.events) {
                if (other.issuedBy > 0) {
                    boolean covers = event.frontier.covers(other.frontier, program.tracker);
                    (covers ? event.covered : event.notCovered).set(other.index);
                }
            }
        }
        if (!fresh.isEmpty()) {
            reuse(fresh.get(program.random.nextInt(fresh.size())));
        }
        lookUp();
    }

    /** Memory merged from blocks of several users, in two steps like in a pool. */
    private void reuse(Event by) {
        BitSet users = new BitSet();
        Frontier death = Frontier.EMPTY;
        boolean unknown = program.options.external() && program.random.nextInt(4) == 0;
        for (int block = 0; block < 2; block++) {
            Frontier joined = block == 0 && unknown ? Frontier.UNKNOWN : Frontier.EMPTY;
            for (int i = 1 + program.random.nextInt(2); i > 0; i--) {
                Event user = program.events.get(program.random.nextInt(program.events.size()));
                if (user.issuedBy > 0) {
                    users.set(user.index);
                    joined = joined.merge(user.frontier, program.options.capacity());
                }
            }
            death = death.merge(joined, program.options.capacity());
        }
        program.reuses.add(new Reuse(
                by,
                users,
                unknown,
                death,
                by.frontier.covers(death, program.tracker),
                death.isCompleted(program.tracker)));
    }

    private void lookUp() {
        int index = program.random.nextInt(program.timelines.size());
        if (program.last[index] > 0) {
            TimelineSemaphore timeline = program.timelines.get(index);
            Point point = new Point(index, 1 + program.random.nextInt((int) program.last[index]));
            if (timeline.value() < point.value()) {
                timeline.keepHistory(); // otherwise the last promise of a lone queue answers
            }
            Frontier frontier = timeline.frontierAt(point.value());
            if (frontier != null) {
                program.lookups.add(new Lookup(action, point, timeline.value(), timeline.failure() != null, frontier));
            }
        }
    }
}
