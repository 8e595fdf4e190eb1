package io.github.iree4j;

import java.io.IOException;
import java.lang.foreign.MemorySegment;

/** Writes the elements of a tensor that is being created: {@link Program#upload}. */
@FunctionalInterface
public interface TensorContents {
    /**
     * Writes all elements, row-major, little-endian.
     *
     * @param memory as many bytes as the elements take, with undefined contents; valid until this returns
     * @throws IOException when they cannot be read from their source
     */
    void writeTo(MemorySegment memory) throws IOException;
}
