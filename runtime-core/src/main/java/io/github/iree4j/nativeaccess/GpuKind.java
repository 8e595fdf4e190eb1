package io.github.iree4j.nativeaccess;

/** The interfaces of GPU drivers that correspond call by call. */
public enum GpuKind {
    /** NVIDIA's. */
    CUDA("iree.cuda.library", "IREE4J_LIBCUDA"),

    /** AMD's. */
    HIP("iree.hip.library", "IREE4J_LIBHIP");

    private final String property;
    private final String variable;

    GpuKind(String property, String variable) {
        this.property = property;
        this.variable = variable;
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
