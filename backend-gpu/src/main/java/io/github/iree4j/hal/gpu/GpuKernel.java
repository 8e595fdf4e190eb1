package io.github.iree4j.hal.gpu;

import io.github.iree4j.hal.ExecutableExport;
import io.github.iree4j.hal.record.Recording;

/**
 * An export of an executable.
 *
 * @param export the description
 * @param handle the driver's function
 * @param dynamicSharedBytes shared memory of a workgroup beyond the code's declaration
 * @param readOnly by binding: whether the code only reads the binding
 */
record GpuKernel(ExecutableExport export, long handle, int dynamicSharedBytes, boolean[] readOnly) {

    /** Returns the kernel of a dispatch; recording has checked that the kernel belongs to a device of this kind. */
    static GpuKernel of(Recording recording, int at) {
        return ((GpuExecutable) recording.executable(at)).kernel(recording.export(at));
    }

    /** Returns whether the code may write a binding. */
    boolean mayWrite(int binding) {
        return binding >= readOnly.length || !readOnly[binding];
    }
}
