package io.github.iree4j.hal.stream;

import io.github.iree4j.status.IreeException;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** A participant of a group on one device, in the driver's library of collectives. Safe from any thread; nothing waits for other participants. */
public interface Communicator {

    /**
     * Returns its lane, which takes only what {@link StreamCollectives#commands} makes for it.
     *
     * @return the lane, which belongs to the communicator
     */
    Lane lane();

    /**
     * Joins the group of those that split off this one's with the same color, as another communicator.
     *
     * @param color 0 or above; negative to join none, which the others need to know as well
     * @param key orders the ranks
     * @param state as for {@link StreamCollectives#join}
     * @return the other communicator, which the caller closes
     */
    Communicator split(int color, int key, Consumer<@Nullable IreeException> state);

    /**
     * Returns its rank; once it has joined.
     *
     * @return the rank
     */
    int rank();

    /**
     * Returns how many participants there are; once it has joined.
     *
     * @return the count
     */
    int count();

    /** Ends its work without result, soon. Repeatable. */
    void abort();

    /** Leaves. Nothing is under way, or it was aborted. */
    void close();
}
