package io.github.iree4j.nativeaccess;

import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** The interfaces of GPU drivers that correspond call by call. */
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

    /** The library of the driver that the system property or the environment variable for it names; null for the usual one. */
    @Nullable
    String library() {
        return named(driver);
    }

    /** The same for the library of collectives. */
    @Nullable
    String collectivesLibrary() {
        return named(collectives);
    }

    /** A file, or a name that the dynamic linker resolves: {@code iree.cuda.library}, or {@code IREE4J_LIBCUDA}. */
    private static @Nullable String named(String library) {
        return System.getProperty(
                "iree." + library + ".library", System.getenv("IREE4J_LIB" + library.toUpperCase(Locale.ROOT)));
    }
}
