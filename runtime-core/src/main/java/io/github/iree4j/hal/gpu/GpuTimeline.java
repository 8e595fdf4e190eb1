package io.github.iree4j.hal.gpu;

import io.github.iree4j.hal.gpu.GpuEvents.Event;
import io.github.iree4j.hal.stream.DriverTimeline;
import io.github.iree4j.hal.stream.Followers;
import io.github.iree4j.lifetime.Resource;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * A counter on drivers whose events are binary: a value that the host has seen reached, and, for a lane's, the events of
 * submissions that will reach more. A stream that waits for a value waits for such an event; while there is none, its lane holds the
 * submission back.
 *
 * <p>After the design of IREE's CUDA driver ({@code cuda-hal.md}): signals and waits in all directions and in any order, without functions
 * that a stream calls on the host.
 */
final class GpuTimeline extends Resource implements DriverTimeline {
    private final GpuHardware hardware;
    private final @Nullable GpuLane lane;
    private final AtomicLong reached;
    private final Followers<GpuLane> held = new Followers<>(); // they wait for something to change here

    private final @Nullable Event imported;
    private final long last; // the value of that

    /**
     * Makes one.
     *
     * @param lane whose tickets are its values; null for none
     * @param imported an event of others, which reaches the value; null for none
     * @param value where it starts, without such an event
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
        if (imported != null && isImported() && hardware.device().isOver(imported.handle)) {
            raise(last);
        }
        return lane == null ? reached.get() : Math.max(reached.get(), lane.lastOver());
    }

    /** Whether this is an event of others that the host has not seen over: the driver does not tell, so the host looks. */
    boolean isImported() {
        return imported != null && reached.get() < last;
    }

    /** Whether the host has seen a value reached. */
    boolean hasReached(long value) {
        return reached.get() >= value;
    }

    @Override
    public void signal(long value) {
        hardware.checkNotLost();
        raise(value);
    }

    /** The value is reached: lets those know who wait for it. */
    void raise(long value) {
        if (reached.getAndAccumulate(value, Math::max) >= value) {
            return;
        }
        hardware.wakeWaiter();
        changed();
    }

    /** An event for a value that is not reached, with a user more; null while there is none. */
    @Nullable
    Event event(long value) {
        if (imported != null) {
            hardware.events().retain(imported);
            return imported;
        }
        return lane == null ? null : lane.event(value);
    }

    /** Has a lane look again once anything changes here. */
    void follow(GpuLane follower) {
        held.add(follower);
    }

    /** There is another event, or a value is reached. */
    void changed() {
        held.takeAll().forEach(GpuLane::feed);
    }

    @Override
    protected String describe() {
        return "timeline";
    }

    @Override
    protected void destroy() {}
}
