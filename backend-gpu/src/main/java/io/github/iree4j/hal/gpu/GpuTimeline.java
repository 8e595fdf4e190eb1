package io.github.iree4j.hal.gpu;

import io.github.iree4j.hal.gpu.GpuEvents.Event;
import io.github.iree4j.hal.stream.DriverTimeline;
import io.github.iree4j.hal.stream.Followers;
import io.github.iree4j.lifetime.Resource;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * A counter for drivers with binary events: the value observed by the host, and, on the timeline of a lane, the events
 * of the submissions that will raise the value. A stream waits for a value by such an event; before the event exists,
 * the lane of the stream holds the submission back.
 *
 * <p>Follows the design of IREE's CUDA driver ({@code cuda-hal.md}): the host and all streams signal and wait in any
 * order, without host functions on a stream.
 */
final class GpuTimeline extends Resource implements DriverTimeline {
    private final GpuHardware hardware;
    private final @Nullable GpuLane lane;
    private final AtomicLong reached;
    private final Followers<GpuLane> held = new Followers<>(); // lanes to feed after the next change

    private final @Nullable Event imported;
    private final long last; // value of the imported event

    /**
     * Creates a timeline.
     *
     * @param lane the lane whose tickets are the values; null for none
     * @param imported a foreign event, raising the timeline to the value; null for none
     * @param value the initial value, or the value of the event
     */
    GpuTimeline(GpuHardware hardware, @Nullable GpuLane lane, @Nullable Event imported, long value) {
        this.hardware = hardware;
        this.lane = lane;
        this.reached = new AtomicLong(imported == null ? value : value - 1);
        this.imported = imported;
        this.last = value;
    }

    @Override
    public long value() {
        hardware.checkNotLost();
        if (imported != null && isImported() && hardware.device().isComplete(imported.handle)) {
            raise(last);
        }
        return lane == null ? reached.get() : Math.max(reached.get(), lane.lastOver());
    }

    /** An attending thread asks the driver soon; questions of other threads would only delay the attending thread. */
    @Override
    public long seenValue() {
        if (lane == null || !lane.isAttended()) {
            return value();
        }
        hardware.checkNotLost();
        return reached.get();
    }

    /** Returns whether this is a foreign event not yet seen complete by the host: the driver sends no notification, so the host polls the event. */
    boolean isImported() {
        return imported != null && reached.get() < last;
    }

    /** Returns whether the host has observed a value. */
    boolean hasReached(long value) {
        return reached.get() >= value;
    }

    @Override
    public void signal(long value) {
        hardware.checkNotLost();
        raise(value);
    }

    /** Raises the value, and notifies waiters. */
    void raise(long value) {
        if (reached.getAndAccumulate(value, Math::max) >= value) {
            return;
        }
        hardware.wakeWaiter();
        changed();
    }

    /** Retains and returns an event for an unreached value; null while there is none. */
    @Nullable
    Event event(long value) {
        if (imported != null) {
            hardware.events().retain(imported);
            return imported;
        }
        return lane == null ? null : lane.event(value);
    }

    /** Registers a lane to be fed after the next change. */
    void follow(GpuLane follower) {
        held.add(follower);
    }

    /** Called after a new event or a new value: lets waiting lanes give held submissions. */
    void changed() {
        held.takeAll().forEach(GpuLane::give);
    }

    @Override
    protected String describe() {
        return "timeline";
    }

    @Override
    protected void destroy() {}
}
