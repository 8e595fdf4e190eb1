package io.github.iree4j.spirv;

import java.util.Comparator;

/**
 * A buffer, or an array of buffers, that an entry point uses.
 *
 * @param set descriptor set
 * @param binding binding of the set
 * @param type {@link #UNIFORM_BUFFER} or {@link #STORAGE_BUFFER}
 * @param count elements of the array; 1 when it is none
 * @param isWritten whether the module may store something there; false only if it does not
 */
public record SpirvResource(int set, int binding, int type, int count, boolean isWritten) {
    /** As a type: read as uniform memory; the number that Vulkan gives it. */
    public static final int UNIFORM_BUFFER = 6;

    /** As a type: read and written; the number that Vulkan gives it. */
    public static final int STORAGE_BUFFER = 7;

    static final Comparator<SpirvResource> ORDER =
            Comparator.comparingInt(SpirvResource::set).thenComparingInt(SpirvResource::binding);
}
