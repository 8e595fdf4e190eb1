package io.github.iree4j.hal.stream;

import io.github.iree4j.hal.Collective;
import io.github.iree4j.status.IreeException;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A library of collectives: one object for all devices that can meet. Optional for drivers, see {@link StreamDriver#collectives}. Safe from any
 * thread; nothing waits for other participants.
 */
public interface StreamCollectives {

    /**
     * Makes an id for a group, which may span processes.
     *
     * @return characters below 256, for bytes
     * @throws IreeException if the library refuses
     */
    String createId();

    /**
     * Returns whether a text can be such an id.
     *
     * @param text name of a group
     * @return true if {@link #createId} of some process may have made it
     */
    boolean isId(String text);

    /**
     * Checks an operation when it is recorded.
     *
     * @param operation the operation
     * @throws IreeException UNIMPLEMENTED when the library lacks it, naming what it has
     */
    void check(Collective operation);

    /**
     * Begins to join a group.
     *
     * @param device the device of the participant
     * @param id gives an id of {@link #createId}, the same for all; asked once, by another thread
     * @param rank its rank
     * @param count how many there are
     * @param state told with null once it has joined, and then, or instead, at most once why it has failed; by another thread, with no lock held
     * @return the participant, which the caller closes
     */
    Communicator join(
            StreamDriver device, Supplier<String> id, int rank, int count, Consumer<@Nullable IreeException> state);

    /**
     * Makes the commands of one group call: each participant's part runs on its lane, and the library gets all of them at once. All have joined.
     *
     * @param participants communicators of one group
     * @param calls what each does, in its order
     * @return commands for the lane of each
     */
    List<? extends DriverCommands> commands(
            List<? extends Communicator> participants, List<? extends List<CollectiveCall>> calls);
}
