package io.github.iree4j.nativeaccess;

import org.jspecify.annotations.Nullable;

/** The interfaces of GPU drivers that correspond call by call. */
public enum GpuKind {
    /** NVIDIA's. */
    CUDA("iree.cuda.library", "IREE4J_LIBCUDA", "iree.nccl.library", "IREE4J_LIBNCCL"),

    /** AMD's. */
    HIP("iree.hip.library", "IREE4J_LIBHIP", "iree.rccl.library", "IREE4J_LIBRCCL");

    private final String property;
    private final String variable;
    private final String collectivesProperty;
    private final String collectivesVariable;

    GpuKind(String property, String variable, String collectivesProperty, String collectivesVariable) {
        this.property = property;
        this.variable = variable;
        this.collectivesProperty = collectivesProperty;
        this.collectivesVariable = collectivesVariable;
    }

    /** The library of collectives that the system property or the environment variable for it names; null for the usual one. */
    @Nullable
    String collectivesLibrary() {
        return System.getProperty(collectivesProperty, System.getenv(collectivesVariable));
    }

    /**
     * Returns the system property that names the library to open instead of the usual one.
     *
     * @return its name; the value is a file, or a name that the dynamic linker resolves
     */
    public String property() {
        return property;
    }

    /**
     * Returns the environment variable with the same meaning.
     *
     * @return its name
     */
    public String variable() {
        return variable;
    }
}
