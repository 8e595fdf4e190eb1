package io.github.iree4j.hal;

import io.github.iree4j.api.NotForApplications;
import io.github.iree4j.async.Fence;
import io.github.iree4j.lifetime.Resource;
import io.github.iree4j.status.IreeException;
import org.jspecify.annotations.Nullable;

/**
 * A group of participants in collective operations, as seen by one participant.
 *
 * <p>Every participant submits the same collectives in the same order: the first of each participant matches the first
 * of all others, and so on. Sends and receives are counted separately for each pair of participants. A collective
 * completes, for all participants at once, when the last participant has arrived; no thread blocks for the collective.
 * When a participant fails, or closes its channel while others depend on the participant, all pending and later
 * collectives of the group fail with the same cause.
 *
 * <p>Safe from any thread; collectives of one participant are numbered in the order of submission.
 */
@NotForApplications
public abstract class Channel extends Resource {
    /** As a color of {@link #split}: a participant of no group. */
    public static final int NO_COLOR = -1;

    /** For backends. */
    protected Channel() {}

    /**
     * Returns the rank of this participant.
     *
     * @return 0 to {@link #count()} - 1
     * @throws IreeException FAILED_PRECONDITION before the channel is {@link #ready}; the cause when the channel will
     *     never be
     */
    public abstract int rank();

    /**
     * Returns the number of participants.
     *
     * @return the count
     * @throws IreeException FAILED_PRECONDITION before the channel is {@link #ready}; the cause when the channel will
     *     never be
     */
    public abstract int count();

    /**
     * Returns the fence reached when rank and count are known: for a channel made by {@link #split}, once all
     * participants have split.
     *
     * @return the fence, borrowed; null when there is nothing to wait for
     */
    public abstract @Nullable Fence ready();

    /**
     * Splits this group: all participants call this, and the participants of each color form a new group. Does not wait
     * for the others.
     *
     * @param color 0 or above; {@link #NO_COLOR} for a participant joining no group
     * @param key orders the ranks in the new group; equal keys keep the order of ranks in this group
     * @return the new channel, closed by the caller; null with {@link #NO_COLOR}
     * @throws IreeException INVALID_ARGUMENT for another negative color; UNIMPLEMENTED for a group across processes;
     *     the failure of the group
     */
    public abstract @Nullable Channel split(int color, int key);
}
