package io.github.iree4j.hal.gpu;

import io.github.iree4j.hal.ExecutableExport;
import io.github.iree4j.hal.record.Recording;

/**
 * One export of an executable.
 *
 * @param export its description
 * @param handle the driver's function
 * @param dynamicSharedBytes shared memory of a workgroup besides what the code declares
 * @param readOnly by binding: whether the code only reads it
 */
record GpuKernel(ExecutableExport export, long handle, int dynamicSharedBytes, boolean[] readOnly) {

    /** The kernel of a dispatch; recording has checked that it belongs to a device of this kind. */
    static GpuKernel of(Recording recording, int at) {
        return ((GpuExecutable) recording.executable(at)).kernel(recording.export(at));
    }

    /** Whether the code may write a binding. */
    boolean mayWrite(int binding) {
        return binding >= readOnly.length || !readOnly[binding];
    }
}
