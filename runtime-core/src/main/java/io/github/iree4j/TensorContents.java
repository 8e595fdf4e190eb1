package io.github.iree4j;

import java.io.IOException;
import java.lang.foreign.MemorySegment;

/** Writes the elements of a tensor under creation: {@link Program#upload}. */
@FunctionalInterface
public interface TensorContents {
    /**
     * Writes all elements, row-major, little-endian.
     *
     * @param memory as many bytes as the elements take, with undefined contents; valid until this method returns
     * @throws IOException when the elements cannot be read from their source
     */
    void writeTo(MemorySegment memory) throws IOException;
}
