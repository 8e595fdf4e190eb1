package io.github.iree4j.hal.stream;

import io.github.iree4j.hal.BufferRef;
import io.github.iree4j.hal.DispatchConfig;
import io.github.iree4j.hal.Executable;
import io.github.iree4j.hal.record.Recording;
import io.github.iree4j.status.IreeException;
import org.jspecify.annotations.Nullable;

/** Turns recordings and transfers into commands of a driver. Safe from any thread. */
public interface StreamEncoder extends AutoCloseable {

    /**
     * Lends commands for a transfer.
     *
     * @param lane the lane of the submission
     * @return empty commands, released by the borrower
     */
    TransferCommands transfers(Lane lane);

    /**
     * Checks a dispatch when recorded.
     *
     * @param executable the executable
     * @param export ordinal of the export, not checked yet
     * @param config workgroups
     * @param workgroupCount the workgroup counts of an indirect dispatch; null for a direct dispatch
     * @throws IreeException INVALID_ARGUMENT unless this driver loaded the executable on this device; or the reason why
     *     the device cannot run the dispatch
     */
    void checkDispatch(Executable executable, int export, DispatchConfig config, @Nullable BufferRef workgroupCount);

    /**
     * Returns the driver's bits for a dispatch, kept in {@link Recording#flags}.
     *
     * @param executable the executable, checked before
     * @param export ordinal of the export
     * @param fixed whether no binding changes between executions
     * @return driver-defined bits; 0 for none
     */
    default int flags(Executable executable, int export, boolean fixed) {
        return 0;
    }

    /**
     * Creates a form of a recording. May take long.
     *
     * @param recording the recording
     * @param bindings the locations of the recording's buffers; resolved anew before each {@link CommandForm#prepare}
     * @param updates the bytes of the recording's updates; null for none
     * @param lane the lane of the submission, or another lane of its family
     * @param oneShot whether the recording is executed once
     * @return the form; the caller closes it
     */
    CommandForm form(
            Recording recording,
            ResolvedBindings bindings,
            @Nullable StreamStorage updates,
            Lane lane,
            boolean oneShot);

    /** Frees everything not lent; lent objects are freed on their return. */
    @Override
    void close();
}
