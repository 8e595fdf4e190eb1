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
     * Lends commands for one transfer.
     *
     * @param lane the lane of the submission
     * @return empty commands; the borrower releases them
     */
    TransferCommands transfers(Lane lane);

    /**
     * Checks a dispatch when it is recorded.
     *
     * @param executable the executable
     * @param export ordinal of the export, not checked yet
     * @param config workgroups
     * @param workgroupCount the workgroup counts of an indirect dispatch; null for a direct one
     * @throws IreeException INVALID_ARGUMENT unless this driver loaded the executable on this device; or the reason why the device cannot run it
     */
    void checkDispatch(Executable executable, int export, DispatchConfig config, @Nullable BufferRef workgroupCount);

    /**
     * Returns the driver's bits for a dispatch, kept in {@link Recording#flags}.
     *
     * @param executable the executable, which was checked
     * @param export ordinal of the export
     * @param fixed whether no binding changes between executions
     * @return driver-defined bits; 0 for none
     */
    default int flags(Executable executable, int export, boolean fixed) {
        return 0;
    }

    /**
     * Returns whether a dispatch may write a binding.
     *
     * @param executable the executable, which was checked
     * @param export ordinal of the export
     * @param binding number of the binding
     * @return false only when the code is known not to
     */
    boolean mayWrite(Executable executable, int export, int binding);

    /**
     * Creates a form of a recording. May take long.
     *
     * @param recording the recording
     * @param bindings the locations of its buffers; resolved anew before each {@link CommandForm#prepare}
     * @param updates the bytes of its updates; null for none
     * @param lane the lane of the submission, or another one of its family
     * @param oneShot whether it is executed once
     * @return the form; the caller closes it
     */
    CommandForm form(
            Recording recording,
            ResolvedBindings bindings,
            @Nullable StreamStorage updates,
            Lane lane,
            boolean oneShot);

    /** Frees what is not lent, and the rest when it is returned. */
    @Override
    void close();
}
