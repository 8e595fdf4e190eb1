package io.github.iree4j.hal.stream;

import io.github.iree4j.hal.Collective;
import io.github.iree4j.status.IreeException;
import java.util.List;

/**
 * A library of collectives: one object for all devices that can meet. Optional for drivers, see {@link StreamDriver#collectives}. Safe from any
 * thread. Its communicators are numbers: each is a participant of a group, on one device. Nothing waits for other participants.
 *
 * <p>A lane whose submission has a {@link GroupCall} as its commands calls {@link GroupCall#meet} instead of running commands, on a thread that may
 * block, and passes later submissions to the hardware after that.
 */
public abstract class StreamCollectives {
    private final Communicators communicators;

    /**
     * For drivers.
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
     * Creates an id of a group, which may span processes.
     *
     * @return characters below 256, for bytes
     * @throws IreeException if the library refuses
     */
    protected abstract String createId();

    /**
     * Returns whether a text can be such an id.
     *
     * @param text name of a group
     * @return true if {@link #createId} may have returned it in some process
     */
    protected abstract boolean isId(String text);

    /**
     * Checks an operation when it is recorded.
     *
     * @param operation the operation
     * @throws IreeException UNIMPLEMENTED when the library lacks it, saying what to do
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
     * Closes a lane that {@link #openLane} returned.
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
     * @param rank its rank
     * @param count number of participants
     * @return the communicator, for {@link #end}
     * @throws IreeException if the library refuses
     */
    protected abstract long join(StreamDriver device, String id, int rank, int count);

    /**
     * Returns whether the last call for a communicator is still in progress.
     *
     * @param device its device
     * @param communicator the communicator
     * @return false when it has ended
     * @throws IreeException if it, or a later operation, has failed; ABORTED when the device is lost
     */
    protected abstract boolean isPending(StreamDriver device, long communicator);

    /**
     * Begins to leave a group, in agreement with the others.
     *
     * @param device its device
     * @param communicator the communicator
     * @throws IreeException if the library refuses
     */
    protected abstract void leave(StreamDriver device, long communicator);

    /**
     * Frees a communicator.
     *
     * @param device its device
     * @param communicator one that has left; any, if it is aborted
     * @param aborts whether its work ends now, without result
     */
    protected abstract void end(StreamDriver device, long communicator, boolean aborts);

    /**
     * Gives lanes the work of collectives in one group call. Goes on until {@link #isPending} is false for all communicators.
     *
     * @param calls what participants do, each in its order
     * @throws IreeException if the library refuses
     */
    protected abstract void run(List<CollectiveCall> calls);
}
