package io.github.iree4j.hal.record;

import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.BufferRef;
import io.github.iree4j.hal.Channel;
import io.github.iree4j.hal.DispatchConfig;
import io.github.iree4j.hal.Executable;
import io.github.iree4j.hal.schedule.StoredBuffer;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The backend's part of a command buffer: what its device can use and run, and what it makes of the finished recording. Called by the one
 * thread that records, but for {@link #close}.
 */
public interface RecordingBackend {

    /**
     * Checks that commands can use an allocation.
     *
     * @param buffer of any device
     * @return what is retained in its place, whose allocation the recording names
     * @throws IreeException INVALID_ARGUMENT when the device cannot use it; FAILED_PRECONDITION when it is closed
     */
    StoredBuffer<?> usable(Buffer buffer);

    /**
     * Checks what the device asks of a dispatch, beyond what all devices do.
     *
     * @param executable the code
     * @param export ordinal of the entry point, which exists
     * @param config workgroups
     * @param workgroupCount where the counts are; null when the config says
     * @throws IreeException INVALID_ARGUMENT for code of another device; OUT_OF_RANGE, INVALID_ARGUMENT or UNIMPLEMENTED for what it cannot
     *     run
     */
    void checkDispatch(Executable executable, int export, DispatchConfig config, @Nullable BufferRef workgroupCount);

    /**
     * Returns what the device keeps with a dispatch that is recorded now.
     *
     * @param executable the code
     * @param export ordinal of the entry point
     * @param bindings its bindings
     * @return for {@link Recording#flags}
     * @throws IreeException PERMISSION_DENIED when it may write what is read-only to the device
     */
    default int flags(Executable executable, int export, List<BufferRef> bindings) {
        return 0;
    }

    /**
     * Checks that the participants of a collective are this backend's.
     *
     * @param channel the participants
     * @throws IreeException UNIMPLEMENTED without collectives; INVALID_ARGUMENT for channels of another backend
     */
    default void checkChannel(Channel channel) {
        throw new IreeException(StatusCode.UNIMPLEMENTED, "this device has no collective operations");
    }

    /**
     * Returns how many commands can be between two barriers; one that was not asked for follows.
     *
     * @return at least 1
     */
    default int regionLimit() {
        return Integer.MAX_VALUE;
    }

    /**
     * Recording has ended. Called again, with an equal recording, when the command buffer is finished again after this has thrown.
     *
     * @param recording what was recorded
     * @throws IreeException RESOURCE_EXHAUSTED without memory for the device's own form of it; then nothing is kept
     */
    default void finished(Recording recording) {}

    /** The command buffer is gone: what was made of it is freed. Called once, by the thread that released it last. */
    default void close() {}
}
