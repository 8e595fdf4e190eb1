package io.github.iree4j.tensor;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;

/**
 * Bytes of a stream that have arrived before memory for the whole content is allocated. A quarter must have arrived, so
 * a sender obtains at most four times the memory of the bytes sent, regardless of the announced size. Few bytes are not
 * waited for. Confined to one thread.
 */
public final class ArrivedBytes implements AutoCloseable {
    /** Bytes allocated before any have arrived. */
    private static final int AT_ONCE = 1 << 18;

    private static final int SHARE = 4;
    private static final int FIRST = 1 << 16;

    private final Arena arena = Arena.ofConfined();
    private final List<MemorySegment> parts = new ArrayList<>();
    private final InputStream in;
    private final long size;
    private final String what;
    private long arrived;

    private ArrivedBytes(InputStream in, long size, String what) {
        this.in = in;
        this.size = size;
        this.what = what;
    }

    /**
     * Reads the first bytes. Blocks.
     *
     * @param in the stream; not closed
     * @param size all bytes to be read from the stream
     * @param what the name of the bytes in messages
     * @throws IreeException OUT_OF_RANGE when the stream ends early
     */
    public static ArrivedBytes of(InputStream in, long size, String what) throws IOException {
        ArrivedBytes bytes = new ArrivedBytes(in, size, what);
        boolean failed = true;
        try {
            bytes.await(size <= AT_ONCE ? 0 : Math.max(AT_ONCE, size / SHARE));
            failed = false;
            return bytes;
        } finally {
            if (failed) {
                bytes.close();
            }
        }
    }

    private void await(long enough) throws IOException {
        while (arrived < enough) {
            MemorySegment part = arena.allocate(Math.min(enough - arrived, Math.max(FIRST, arrived)));
            read(part);
            parts.add(part);
        }
    }

    private void read(MemorySegment target) throws IOException {
        long before = arrived;
        arrived += TensorStreams.read(in, target);
        if (arrived - before < target.byteSize()) {
            throw IreeException.of(
                    StatusCode.OUT_OF_RANGE, "%s: the data ends after %d of %d bytes".formatted(what, arrived, size));
        }
    }

    /**
     * Moves all bytes: the arrived bytes and the rest of the stream. Blocks.
     *
     * @param target as many bytes
     * @throws IreeException OUT_OF_RANGE when the stream ends early
     */
    public void fill(MemorySegment target) throws IOException {
        long at = 0;
        for (MemorySegment part : parts) {
            MemorySegment.copy(part, 0, target, at, part.byteSize());
            at += part.byteSize();
        }
        read(target.asSlice(at));
    }

    @Override
    public void close() {
        arena.close();
    }
}
