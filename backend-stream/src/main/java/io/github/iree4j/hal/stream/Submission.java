package io.github.iree4j.hal.stream;

import io.github.iree4j.status.IreeException;
import org.jspecify.annotations.Nullable;

/** A submission to a {@link Lane}: waits for points, runs commands, and raises the lane's timeline to a ticket. Immutable for the driver. */
public final class Submission {
    private final TimelineWaits waits;
    private final @Nullable StreamWork work;
    private final long ticket;
    private final @Nullable StreamEntry entry;
    private final @Nullable CollectiveRun run; // instead of an entry

    Submission(TimelineWaits waits, @Nullable StreamWork work, long ticket, @Nullable StreamEntry entry) {
        this.waits = waits;
        this.work = work;
        this.ticket = ticket;
        this.entry = entry;
        this.run = null;
    }

    Submission(TimelineWaits waits, CollectiveRun run, long ticket) {
        this.waits = waits;
        this.work = run.hasCommands() ? run : null;
        this.ticket = ticket;
        this.entry = null;
        this.run = run;
    }

    Submission withoutWork() {
        return new Submission(waits, null, ticket, entry);
    }

    /**
     * Returns the submission to give to the driver now: without commands if an operation that this operation relies on
     * is known to have failed, for example because the driver has refused the commands of that operation. This
     * submission has then failed, too; waits and ticket remain. For lanes that give submissions after
     * {@link Lane#submit}: called once the awaited points have been given to the driver, right before the commands.
     *
     * @return this submission, or a submission in its place
     */
    public Submission due() {
        IreeException cause = entry == null || work == null ? null : entry.outcome.failure();
        if (entry == null || cause == null) {
            return this;
        }
        entry.failLate(cause);
        return withoutWork();
    }

    @Nullable
    StreamEntry entry() {
        return entry;
    }

    /**
     * Returns the number of points to wait for.
     *
     * @return 0 for none
     */
    public int waitCount() {
        return waits.count();
    }

    /**
     * Returns the timeline of a point to wait for.
     *
     * @param index from 0 to less than {@link #waitCount}
     * @return the timeline, live until the submission is complete
     */
    public DriverTimeline waitTimeline(int index) {
        return waits.timeline(index);
    }

    /**
     * Returns the value of a point to wait for.
     *
     * @param index from 0 to less than {@link #waitCount}
     * @return the value
     */
    public long waitValue(int index) {
        return waits.value(index);
    }

    /**
     * Returns the commands to run.
     *
     * @return the commands, valid until the submission is complete; null for none
     */
    public @Nullable DriverCommands commands() {
        return work == null ? null : work.commands();
    }

    /**
     * Returns the submitter's context for the commands.
     *
     * @return the result of {@link Lane#context} on the submitting thread; null for no context, and without commands
     */
    public @Nullable Object context() {
        return work == null ? null : work.context();
    }

    /**
     * Returns the value of the lane's timeline after this submission.
     *
     * @return the ticket
     */
    public long ticket() {
        return ticket;
    }

    /**
     * Reports the driver's refusal of the commands, or of a part. The operation fails once the ticket is reached; the
     * ticket must be reached in any case. For a driver detecting the refusal after {@link Lane#submit} took the
     * submission. Called before the ticket is reached.
     *
     * @param cause the driver's reason
     */
    public void fail(IreeException cause) {
        if (entry != null) {
            entry.failLate(cause);
        }
        if (run != null) {
            run.refused(cause);
        }
    }

    /**
     * Returns the name of the submission, for messages.
     *
     * @return the name of the operation
     */
    public String name() {
        return work == null ? "a wait" : work.name();
    }
}
