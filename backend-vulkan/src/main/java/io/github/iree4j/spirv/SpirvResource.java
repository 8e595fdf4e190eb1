package io.github.iree4j.spirv;

import java.util.Comparator;

/**
 * A buffer, or an array of buffers, used by an entry point.
 *
 * @param set descriptor set
 * @param binding binding of the set
 * @param type {@link #UNIFORM_BUFFER} or {@link #STORAGE_BUFFER}
 * @param count elements of the array; 1 without an array
 * @param isWritten whether the module may write the buffer; false only if the module never does
 */
public record SpirvResource(int set, int binding, int type, int count, boolean isWritten) {
    /** A type: uniform memory, read only; Vulkan's number. */
    public static final int UNIFORM_BUFFER = 6;

    /** A type: read and written; Vulkan's number. */
    public static final int STORAGE_BUFFER = 7;

    static final Comparator<SpirvResource> ORDER =
            Comparator.comparingInt(SpirvResource::set).thenComparingInt(SpirvResource::binding);
}
