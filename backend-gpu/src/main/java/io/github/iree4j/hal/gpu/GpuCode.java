package io.github.iree4j.hal.gpu;

import io.github.iree4j.flatbuffer.ExecutableHeader;
import io.github.iree4j.status.IreeException;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/** Executables for CUDA and HIP, without a device: the targets of the code. */
public final class GpuCode {
    private static final List<String> CUDA_IDENTIFIERS = List.of("CDA1", "CUDA");
    private static final List<String> HIP_IDENTIFIERS = List.of("HIP1", "HIPE", "ROCM");

    private GpuCode() {}

    /**
     * Returns the format of an executable.
     *
     * @param bytes a possible executable
     * @return {@code cuda-nvptx-fb}, {@code rocm-hsaco-fb}, or null for another beginning
     */
    public static @Nullable String formatOf(MemorySegment bytes) {
        for (int at : new int[] {0, 4}) { // of a header, of content without a header
            String identifier = ExecutableHeader.identifier(bytes, at);
            if (CUDA_IDENTIFIERS.contains(identifier)) {
                return GpuExecutableFile.CUDA;
            }
            if (HIP_IDENTIFIERS.contains(identifier)) {
                return GpuExecutableFile.HIP;
            }
        }
        return null;
    }

    /**
     * Returns the devices targeted by the code of an executable.
     *
     * @param executable the executable
     * @param format the executable's format
     * @return a phrase for each architecture, such as {@code sm_75 and newer (PTX)}
     * @throws IreeException for an unreadable executable
     */
    public static List<String> targets(MemorySegment executable, String format) {
        TreeSet<String> targets = new TreeSet<>();
        for (GpuImage image : GpuExecutableFile.read(executable, format).modules()) {
            String architecture = image.architecture();
            switch (image.kind()) {
                case PTX -> targets.add(ptx(architecture));
                case ELF, BUNDLE -> {
                    for (String each : architecture.split(", ")) {
                        targets.add(each.isEmpty() ? "no architecture" : each + " (machine code)");
                    }
                }
                case FATBIN -> targets.add("several architectures (" + image.kind() + ")");
            }
        }
        return List.copyOf(targets);
    }

    /**
     * Describes a PTX target. The driver also compiles PTX for newer architectures, unless the PTX needs features of a
     * single architecture or family.
     */
    private static String ptx(String architecture) {
        return architecture.endsWith("a") || architecture.endsWith("f")
                ? architecture + " only (PTX)"
                : architecture + " and newer (PTX)";
    }
}
