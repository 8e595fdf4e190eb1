package io.github.iree4j.hal;

import io.github.iree4j.async.Fence;
import io.github.iree4j.lifetime.Resource;
import io.github.iree4j.status.IreeException;
import org.jspecify.annotations.Nullable;

/**
 * A group of participants in collective operations, as seen by one of them.
 *
 * <p>Every participant submits the same collectives in the same order: the first of one matches the first of all others, and so on. Sends
 * and receives are counted separately for each pair of participants. A collective completes, for all participants at once, when the last
 * has arrived; no thread blocks for it. When a participant fails, or closes its channel while others depend on it, all pending and later
 * collectives of the group fail with that cause.
 *
 * <p>Safe from any thread; collectives of one participant are numbered as they are submitted.
 */
public abstract class Channel extends Resource {
    /** As a color of {@link #split}: a participant of no group. */
    public static final int NO_COLOR = -1;

    /** For backends. */
    protected Channel() {}

    /**
     * Returns which participant this is.
     *
     * @return 0 to {@link #count()} - 1
     * @throws IreeException FAILED_PRECONDITION before the channel is {@link #ready}; why it never will be
     */
    public abstract int rank();

    /**
     * Returns how many participants there are.
     *
     * @return the count
     * @throws IreeException FAILED_PRECONDITION before the channel is {@link #ready}; why it never will be
     */
    public abstract int count();

    /**
     * Returns the fence that is reached when rank and count are known: for a channel made by {@link #split}, once all participants have
     * split.
     *
     * @return the fence, borrowed; null when there is nothing to wait for
     */
    public abstract @Nullable Fence ready();

    /**
     * Splits this group: all participants call this, and those of one color form a new group. Does not wait for the others.
     *
     * @param color 0 or above; {@link #NO_COLOR} for a participant that joins no group
     * @param key orders the ranks in the new group; equal keys keep the order of ranks in this group
     * @return the new channel, which the caller closes; null with {@link #NO_COLOR}
     * @throws IreeException INVALID_ARGUMENT for another negative color; UNIMPLEMENTED for a group that spans processes; the failure of the group
     */
    public abstract @Nullable Channel split(int color, int key);
}
