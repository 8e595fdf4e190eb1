package io.github.iree4j.hal.gpu;

import io.github.iree4j.flatbuffer.FlatBuffer;
import io.github.iree4j.hal.gpu.GpuExecutableFile.Export;
import java.util.ArrayList;
import java.util.List;

/**
 * Executables from before August 2024 ({@code schemas/cuda_executable_def.fbs} and
 * {@code schemas/rocm_executable_def.fbs}): a single module with kernels described by parallel vectors. The program,
 * not the executable, declares the parameters of dispatches. A vector was inserted without a version number, in
 * February 2022 for CUDA and in October 2023 for ROCm; the position of the image distinguishes the versions:
 *
 * <pre>
 *   slot   before                    since
 *   0      kernels                   kernels
 *   1      block sizes               block sizes
 *   2      image                     dynamic shared memory
 *   3                                image
 * </pre>
 */
final class OldGpuExecutable {
    private OldGpuExecutable() {}

    static GpuExecutableFile read(FlatBuffer.Table root) {
        boolean hasShared = root.has("image", 3);
        GpuImage image = GpuExecutableFile.image(root, "image", hasShared ? 3 : 2);
        FlatBuffer.Vector names = GpuExecutableFile.exports(root, "kernels", 0);
        FlatBuffer.Vector blocks = GpuExecutableFile.blocks(root, "block sizes", 1);
        FlatBuffer.Vector shared = hasShared ? GpuExecutableFile.exports(root, "shared memory sizes", 2) : null;
        checkCount("block sizes", blocks.count(), names.count());
        if (shared != null && shared.count() != 0) { // left out without shared memory
            checkCount("shared memory sizes", shared.count(), names.count());
        }
        List<Export> exports = new ArrayList<>();
        for (int i = 0; i < names.count(); i++) {
            exports.add(GpuExecutableFile.checkBlock(new Export(
                    GpuExecutableFile.checkName(i, names.string(i)),
                    0,
                    blocks.i32(i, 0),
                    blocks.i32(i, 4),
                    blocks.i32(i, 8),
                    shared == null || shared.count() == 0 ? 0 : shared.i32(i, 0),
                    GpuExecutableFile.UNDECLARED,
                    GpuExecutableFile.UNDECLARED,
                    null)));
        }
        return new GpuExecutableFile(List.of(image), exports);
    }

    private static void checkCount(String what, int count, int kernels) {
        if (count != kernels) {
            throw GpuExecutableFile.invalid("it has %d %s for %d kernels", count, what, kernels);
        }
    }
}
