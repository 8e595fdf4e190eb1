package io.github.iree4j.hal.record;

import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.BufferRef;
import io.github.iree4j.hal.Channel;
import io.github.iree4j.hal.Collective;
import io.github.iree4j.hal.DispatchConfig;
import io.github.iree4j.hal.Executable;
import io.github.iree4j.hal.schedule.StoredBuffer;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The backend's part of a command buffer: checks what its device can use and run, and receives the finished recording. Called by
 * the recording thread, except for {@link #close}.
 */
public interface RecordingBackend {

    /**
     * Checks that commands can use an allocation.
     *
     * @param buffer of any device
     * @return the allocation, which the recording names and retains
     * @throws IreeException INVALID_ARGUMENT when the device cannot use it; FAILED_PRECONDITION when it is closed
     */
    StoredBuffer<?> usable(Buffer buffer);

    /**
     * Returns whether transfers may write to a buffer despite its access flags.
     *
     * @param buffer a target of any device
     * @return true where they write to a copy that belongs to the call of the current thread
     */
    default boolean isCopiedOnWrite(Buffer buffer) {
        return false;
    }

    /**
     * Checks the device's own requirements for a dispatch, beyond those of all devices.
     *
     * @param executable the code
     * @param export ordinal of the entry point, which exists
     * @param config workgroups
     * @param workgroupCount the counts of an indirect dispatch; null when they are in the config
     * @throws IreeException INVALID_ARGUMENT for code of another device; OUT_OF_RANGE, INVALID_ARGUMENT or UNIMPLEMENTED for a
     *     dispatch that it cannot run
     */
    void checkDispatch(Executable executable, int export, DispatchConfig config, @Nullable BufferRef workgroupCount);

    /**
     * Returns the device's flags for a dispatch that is being recorded.
     *
     * @param executable the code
     * @param export ordinal of the entry point
     * @param bindings its bindings
     * @return the value of {@link Recording#flags}
     * @throws IreeException PERMISSION_DENIED when it may write memory that is read-only to the device
     */
    default int flags(Executable executable, int export, List<BufferRef> bindings) {
        return 0;
    }

    /**
     * Checks that a channel belongs to this backend.
     *
     * @param channel the participants
     * @throws IreeException UNIMPLEMENTED without collectives; INVALID_ARGUMENT for channels of another backend
     */
    default void checkChannel(Channel channel) {
        throw new IreeException(StatusCode.UNIMPLEMENTED, "this device has no collective operations");
    }

    /**
     * Checks a collective that is being recorded, beyond what all devices require.
     *
     * @param operation the operation
     * @throws IreeException UNIMPLEMENTED when the backend lacks it
     */
    default void checkCollective(Collective operation) {}

    /**
     * Returns the maximum number of commands between two barriers; an implicit barrier follows.
     *
     * @return at least 1
     */
    default int regionLimit() {
        return Integer.MAX_VALUE;
    }

    /**
     * Notifies of the end of recording. Called again, with an equal recording, if the command buffer is finished again after this method threw.
     *
     * @param recording the recording
     * @throws IreeException RESOURCE_EXHAUSTED without memory for the device's own form of it; then nothing is retained
     */
    default void finished(Recording recording) {}

    /** Frees what was derived from the command buffer. Called once, by the thread that releases its last reference. */
    default void close() {}
}
