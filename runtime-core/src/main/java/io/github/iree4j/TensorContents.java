package io.github.iree4j;

import io.github.iree4j.tensor.TensorStreams;
import java.io.IOException;
import java.io.InputStream;
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

    /**
     * Returns the next bytes of a stream, no more than the elements take.
     *
     * @param in the stream; not closed
     * @return contents that fail with OUT_OF_RANGE when the stream ends early
     */
    static TensorContents of(InputStream in) {
        return memory -> TensorStreams.read(in, memory, "tensor");
    }
}
