package io.github.iree4j.nativeaccess.gpu;

import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** The interfaces of GPU drivers, corresponding call by call. */
public enum GpuKind {
    /** NVIDIA's. */
    CUDA("cuda", "nccl"),

    /** AMD's. */
    HIP("hip", "rccl");

    private final String driver;
    private final String collectives;

    GpuKind(String driver, String collectives) {
        this.driver = driver;
        this.collectives = collectives;
    }

    /** The library of the driver named by the system property or the environment variable; null for the usual library. */
    @Nullable
    String library() {
        return named(driver);
    }

    /** The library of collectives named by the system property or the environment variable; null for the usual library. */
    @Nullable
    String collectivesLibrary() {
        return named(collectives);
    }

    /** A file, or a name resolved by the dynamic linker: {@code iree.cuda.library}, or {@code IREE4J_LIBCUDA}. */
    private static @Nullable String named(String library) {
        return System.getProperty(
                "iree." + library + ".library", System.getenv("IREE4J_LIB" + library.toUpperCase(Locale.ROOT)));
    }
}
