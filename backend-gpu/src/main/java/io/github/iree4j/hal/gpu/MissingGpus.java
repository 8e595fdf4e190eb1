package io.github.iree4j.hal.gpu;

import io.github.iree4j.nativeaccess.NativeLibrary;
import io.github.iree4j.nativeaccess.gpu.GpuKind;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** Finds the reason why a driver finds no device. */
final class MissingGpus {
    private MissingGpus() {}

    static String explain(GpuKind kind) {
        return explain(kind, NativeLibrary.platform(), Path.of("/dev"));
    }

    /**
     * Explains missing devices on a platform.
     *
     * @param platform its name
     * @param devices the directory of the operating system's devices, on Linux
     */
    static String explain(GpuKind kind, String platform, Path devices) {
        String found = "its library is there and finds no device";
        if (!platform.startsWith("linux-")) {
            return found + "; see that the device manager lists one without an error, and that " + variables(kind)
                    + " hides none";
        }
        Path node = devices.resolve(kind == GpuKind.CUDA ? "nvidiactl" : "kfd");
        if (!Files.exists(node)) {
            return found + "; there is no " + node
                    + ": load the kernel module of the driver, or in a container give it the GPU ("
                    + String.join(" ", options(kind)) + ")";
        }
        if (!Files.isReadable(node) || !Files.isWritable(node)) {
            return found + "; this process may not open " + node + ": grant its user access"
                    + (kind == GpuKind.CUDA ? "" : ", usually through the group 'render' or 'video'");
        }
        return found + "; compare with what " + (kind == GpuKind.CUDA ? "nvidia-smi -L" : "rocminfo")
                + " lists, and see that " + variables(kind) + " hides none";
    }

    private static List<String> options(GpuKind kind) {
        return kind == GpuKind.CUDA ? List.of("--gpus all") : List.of("--device=/dev/kfd", "--device=/dev/dri");
    }

    private static String variables(GpuKind kind) {
        return kind == GpuKind.CUDA ? "CUDA_VISIBLE_DEVICES" : "HIP_VISIBLE_DEVICES or ROCR_VISIBLE_DEVICES";
    }
}
