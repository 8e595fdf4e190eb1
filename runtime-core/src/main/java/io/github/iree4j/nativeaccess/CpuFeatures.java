package io.github.iree4j.nativeaccess;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;

/**
 * The features offered to compiled code by this processor and operating system.
 *
 * <p>Queried once; every method needs the native library and throws UNAVAILABLE without it.
 */
public final class CpuFeatures {
    /** Number of 64-bit fields in a kernel's environment. */
    public static final int FIELD_COUNT = 8;

    private CpuFeatures() {}

    /** Queries on first use, when the library is known to be available. */
    private static final class Holder {
        static final String ARCHITECTURE = Shim.text(Shim::cpuArchitecture);
        static final long[] FIELDS = readFields();

        private static long[] readFields() {
            try (Arena arena = Arena.ofConfined()) {
                MemorySegment fields = arena.allocate(ValueLayout.JAVA_LONG, FIELD_COUNT);
                Shim.cpuFeatures(fields.address());
                return fields.toArray(ValueLayout.JAVA_LONG);
            }
        }
    }

    /**
     * Returns the architecture, as named in executable formats.
     *
     * @return {@code x86_64} or {@code arm_64}, as in {@code embedded-elf-x86_64}
     */
    public static String architecture() {
        NativeLibrary.ensureAvailable();
        return Holder.ARCHITECTURE;
    }

    /**
     * Returns whether the processor has a feature and the operating system saves the feature's registers.
     *
     * @param featureName LLVM's name, for example {@code avx512f} or {@code dotprod}
     * @return false also for names unknown to this architecture
     */
    public static boolean has(String featureName) {
        return lookup(featureName) == 1;
    }

    /**
     * Returns whether this architecture defines a feature of this name, present or not.
     *
     * @param featureName LLVM's name
     * @return false for names of other architectures and unknown names
     */
    public static boolean isKnown(String featureName) {
        return lookup(featureName) >= 0;
    }

    private static int lookup(String featureName) {
        NativeLibrary.ensureAvailable();
        byte[] bytes = featureName.getBytes(StandardCharsets.UTF_8);
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment name = arena.allocate(bytes.length + 1L);
            MemorySegment.copy(bytes, 0, name, ValueLayout.JAVA_BYTE, 0, bytes.length);
            return Shim.cpuFeature(name.address(), bytes.length);
        }
    }

    /**
     * Returns the fields as visible to kernels in their environment; bit numbers are defined in IREE's
     * {@code schemas/cpu_feature_bits.inl}.
     *
     * @return a copy of the {@value #FIELD_COUNT} fields
     */
    public static long[] fields() {
        NativeLibrary.ensureAvailable();
        return Holder.FIELDS.clone();
    }
}
