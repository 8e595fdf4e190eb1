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
     * @param lane where they will be submitted
     * @return empty commands; the borrower releases them
     */
    TransferCommands transfers(Lane lane);

    /**
     * Checks a dispatch when it is recorded.
     *
     * @param executable what runs
     * @param export ordinal of the export, not checked yet
     * @param config workgroups
     * @param workgroupCount where an indirect dispatch finds its workgroup counts; null for a direct one
     * @throws IreeException INVALID_ARGUMENT unless this driver loaded the executable on this device; why the device cannot run it
     */
    void checkDispatch(Executable executable, int export, DispatchConfig config, @Nullable BufferRef workgroupCount);

    /**
     * Returns what {@link Recording#flags} keeps of a dispatch for this driver.
     *
     * @param executable what runs, which was checked
     * @param export ordinal of the export
     * @param fixed whether no binding changes between executions
     * @return bits of the driver's own; 0 for none
     */
    default int flags(Executable executable, int export, boolean fixed) {
        return 0;
    }

    /**
     * Returns whether a dispatch may write a binding.
     *
     * @param executable what runs, which was checked
     * @param export ordinal of the export
     * @param binding number of the binding
     * @return false only when the code certainly does not
     */
    boolean mayWrite(Executable executable, int export, int binding);

    /**
     * Makes a form of a recording. May take long.
     *
     * @param recording the recording
     * @param bindings where its buffers lie; resolved anew before each {@link CommandForm#prepare}
     * @param updates the bytes of its updates; null for none
     * @param lane where it will be submitted, or another lane of that family
     * @param oneShot whether it is executed once
     * @return the form; the caller closes it
     */
    CommandForm form(
            Recording recording,
            ResolvedBindings bindings,
            @Nullable StreamStorage updates,
            Lane lane,
            boolean oneShot);

    /** Frees what is not lent, and the rest when it comes back. */
    @Override
    void close();
}
