package io.github.iree4j.hal.stream;

import io.github.iree4j.status.IreeException;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * One participant's part of a group call, on the lane of its communicator. Its memory is in use until it ends: when the lane has reached its
 * ticket, or the device is lost.
 */
final class CollectiveRun implements StreamWork, WatchedPoint {
    private final StreamDevice device;
    private final Lane lane;
    private final long ticket;
    private final DriverCommands commands;
    private final Consumer<@Nullable IreeException> then;
    private final AtomicBoolean over = new AtomicBoolean();
    private volatile @Nullable IreeException refused;

    /**
     * Creates a run, which counts as work of the device until it ends.
     *
     * @param then told the outcome once, by any thread with no lock held
     */
    CollectiveRun(
            StreamDevice device,
            Lane lane,
            long ticket,
            DriverCommands commands,
            Consumer<@Nullable IreeException> then) {
        this.device = device;
        this.lane = lane;
        this.ticket = ticket;
        this.commands = commands;
        this.then = then;
        device.enter();
    }

    /** What others of the device can wait for once this is submitted. */
    ForeignPoint point() {
        return new ForeignPoint(device, lane.timeline(), ticket);
    }

    /** Gives the lane the part. */
    void submit(TimelineWaits waits) {
        lane.submit(List.of(new Submission(waits, this, ticket)));
    }

    /** Has the end noticed; not under a lock. */
    void watch() {
        device.watch(this);
    }

    /** The driver refused it after it was submitted; before the ticket is reached. */
    void refused(IreeException cause) {
        refused = cause;
    }

    @Override
    public String name() {
        return "collective";
    }

    @Override
    public DriverCommands commands() {
        return commands;
    }

    @Override
    public void over() {}

    @Override
    public DriverTimeline timeline() {
        return lane.timeline();
    }

    @Override
    public long value() {
        return ticket;
    }

    @Override
    public boolean abandon(IreeException cause) {
        return true; // its group has failed and told its participants
    }

    @Override
    public void end(@Nullable IreeException failure) {
        if (!over.compareAndSet(false, true)) {
            return;
        }
        try {
            then.accept(failure == null ? refused : failure);
        } finally {
            device.exit();
        }
    }
}
