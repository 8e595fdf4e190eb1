package io.github.iree4j.tensor;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** Transfers bytes between streams and memory, through a small array, never an array of all bytes. */
public final class TensorStreams {
    private static final int CHUNK = 1 << 14;

    /** The size in bytes below which copying is cheaper than allocating native memory. */
    private static final int SMALL = 4096;

    private TensorStreams() {}

    /** Allocates memory for data to be read, used in place by devices where in-place use pays. */
    public static MemorySegment allocate(long size) {
        if (size < SMALL) {
            return HeapElements.allocate(size);
        }
        try {
            return Arena.ofAuto().allocate(size, DeviceMemory.ALIGNMENT);
        } catch (OutOfMemoryError e) {
            throw IreeException.of(
                    StatusCode.RESOURCE_EXHAUSTED,
                    "there is no native memory for a tensor of %d bytes".formatted(size),
                    e);
        }
    }

    /** Reads until the target is full or the stream ends; returns the number of bytes. */
    static long read(InputStream in, MemorySegment target) throws IOException {
        long size = target.byteSize();
        byte[] chunk = new byte[(int) Math.min(size, CHUNK)];
        long at = 0;
        while (at < size) {
            int count = in.read(chunk, 0, (int) Math.min(size - at, chunk.length));
            if (count < 0) {
                return at;
            }
            MemorySegment.copy(chunk, 0, target, ValueLayout.JAVA_BYTE, at, count);
            at += count;
        }
        return at;
    }

    public static void write(TensorElements elements, OutputStream out) throws IOException {
        try {
            elements.read(data -> {
                try {
                    write(data, out);
                    return true;
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
            });
        } catch (UncheckedIOException e) {
            throw e.getCause();
        }
    }

    private static void write(MemorySegment source, OutputStream out) throws IOException {
        long size = source.byteSize();
        byte[] chunk = new byte[(int) Math.min(size, CHUNK)];
        for (long at = 0; at < size; ) {
            int count = (int) Math.min(size - at, chunk.length);
            MemorySegment.copy(source, ValueLayout.JAVA_BYTE, at, chunk, 0, count);
            out.write(chunk, 0, count);
            at += count;
        }
    }
}
