package io.github.iree4j.hal.gpu;

import io.github.iree4j.flatbuffer.ExecutableHeader;
import io.github.iree4j.status.IreeException;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/** Executables for CUDA and HIP where there is no device: what they are compiled for. */
public final class GpuCode {
    private static final List<String> CUDA_IDENTIFIERS = List.of("CDA1", "CUDA");
    private static final List<String> HIP_IDENTIFIERS = List.of("HIP1", "HIPE", "ROCM");

    private GpuCode() {}

    /**
     * Returns the format of an executable.
     *
     * @param bytes what may be one
     * @return {@code cuda-nvptx-fb}, {@code rocm-hsaco-fb}, or null when it begins like neither
     */
    public static @Nullable String formatOf(MemorySegment bytes) {
        for (int at : new int[] {0, 4}) { // of a header, of the content without one
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
     * Returns which devices an executable has code for.
     *
     * @param executable the executable
     * @param format its format
     * @return a phrase for each architecture, such as {@code sm_75 and newer (PTX)}
     * @throws IreeException if it cannot be read
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

    /** The driver compiles PTX for newer architectures too, unless it needs what only one or one family has. */
    private static String ptx(String architecture) {
        return architecture.endsWith("a") || architecture.endsWith("f")
                ? architecture + " only (PTX)"
                : architecture + " and newer (PTX)";
    }
}
