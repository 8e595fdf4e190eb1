package io.github.iree4j.hal.stream;

import io.github.iree4j.status.IreeException;
import java.util.List;
import java.util.Objects;
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
    private final @Nullable DriverCommands commands; // null: only what the lane was given before is to end
    private final Consumer<@Nullable IreeException> then;
    private final AtomicBoolean over = new AtomicBoolean();
    private volatile @Nullable IreeException refused;

    /**
     * Creates a run. One with commands begins a use of the device, which {@code then} ends.
     *
     * @param commands the commands; null for a run that goes on for another one, to wait for what the lane was given
     * @param then told the outcome once, by any thread with no lock held
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

    /** What others of the device can wait for once this is submitted. */
    ForeignPoint point() {
        return ForeignPoint.open(device, lane.timeline(), ticket);
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
        return Objects.requireNonNull(commands);
    }

    /** Whether the lane is given something. */
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
        return true; // its group has failed and told its participants
    }

    @Override
    public void end(@Nullable IreeException failure) {
        if (!over.compareAndSet(false, true)) {
            return;
        }
        then.accept(failure == null ? refused : failure);
    }
}
