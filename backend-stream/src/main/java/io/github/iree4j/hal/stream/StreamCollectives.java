package io.github.iree4j.hal.stream;

import io.github.iree4j.hal.Collective;
import io.github.iree4j.status.IreeException;
import java.util.List;

/**
 * A library of collectives: a single object for all devices able to meet. Optional for drivers, see
 * {@link StreamDriver#collectives}. Safe from any thread. Communicators are numbers, each for a participant of a group
 * on a device. No method waits for other participants.
 *
 * <p>A lane calls {@link GroupCall#meet} for a submission with a {@link GroupCall} as commands, instead of running
 * commands, on a thread allowed to block. The lane passes later submissions to the hardware afterwards.
 */
public abstract class StreamCollectives {
    private final Communicators communicators;

    /**
     * Creates the base of a driver's library.
     *
     * @param name of the library, for the names of threads
     */
    protected StreamCollectives(String name) {
        communicators = new Communicators(name);
    }

    final Communicators communicators() {
        return communicators;
    }

    /**
     * Creates an id of a group; groups may span processes.
     *
     * @return characters below 256, for bytes
     * @throws IreeException if the library refuses
     */
    protected abstract String createId();

    /**
     * Returns whether a text can be an id of this library.
     *
     * @param text name of a group
     * @return true if {@link #createId} may have returned the text in some process
     */
    protected abstract boolean isId(String text);

    /**
     * Checks an operation when recorded.
     *
     * @param operation the operation
     * @throws IreeException UNIMPLEMENTED when the library lacks the operation, with a remedy
     */
    protected abstract void check(Collective operation);

    /**
     * Opens a lane for a participant.
     *
     * @param device the device
     * @return the lane, for {@link #closeLane}
     * @throws IreeException if the driver refuses
     */
    protected abstract Lane openLane(StreamDriver device);

    /**
     * Closes a lane returned by {@link #openLane}.
     *
     * @param device the device
     * @param lane the lane; its submissions have ended, or the device is lost
     */
    protected abstract void closeLane(StreamDriver device, Lane lane);

    /**
     * Begins to join a group.
     *
     * @param device the device of the participant
     * @param id from {@link #createId}, the same for all participants
     * @param rank the participant's rank
     * @param count number of participants
     * @return the communicator, for {@link #end}
     * @throws IreeException if the library refuses
     */
    protected abstract long join(StreamDriver device, String id, int rank, int count);

    /**
     * Returns whether the last call for a communicator is still in progress.
     *
     * @param device the communicator's device
     * @param communicator the communicator
     * @return false when the call has ended
     * @throws IreeException if the call, or a later operation, has failed; ABORTED when the device is lost
     */
    protected abstract boolean isPending(StreamDriver device, long communicator);

    /**
     * Begins to leave a group, in agreement with the other participants.
     *
     * @param device the communicator's device
     * @param communicator the communicator
     * @throws IreeException if the library refuses
     */
    protected abstract void leave(StreamDriver device, long communicator);

    /**
     * Frees a communicator.
     *
     * @param device the communicator's device
     * @param communicator a communicator that has left; any communicator when aborting
     * @param aborts whether the communicator's work ends now, without result
     */
    protected abstract void end(StreamDriver device, long communicator, boolean aborts);

    /**
     * Passes the work of collectives to lanes in a single group call. The call continues until {@link #isPending} is
     * false for all communicators.
     *
     * @param calls the parts of the participants, in each participant's order
     * @throws IreeException if the library refuses
     */
    protected abstract void run(List<CollectiveCall> calls);
}
