package io.github.iree4j.spring.problems;

import io.github.iree4j.IreeRuntime;
import io.github.iree4j.api.NotForApplications;
import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.DeviceQueue;
import io.github.iree4j.hal.PendingOperation;
import io.github.iree4j.spring.Programs;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The calls, and the pending and in-flight operations, of a runtime, with the points to be signalled: a snapshot. The
 * operations of a queue are read up to a limit, further operations when a signaller is missing, up to {@link #MOST};
 * beyond this number the signaller of a point is unknown. Confined to one thread.
 */
@NotForApplications
public final class Signallers {

    /** The maximum number of examined operations of a queue; the cost is in proportion to the number. */
    static final int MOST = 1 << 17;

    /** The maximum number of signallers examined without success, over all points of a timeline awaited by signallers of the timeline. */
    private static final int MOST_STEPS = 1 << 22;

    /**
     * An operation that has not ended.
     *
     * @param queue the operation's queue
     * @param operation the operation
     * @param issued whether the operation is in flight; otherwise the queue defers the operation
     */
    public record Submitted(DeviceQueue queue, PendingOperation operation, boolean issued) implements Signaller {
        @Override
        public List<PendingOperation.Wait> waits() {
            return operation.waits();
        }

        @Override
        public List<PendingOperation.Point> signals() {
            return operation.signals();
        }
    }

    /**
     * An expected signal.
     *
     * @param value the value of the timeline
     * @param by the work that will signal the value
     */
    record Signal(long value, Signaller by) {}

    /** The signals expected on a timeline. */
    private static final class Timeline {
        private final List<Signal> signals = new ArrayList<>(1);
        private boolean sorted;

        /** Returns the index of the first signal of a value or more. */
        int from(long value) {
            if (!sorted) {
                signals.sort(
                        Comparator.comparingLong(Signal::value)); // stable: operations in flight come first, calls last
                sorted = true;
            }
            int low = 0;
            int high = signals.size();
            while (low < high) {
                int middle = (low + high) >>> 1;
                if (signals.get(middle).value < value) {
                    low = middle + 1;
                } else {
                    high = middle;
                }
            }
            return low;
        }
    }

    private record Point(long semaphore, long value) {}

    private final IreeRuntime runtime;
    private final Programs programs;
    private final int most;
    private final List<ActiveCall> calls;
    private final List<Submitted> operations;
    private final Map<Long, Timeline> timelines = new HashMap<>();
    private final Set<Point> unsignalled = new HashSet<>();
    private final List<DeviceQueue> unread = new ArrayList<>(); // queues with more operations than the limit
    private int limit;
    private int steps;

    /**
     * Takes a snapshot.
     *
     * @param runtime the runtime
     * @param programs the runtime's programs
     * @param listed number of listed pending operations of each queue, the longest waiting first
     */
    public Signallers(IreeRuntime runtime, Programs programs, int listed) {
        this(runtime, programs, listed, MOST);
    }

    /** Takes a snapshot that reads at most the given number of operations of a queue. */
    Signallers(IreeRuntime runtime, Programs programs, int listed, int most) {
        this.runtime = runtime;
        this.programs = programs;
        this.most = most;
        this.limit = listed;
        this.calls = ActiveCall.all(runtime, programs); // first: a call submits operations
        this.operations = read(calls);
    }

    /** Reads pending operations before operations in flight: an operation moves from the first list to the second. */
    private List<Submitted> read(List<ActiveCall> ofCalls) {
        List<Submitted> pending = new ArrayList<>();
        List<Submitted> issued = new ArrayList<>();
        timelines.clear();
        unsignalled.clear();
        unread.clear();
        for (DeviceQueue queue : queues()) {
            List<PendingOperation> read = queue.pending(limit);
            read.forEach(each -> pending.add(new Submitted(queue, each, false)));
            if (read.size() >= limit) {
                unread.add(queue);
            }
        }
        for (DeviceQueue queue : queues()) {
            List<PendingOperation> read = queue.inFlight(limit);
            read.forEach(each -> issued.add(new Submitted(queue, each, true)));
            if (read.size() >= limit && !unread.contains(queue)) {
                unread.add(queue);
            }
        }
        issued.forEach(this::index);
        pending.forEach(this::index);
        ofCalls.forEach(this::index);
        return pending;
    }

    private List<DeviceQueue> queues() {
        List<DeviceQueue> queues = new ArrayList<>();
        for (Device device : runtime.devices()) {
            for (int i = 0; i < device.queueCount(); i++) {
                queues.add(device.queue(i));
            }
        }
        return queues;
    }

    private void index(Signaller each) {
        for (PendingOperation.Point point : each.signals()) {
            timelines
                    .computeIfAbsent(point.semaphore(), _ -> new Timeline())
                    .signals
                    .add(new Signal(point.value(), each));
        }
    }

    /** Returns the listed pending operations, queue by queue. */
    public List<Submitted> operations() {
        return operations;
    }

    /** Returns the calls in flight, of all programs. */
    List<ActiveCall> calls() {
        return calls;
    }

    /**
     * Returns the work that will signal a point without a promise: among operations and calls signalling at least the
     * value, without waiting for the point themselves, the work signalling least; of several the operation. A later
     * signal does not count where the work waits for the point through others.
     *
     * @param wait the point
     * @return the work; null when there is none, or when unknown: see {@link #unread}
     */
    public @Nullable Signaller of(PendingOperation.Wait wait) {
        Signaller found = find(wait);
        if (!(found instanceof Submitted) && limit < most && !unread.isEmpty()) {
            limit = most;
            read(ActiveCall.all(runtime, programs));
            found = find(wait);
        }
        return found;
    }

    private @Nullable Signaller find(PendingOperation.Wait wait) {
        Timeline timeline = timelines.get(wait.semaphore());
        Point point = new Point(wait.semaphore(), wait.value());
        if (timeline == null || unsignalled.contains(point)) {
            return null;
        }
        for (int i = timeline.from(wait.value()); i < timeline.signals.size() && steps < MOST_STEPS; i++) {
            Signal signal = timeline.signals.get(i);
            boolean waits = signal.value == point.value
                    ? waitsFor(signal.by, point) // otherwise a cycle, shown by its members
                    : isBehind(signal.by, point);
            if (!waits) {
                return signal.by;
            }
            steps++;
        }
        unsignalled.add(point);
        return null;
    }

    private static boolean waitsFor(Signaller work, Point point) {
        for (PendingOperation.Wait each : work.waits()) {
            if (each.semaphore() == point.semaphore && each.value() >= point.value) {
                return true;
            }
        }
        return false;
    }

    /** Returns whether work waits for a point, directly or through the first signallers of other points. */
    private boolean isBehind(Signaller work, Point point) {
        Set<Signaller> seen = Collections.newSetFromMap(new IdentityHashMap<>());
        Deque<Signaller> open = new ArrayDeque<>(List.of(work));
        for (; !open.isEmpty() && steps < MOST_STEPS; steps++) {
            Signaller next = open.remove();
            if (waitsFor(next, point)) {
                return true;
            }
            for (PendingOperation.Wait each : next.waits()) {
                Signal signal = first(each);
                if (signal != null && seen.add(signal.by)) {
                    open.add(signal.by);
                }
            }
        }
        return false;
    }

    /**
     * Returns the first expected signal of a point, or of a later point of the timeline.
     *
     * @param wait the point
     * @return the signal, possibly of work that waits for the point; null for none
     */
    @Nullable
    Signal first(PendingOperation.Wait wait) {
        Timeline timeline = timelines.get(wait.semaphore());
        int first = timeline == null ? 0 : timeline.from(wait.value());
        return timeline == null || first == timeline.signals.size() ? null : timeline.signals.get(first);
    }

    /**
     * Returns the queues with further operations, possible signallers of points without an examined signaller; empty
     * when all operations were examined.
     */
    public List<DeviceQueue> unread() {
        return steps < MOST_STEPS ? unread : queues();
    }
}
