package io.github.iree4j.hal.virtual;

import io.github.iree4j.async.Fence;
import io.github.iree4j.async.FrontierTracker;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.frontier.AxisAllocator;
import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.BufferParams;
import io.github.iree4j.hal.DeviceQueue;
import io.github.iree4j.hal.MemoryAccess;
import io.github.iree4j.hal.SchedulingDomain;
import io.github.iree4j.hal.schedule.OperationProbe;
import io.github.iree4j.hal.schedule.QueueOperation;
import io.github.iree4j.hal.virtual.SmallProgram.Kind;
import io.github.iree4j.hal.virtual.SmallProgram.Operation;
import io.github.iree4j.status.DeviceLostException;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A run of a {@link SmallProgram} on the real scheduler, step by step, checked against the order of the hardware. The
 * virtual time stands still; an operation ends at its step.
 */
final class SmallRun implements AutoCloseable {
    // Steps: the kind of event times 256, plus the operand.
    static final int SUBMIT = 0;
    static final int END = 1;
    static final int REPORT = 2;
    static final int BY_HAND = 3;
    static final int CANCEL = 4;
    static final int LOSE = 5;
    static final int CLOSE = 6;
    private static final String[] NAMES = {"submit ", "end ", "report ", "by hand ", "cancel ", "lose ", "close "};

    private static final int HALF = 1 << 10;

    /** Operations are scheduled to end at multiples of this time, never reached by itself. */
    private static final long NEVER = 1L << 40;

    static final IreeException CANCELLED = IreeException.of(StatusCode.CANCELLED, "cancelled on purpose");
    private static final String DEVICE = "virtual";
    static final IreeException LOSS =
            DeviceLostException.by(DEVICE, IreeException.of(StatusCode.UNAVAILABLE, "lost on purpose"));

    private final SmallProgram program;
    private final boolean sabotaged;
    private final SmallOracle oracle;
    private final SmallState state;
    private final int count;
    final VirtualClock clock = VirtualClock.stepped();
    final FrontierTracker tracker = FrontierTracker.create();
    final SchedulingDomain domain = SchedulingDomain.create(AxisAllocator.create(7, 0), tracker, 12);
    private final List<AutoCloseable> toClose = new ArrayList<>();
    final VirtualDevice[] devices;
    final DeviceQueue[] queues;
    final TimelineSemaphore[] timelines;
    final TimelineSemaphore[] own;
    private final Fence[] signals;
    final @Nullable Buffer[] buffers = new @Nullable Buffer[SmallProgram.BLOCKS];

    // Observations; times are sequence numbers, 0 for not yet.
    private long sequence;
    private final boolean[] submitted;
    private final @Nullable QueueOperation[] operations; // once started
    final long[] started;
    final long[] ended; // on the hardware
    final boolean[] ran; // not ended by the loss
    final boolean[] toReport;
    final boolean[] cancelled;
    final boolean[] hostHeld; // failed while the host kept memory
    int byHand;
    boolean lost;
    final long[] from = new long[SmallProgram.BLOCKS]; // address of each block, 0 while unknown
    final long[] freed = new long[SmallProgram.BLOCKS];

    // Progress of each.
    final List<Integer> heldBack = new ArrayList<>(); // in order of arrival
    final int[] phases;
    long base; // address of the memory

    @SuppressWarnings("this-escape")
    SmallRun(SmallProgram program, boolean sabotaged) {
        this.program = program;
        this.count = program.size();
        this.sabotaged = sabotaged;
        this.oracle = new SmallOracle(this, program);
        this.state = new SmallState(this, program);
        submitted = new boolean[count];
        operations = new @Nullable QueueOperation[count];
        started = new long[count];
        ended = new long[count];
        ran = new boolean[count];
        toReport = new boolean[count];
        cancelled = new boolean[count];
        hostHeld = new boolean[count];
        phases = new int[count];
        queues = new DeviceQueue[program.queues().length()];
        boolean two = program.queues().indexOf('f') >= 0;
        devices = new VirtualDevice[two ? 2 : 1];
        for (int d = 0; d < devices.length; d++) {
            VirtualDevice.Builder builder = VirtualDevice.builder()
                    .id(DEVICE)
                    .clock(clock)
                    .schedulingDomain(domain)
                    .memoryLimit(2 * HALF)
                    .script(script);
            int index = 0;
            int[] indices = new int[queues.length];
            for (int q = 0; q < queues.length; q++) {
                char kind = program.queues().charAt(q);
                if (kind == 'f' == (d == 1)) {
                    if (kind == 'U') {
                        builder.unorderedQueue(count + 4);
                    } else {
                        builder.fifoQueues(1);
                    }
                    indices[q] = index++;
                }
            }
            devices[d] = closed(builder.build());
            for (int q = 0; q < queues.length; q++) {
                if (program.queues().charAt(q) == 'f' == (d == 1)) {
                    queues[q] = devices[d].queue(indices[q]);
                }
            }
        }
        timelines = new TimelineSemaphore[] {closed(TimelineSemaphore.create(0)), closed(TimelineSemaphore.create(0))};
        own = new TimelineSemaphore[count];
        signals = new Fence[count];
        for (int i = 0; i < count; i++) {
            own[i] = closed(TimelineSemaphore.create(0));
            int signal = program.operations().get(i).signal();
            Fence.Entry first = new Fence.Entry(own[i], 1);
            signals[i] = closed(
                    signal < 0
                            ? Fence.of(List.of(first))
                            : Fence.of(List.of(first, new Fence.Entry(timelines[signal / 2], signal % 2 + 1))));
        }
        if (program.usesMemory()) {
            prepareMemory();
        }
    }

    private <T extends AutoCloseable> T closed(T resource) {
        toClose.add(resource);
        return resource;
    }

    /** Sets up all memory in a single piece, and the initial blocks. */
    private void prepareMemory() {
        TimelineSemaphore ready = closed(TimelineSemaphore.create(0));
        DeviceQueue queue = devices[0].queue(0);
        Buffer all = queue.alloca(null, closed(Fence.at(ready, 1)), BufferParams.DEFAULT, 2 * HALF, 0);
        clock.runUntil(0);
        clock.happen(NEVER);
        clock.runUntil(0);
        base = all.map(MemoryAccess.READ, 0, Buffer.WHOLE).address();
        all.close();
        for (int block = 0; block < SmallProgram.BLOCKS; block++) {
            if ((program.allocated() >> block & 1) != 0) {
                Buffer buffer =
                        queue.alloca(null, closed(Fence.at(ready, 2 + block)), BufferParams.DEFAULT, size(block), 0);
                clock.runUntil(0);
                clock.happen(NEVER);
                clock.runUntil(0);
                buffers[block] = buffer;
                from[block] = buffer.map(MemoryAccess.READ, 0, Buffer.WHOLE).address();
            }
        }
    }

    static int size(int block) {
        return block == SmallProgram.WHOLE ? 2 * HALF : HALF;
    }

    private final VirtualScript script = new VirtualScript() {
        @Override
        public long duration(int queue, long number, QueueOperation operation) {
            int index = index(operation);
            if (index < 0) {
                return NEVER;
            }
            operations[index] = operation;
            started[index] = ++sequence;
            oracle.checkStart(index);
            return (2 + index) * NEVER;
        }

        @Override
        public long completionDelay(int queue, long number, QueueOperation operation) {
            int index = index(operation);
            if (index < 0 || !program.lateReports()) {
                return 0;
            }
            toReport[index] = true;
            return (2 + index) * NEVER + 1;
        }

        @Override
        public @Nullable IreeException failure(int queue, long number, QueueOperation operation) {
            int index = index(operation);
            if (index >= 0) {
                ended[index] = ++sequence;
                ran[index] = true;
            }
            return null;
        }
    };

    @SuppressWarnings("ReferenceEquality") // fences compare by identity
    private int index(QueueOperation operation) {
        Fence signal = OperationProbe.signal(operation);
        for (int i = 0; i < count; i++) {
            if (signals[i] == signal) {
                return i;
            }
        }
        return -1;
    }

    // ---- Steps.

    SmallOracle oracle() {
        return oracle;
    }

    /**
     * The state as far as the future depends on it, see {@link Explorer}.
     *
     * @return equal for two runs of a program only if the futures are equal
     */
    long key() {
        return state.key();
    }

    /** The possible next steps. Cancellation and loss are optional; the others will happen eventually. */
    int[] steps() {
        int[] found = new int[count * 3 + SmallProgram.POINTS + SmallProgram.BLOCKS + 1];
        int size = 0;
        int before = 0;
        for (int i = 0; i < count; i++) {
            before |= submitted[i] ? 1 << i : 0;
        }
        for (int i = 0; i < count; i++) {
            Operation each = program.operations().get(i);
            if (program.isNext(i, before) && (each.kind() != Kind.FREE || buffers[each.block()] != null)) {
                found[size++] = SUBMIT << 8 | i;
            }
            if (started[i] > 0 && ended[i] == 0) {
                found[size++] = END << 8 | i;
            }
            if (toReport[i]) {
                found[size++] = REPORT << 8 | i;
            }
        }
        for (int p = 0; p < SmallProgram.POINTS; p++) {
            if ((program.byHand() & ~byHand & 1 << p) != 0) {
                found[size++] = BY_HAND << 8 | p;
            }
        }
        for (int block = 0; block < SmallProgram.BLOCKS; block++) {
            if (isForTheHost(block)) {
                found[size++] = CLOSE << 8 | block;
            }
        }
        if (size > 0) {
            for (int i = 0; i < count; i++) {
                if ((program.cancellable() >> i & 1) != 0 && !cancelled[i] && submitted[i] && isCancellable(i)) {
                    found[size++] = CANCEL << 8 | i;
                }
            }
            if (program.loss() && !lost) {
                found[size++] = LOSE << 8;
            }
        }
        return java.util.Arrays.copyOf(found, size);
    }

    /** A result: allocated, and freed by no operation. */
    private boolean isForTheHost(int block) {
        if (buffers[block] == null || freed[block] != 0) {
            return false;
        }
        boolean there = false;
        for (int i = 0; i < count; i++) {
            Operation each = program.operations().get(i);
            if (each.kind() != Kind.WORK && each.block() == block) {
                if (each.kind() == Kind.FREE) {
                    return false;
                }
                there = phases[i] == OVER;
            }
        }
        return there;
    }

    /** An operation that the test can cancel: held back, or running. */
    private boolean isCancellable(int i) {
        return phases[i] == HELD_BACK || started[i] > 0 && ended[i] == 0;
    }

    static String describe(SmallProgram program, int step) {
        int index = step & 0xff;
        return NAMES[step >> 8]
                + (step >> 8 == BY_HAND
                        ? SmallProgram.name(index)
                        : step >> 8 == LOSE
                                ? "device 0"
                                : step >> 8 == CLOSE ? "" + SmallProgram.LETTERS.charAt(index) : "" + index);
    }

    /** Takes a step; afterwards the oracle has any violation. */
    void take(int step) {
        int index = step & 0xff;
        long[] before = new long[count];
        for (int i = 0; i < count; i++) {
            before[i] = state.visible(i);
        }
        switch (step >> 8) {
            case SUBMIT -> submit(index);
            case END -> clock.happen((2 + index) * NEVER);
            case REPORT -> {
                toReport[index] = false;
                clock.happen((2 + index) * NEVER + 1);
            }
            case BY_HAND -> {
                byHand |= 1 << index;
                TimelineSemaphore timeline = timelines[index / 2];
                if (timeline.failure() == null && timeline.value() <= index % 2) {
                    timeline.signal(index % 2 + 1);
                }
            }
            case CANCEL -> cancel(index);
            case LOSE -> lose();
            default -> {
                freed[index] = ++sequence;
                Objects.requireNonNull(buffers[index]).close();
            }
        }
        clock.runUntil(0);
        while (observe(step, before)) {
            clock.runUntil(0);
        }
    }

    private void submit(int i) {
        submitted[i] = true;
        Operation each = program.operations().get(i);
        List<Fence.Entry> waits = new ArrayList<>();
        for (int p = 0; p < SmallProgram.POINTS; p++) {
            if (each.waitsFor(p)) {
                waits.add(new Fence.Entry(timelines[p / 2], p % 2 + 1));
            }
        }
        if (sabotaged && !waits.isEmpty()) {
            waits.removeFirst();
        }
        Fence wait = waits.isEmpty() ? null : closed(Fence.of(waits));
        DeviceQueue queue = queues[each.queue()];
        switch (each.kind()) {
            case WORK -> queue.barrier(wait, signals[i], 0);
            case ALLOCATE ->
                buffers[each.block()] = queue.alloca(wait, signals[i], BufferParams.DEFAULT, size(each.block()), 0);
            case FREE -> queue.dealloca(wait, signals[i], Objects.requireNonNull(buffers[each.block()]), 0);
        }
    }

    private void cancel(int i) {
        cancelled[i] = true;
        long axis = queues[program.operations().get(i).queue()].axis();
        QueueOperation operation = operations[i];
        if (operation == null) {
            operation = OperationProbe.heldBack(domain, axis, signals[i]);
        }
        if (operation == null) {
            oracle.fail("lost: operation " + i + " is not promised, not started, not complete and not held back");
            return;
        }
        OperationProbe.cancel(domain, axis, operation, CANCELLED);
    }

    private void lose() {
        lost = true;
        for (int i = 0; i < count; i++) {
            if (isOnLost(i) && ended[i] == 0 && (started[i] > 0 || frontier(i).size() > 0)) {
                ended[i] = ++sequence;
                if (started[i] == 0) {
                    started[i] = sequence;
                }
            }
        }
        devices[0].lose(LOSS);
    }

    boolean isOnLost(int i) {
        return lost && program.queues().charAt(program.operations().get(i).queue()) != 'f';
    }

    // ---- Observations.

    /** The frontier promised by an operation, or held after its run. */
    Frontier frontier(int i) {
        QueueOperation operation = operations[i];
        if (operation != null && operation.frontier().size() > 0) {
            return operation.frontier();
        }
        Frontier promised = own[i].frontierAt(1);
        return promised == null ? Frontier.EMPTY : promised;
    }

    static final int UNKNOWN = 0;
    static final int HELD_BACK = 1;
    static final int ISSUED = 2;
    static final int RUNNING = 3;
    static final int ENDED = 4;
    static final int OVER = 5;

    private int phase(int i) {
        if (!submitted[i]) {
            return UNKNOWN;
        }
        if (own[i].failure() != null || own[i].value() > 0) {
            return OVER;
        }
        if (ended[i] > 0) {
            return ENDED;
        }
        if (started[i] > 0) {
            return RUNNING;
        }
        return frontier(i).size() > 0 ? ISSUED : HELD_BACK;
    }

    /** Observes changes; returns whether the host acted. */
    private boolean observe(int step, long[] before) {
        boolean looksAtMemory = step >> 8 == CLOSE;
        boolean acted = false;
        boolean[] moved = new boolean[count];
        for (int i = 0; i < count; i++) {
            Operation each = program.operations().get(i);
            if (each.kind() == Kind.FREE && ran[i] && freed[each.block()] == 0) {
                freed[each.block()] = ended[i];
            }
            int phase = phase(i);
            moved[i] = phase != phases[i];
            looksAtMemory |= each.kind() != Kind.WORK && (moved[i] || phase == HELD_BACK);
            if (moved[i]) {
                if (phases[i] == HELD_BACK) {
                    heldBack.remove((Integer) i);
                }
                if (phase == HELD_BACK) {
                    heldBack.add(i);
                }
                phases[i] = phase;
                if (phase == OVER && own[i].failure() != null) {
                    hostHeld[i] = isSomethingKept(each.block());
                    acted |= closesUnfreedMemory(each);
                }
            }
        }
        oracle.check();
        if (looksAtMemory) {
            state.lookAtMemory();
        }
        for (int i = 0; i < count; i++) {
            if (moved[i] || phases[i] == HELD_BACK) {
                state.note(i, moved[i], before[i], step);
            }
        }
        return acted;
    }

    /** A failed deallocation frees nothing: the host must. */
    private boolean closesUnfreedMemory(Operation each) {
        Buffer buffer = buffers[each.block()];
        if (each.kind() != Kind.FREE || buffer == null || freed[each.block()] != 0) {
            return false;
        }
        freed[each.block()] = ++sequence;
        buffer.close();
        return true;
    }

    private boolean isSomethingKept(int block) {
        for (int other = 0; other < SmallProgram.BLOCKS; other++) {
            if (other != block && buffers[other] != null && freed[other] == 0) {
                boolean onItsWay = false;
                for (int j = 0; j < count; j++) {
                    Operation each = program.operations().get(j);
                    onItsWay |= each.kind() == Kind.FREE && each.block() == other && phases[j] >= ISSUED;
                }
                if (!onItsWay) {
                    return true;
                }
            }
        }
        return false;
    }

    @Override
    public void close() {
        for (int i = 0; i < buffers.length; i++) {
            Buffer buffer = buffers[i];
            if (buffer != null) {
                buffer.close();
            }
        }
        for (VirtualDevice device : devices) {
            device.close();
        }
        for (AutoCloseable each : toClose.reversed()) {
            try {
                each.close();
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
        }
        tracker.close();
    }
}
