package io.github.iree4j.hal.record;

import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.BufferRef;
import io.github.iree4j.hal.Channel;
import io.github.iree4j.hal.Collective;
import io.github.iree4j.hal.DispatchConfig;
import io.github.iree4j.hal.Executable;
import io.github.iree4j.hal.storage.StoredBuffer;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The backend's part of a command buffer: checks the usable buffers and code of the device, and receives the finished
 * recording. Called by the recording thread, except for {@link #close}.
 */
public interface RecordingBackend {

    /**
     * Checks that commands can use an allocation.
     *
     * @param buffer of any device
     * @return the allocation, named and retained by the recording
     * @throws IreeException INVALID_ARGUMENT when the device cannot use the buffer; FAILED_PRECONDITION when the buffer
     *     is closed
     */
    StoredBuffer<?> usable(Buffer buffer);

    /**
     * Returns whether transfers may write to a buffer despite its access flags.
     *
     * @param buffer a target of any device
     * @return true where transfers write to a copy belonging to the call of the current thread
     */
    default boolean isCopiedOnWrite(Buffer buffer) {
        return false;
    }

    /**
     * Checks the device's own requirements for a dispatch, beyond the requirements of all devices.
     *
     * @param executable the code
     * @param export ordinal of an existing entry point
     * @param config workgroups
     * @param workgroupCount the counts of an indirect dispatch; null for counts in the config
     * @throws IreeException INVALID_ARGUMENT for code of another device; OUT_OF_RANGE, INVALID_ARGUMENT or
     *     UNIMPLEMENTED for a dispatch the device cannot run
     */
    void checkDispatch(Executable executable, int export, DispatchConfig config, @Nullable BufferRef workgroupCount);

    /**
     * Returns the device's flags for a dispatch during recording.
     *
     * @param executable the code
     * @param export ordinal of the entry point
     * @param bindings the bindings of the dispatch
     * @return the value of {@link Recording#flags}
     * @throws IreeException PERMISSION_DENIED when the dispatch may write memory that is read-only to the device
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
        throw IreeException.of(StatusCode.UNIMPLEMENTED, "this device has no collective operations");
    }

    /**
     * Checks a collective during recording, beyond the requirements of all devices.
     *
     * @param operation the operation
     * @throws IreeException UNIMPLEMENTED when the backend lacks the operation
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
     * Notifies of the end of recording. Called again, with an equal recording, if the command buffer is finished again
     * after this method threw.
     *
     * @param recording the recording
     * @throws IreeException RESOURCE_EXHAUSTED without memory for the device's form of the recording; then nothing is
     *     retained
     */
    default void finished(Recording recording) {}

    /** Frees all objects derived from the command buffer. Called once, by the thread releasing the last reference. */
    default void close() {}
}
