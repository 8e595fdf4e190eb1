package io.github.iree4j.hal.stream;

import io.github.iree4j.status.IreeException;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A participant's part of a group call, on the lane of its communicator. The part's memory is in use until the part
 * ends: when the lane has reached the ticket, or the device is lost.
 */
final class CollectiveRun implements StreamWork, WatchedPoint {
    private final StreamDevice device;
    private final Lane lane;
    private final long ticket;
    private final @Nullable DriverCommands commands; // null for a run that only waits for earlier work of the lane
    private final Consumer<@Nullable IreeException> then;
    private final AtomicBoolean over = new AtomicBoolean();
    private volatile @Nullable IreeException refused;

    /**
     * Creates a run. A run with commands begins a use of the device; {@code then} ends the use.
     *
     * @param commands the commands; null for a run that continues another run, to wait for earlier work of the lane
     * @param then notified of the outcome once, by any thread with no lock held
     */
    CollectiveRun(
            StreamDevice device,
            Lane lane,
            long ticket,
            @Nullable DriverCommands commands,
            Consumer<@Nullable IreeException> then) {
        this.device = device;
        this.lane = lane;
        this.ticket = ticket;
        this.commands = commands;
        this.then = then;
        if (commands != null) {
            device.enter();
        }
    }

    /** Returns the point for waits of other work of the device, once the run is submitted. */
    ForeignPoint point() {
        return ForeignPoint.open(device, lane.timeline(), ticket);
    }

    /** Submits the part to the lane. */
    void submit(TimelineWaits waits) {
        lane.submit(List.of(new Submission(waits, this, ticket)));
        lane.give();
    }

    /** Starts watching for the end; not under a lock. */
    void watch() {
        device.watch(this);
    }

    /** Records a refusal by the driver after submission; called before the ticket is reached. */
    void refused(IreeException cause) {
        refused = cause;
    }

    @Override
    public String name() {
        return "collective";
    }

    @Override
    public DriverCommands commands() {
        return Objects.requireNonNull(commands);
    }

    /** Returns whether the run has commands for the lane. */
    boolean hasCommands() {
        return commands != null;
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
        return true; // the group has failed and notified its participants
    }

    @Override
    public void end(@Nullable IreeException failure) {
        if (!over.compareAndSet(false, true)) {
            return;
        }
        then.accept(failure == null ? refused : failure);
    }
}
