package io.github.iree4j.async;

import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.status.IreeException;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * A change of all timelines of a fence of several points: its signal, its failure, or the count of its signallers.
 *
 * <p>The event holds the locks of all its timelines during the change. The locks are taken in the order of the
 * timelines' numbers, and no other code takes a second such lock, so events sharing timelines wait for one another and
 * never in a circle.
 *
 * <p>FENCE-3: the points of a fence are signalled, fail, or get another signaller as one event. Every value and failure
 * about to change is hidden before the first change, so a thread seeing any change sees all changes; a later signal,
 * promise or count needs a lock of the event; and waiters are called and woken once all locks are released.
 */
final class FenceEvent {
    private final Fence fence;
    private final TimelineSemaphore[] inLockOrder;
    private final boolean[] changing; // by point; causes and due likewise
    private final @Nullable IreeException[] causes; // causes of points that fail; of other points, refusals
    private final @Nullable SemaphoreWaiter[] due;

    private FenceEvent(Fence fence) {
        int count = fence.size();
        this.fence = fence;
        this.inLockOrder = new TimelineSemaphore[count];
        for (int i = 0; i < count; i++) {
            inLockOrder[i] = fence.semaphore(i);
        }
        Arrays.sort(inLockOrder, (one, other) -> Long.compare(one.id(), other.id()));
        this.changing = new boolean[count];
        this.causes = new @Nullable IreeException[count];
        this.due = new @Nullable SemaphoreWaiter[count];
    }

    /**
     * Signals every point that takes the signal.
     *
     * @return the refusal of the first point that refuses; null for none
     */
    static @Nullable IreeException signal(Fence fence, Frontier frontier) {
        return signal(fence, frontier, false).firstCause();
    }

    /**
     * Signals every point that takes the signal, and fails each timeline that refuses.
     *
     * @return the points that refuse
     */
    static List<Fence.Entry> signalOrFail(Fence fence, Frontier frontier) {
        return signal(fence, frontier, true).refused();
    }

    private static FenceEvent signal(Fence fence, Frontier frontier, boolean failRefusing) {
        FenceEvent event = new FenceEvent(fence);
        for (TimelineSemaphore each : event.inLockOrder) {
            each.expect(frontier);
        }
        event.lock();
        try {
            for (int i = 0; i < event.due.length; i++) {
                event.begin(i, frontier, failRefusing);
            }
            event.publish();
        } finally {
            event.unlock();
        }
        event.deliver();
        return event;
    }

    /** Fails every timeline that has not failed yet. */
    static void fail(Fence fence, IreeException cause) {
        FenceEvent event = new FenceEvent(fence);
        event.lock();
        try {
            for (int i = 0; i < event.due.length; i++) {
                event.causes[i] = cause;
                event.changing[i] = fence.semaphore(i).failure() == null;
            }
            event.publish();
        } finally {
            event.unlock();
        }
        event.deliver();
    }

    /**
     * Counts another signaller of every point, if each point accepts. Otherwise a signal in between would reach the
     * points not counted yet and not the others.
     *
     * @return the refusal of the first point that refuses, with nothing counted; null for none
     */
    static @Nullable IreeException addSignaller(Fence fence) {
        FenceEvent event = new FenceEvent(fence);
        for (TimelineSemaphore each : event.inLockOrder) {
            each.keepHistory();
        }
        event.lock();
        try {
            for (int i = 0; i < fence.size(); i++) {
                if (!fence.semaphore(i).acceptsSignaller(fence.value(i))) {
                    return SemaphoreErrors.tooLateToJoin(fence.semaphore(i).value(), fence.value(i));
                }
            }
            for (int i = 0; i < fence.size(); i++) {
                fence.semaphore(i).countSignaller(fence.value(i));
            }
            return null;
        } finally {
            event.unlock();
        }
    }

    private void lock() {
        for (TimelineSemaphore each : inLockOrder) {
            each.lock();
        }
    }

    private void unlock() {
        for (TimelineSemaphore each : inLockOrder) {
            each.unlock();
        }
    }

    private void begin(int i, Frontier frontier, boolean failRefusing) {
        TimelineSemaphore semaphore = fence.semaphore(i);
        if (semaphore.accepts(fence.value(i))) {
            changing[i] = semaphore.begin(fence.value(i), frontier, semaphore.isOwn(frontier));
        } else {
            causes[i] = SemaphoreErrors.refusal(semaphore.value(), fence.value(i), semaphore.failure());
            changing[i] = failRefusing && semaphore.failure() == null;
        }
    }

    private void publish() {
        for (int i = 0; i < due.length; i++) {
            if (changing[i]) {
                fence.semaphore(i).hide();
            }
        }
        for (int i = 0; i < due.length; i++) {
            if (changing[i]) {
                IreeException cause = causes[i];
                due[i] = cause == null
                        ? fence.semaphore(i).publish(fence.value(i))
                        : fence.semaphore(i).publish(cause);
            }
        }
    }

    /** Wakes parked threads of all points before the first callback, which may take its time. */
    private void deliver() {
        boolean held = Callbacks.hold();
        try {
            for (int i = 0; i < due.length; i++) {
                IreeException cause = causes[i];
                long at = cause == null ? fence.value(i) : fence.semaphore(i).value();
                SemaphoreWaiter.deliver(due[i], at, cause);
            }
        } finally {
            if (held) {
                Callbacks.letGo();
            }
        }
    }

    private @Nullable IreeException firstCause() {
        for (IreeException cause : causes) {
            if (cause != null) {
                return cause;
            }
        }
        return null;
    }

    private List<Fence.Entry> refused() {
        if (firstCause() == null) {
            return List.of();
        }
        return IntStream.range(0, causes.length)
                .filter(each -> causes[each] != null)
                .mapToObj(each -> new Fence.Entry(fence.semaphore(each), fence.value(each)))
                .toList();
    }
}
