package io.github.iree4j.spring.problems;

import io.github.iree4j.IreeRuntime;
import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.DeviceQueue;
import io.github.iree4j.hal.PendingOperation;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The pending operations of a runtime and those in flight, and what they will signal: a snapshot. The operations of a queue are
 * read up to a limit, further ones once a signaller is not among them, up to {@link #MOST}; beyond that it is not known what
 * signals a point. Confined to one thread.
 */
public final class Signallers {

    /** The most operations of a queue that are looked at; the cost is in proportion to their number. */
    static final int MOST = 1 << 17;

    /** The most operations that are looked at in vain, over all points of one timeline that operations of it wait for. */
    private static final int MOST_STEPS = 1 << 22;

    /**
     * An operation that is not over.
     *
     * @param queue its queue
     * @param operation the operation
     * @param issued whether it is in flight; otherwise the queue holds it back
     */
    public record Submitted(DeviceQueue queue, PendingOperation operation, boolean issued) {}

    private record Signal(long value, Submitted by) {}

    /** What will signal a timeline. */
    private static final class Timeline {
        private final List<Signal> signals = new ArrayList<>(1);
        private boolean sorted;

        /** The index of the first signal of a value or more. */
        int from(long value) {
            if (!sorted) {
                signals.sort(Comparator.comparingLong(Signal::value)); // stable: those in flight are first
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
    private final int most;
    private final List<Submitted> operations;
    private final Map<Long, Timeline> timelines = new HashMap<>();
    private final Set<Point> unsignalled = new HashSet<>();
    private final List<DeviceQueue> unread = new ArrayList<>(); // have more operations than the limit
    private int limit;
    private int steps;

    /**
     * Takes a snapshot.
     *
     * @param runtime the runtime
     * @param listed how many pending operations of each queue are listed, the longest waiting first
     */
    public Signallers(IreeRuntime runtime, int listed) {
        this(runtime, listed, MOST);
    }

    /** Takes one that reads at most so many operations of a queue. */
    Signallers(IreeRuntime runtime, int listed, int most) {
        this.runtime = runtime;
        this.most = most;
        this.limit = listed;
        this.operations = read();
    }

    /** Reads those that wait, and then those in flight: an operation goes from one list to the other. */
    private List<Submitted> read() {
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

    private void index(Submitted each) {
        for (PendingOperation.Point point : each.operation.signals()) {
            timelines
                    .computeIfAbsent(point.semaphore(), _ -> new Timeline())
                    .signals
                    .add(new Signal(point.value(), each));
        }
    }

    /** Returns the pending operations that are listed, queue by queue. */
    public List<Submitted> operations() {
        return operations;
    }

    /**
     * Returns the operation that will signal a point without a promise: of those that signal as much or more, without waiting for
     * the point themselves, the one that signals least.
     *
     * @param wait the point
     * @return the operation; null when there is none, or when it is not known: see {@link #unread}
     */
    public @Nullable Submitted of(PendingOperation.Wait wait) {
        Submitted found = find(wait);
        if (found == null && limit < most && !unread.isEmpty()) {
            limit = most;
            read();
            found = find(wait);
        }
        return found;
    }

    private @Nullable Submitted find(PendingOperation.Wait wait) {
        Timeline timeline = timelines.get(wait.semaphore());
        Point point = new Point(wait.semaphore(), wait.value());
        if (timeline == null || unsignalled.contains(point)) {
            return null;
        }
        for (int i = timeline.from(wait.value()); i < timeline.signals.size() && steps < MOST_STEPS; i++) {
            Submitted by = timeline.signals.get(i).by;
            if (!waitsFor(by.operation, point)) {
                return by;
            }
            steps++;
        }
        unsignalled.add(point);
        return null;
    }

    private static boolean waitsFor(PendingOperation operation, Point point) {
        for (PendingOperation.Wait each : operation.waits()) {
            if (each.semaphore() == point.semaphore && each.value() >= point.value) {
                return true;
            }
        }
        return false;
    }

    /** Returns the queues with further operations, which may signal what none that was looked at does; empty when all were. */
    public List<DeviceQueue> unread() {
        return steps < MOST_STEPS ? unread : queues();
    }
}
