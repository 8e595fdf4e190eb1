package io.github.iree4j.modules.parameters;

import io.github.iree4j.lifetime.RefCounted;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/** A parameter: a key and bytes, either stored or a repeated pattern. */
public sealed interface ParameterEntry {

    /**
     * Returns the key, unique within a scope.
     *
     * @return the key
     */
    String key();

    /**
     * Returns the length of the parameter in bytes.
     *
     * @return the length, zero or more
     */
    long length();

    /**
     * A parameter with bytes in memory, usually in a mapped archive.
     *
     * @param key the key
     * @param data the bytes, valid while {@code owner} is retained; programs can scatter to the parameter unless the
     *     bytes are read-only
     * @param owner keeps {@code data} valid: retained by users of the bytes beyond the lifetime of the provider; null
     *     for memory managed by the garbage collector
     * @param origin the file location; null when the bytes are not in a file
     */
    record Stored(
            String key,
            MemorySegment data,
            @Nullable RefCounted owner,
            @Nullable ParameterOrigin origin) implements ParameterEntry {
        /**
         * Creates a read-only parameter without a file.
         *
         * @param key the key
         * @param data the bytes, made read-only
         * @param owner keeps the bytes valid, or null
         */
        public Stored(String key, MemorySegment data, @Nullable RefCounted owner) {
            this(key, data.asReadOnly(), owner, null);
        }

        @Override
        public long length() {
            return data.byteSize();
        }
    }

    /**
     * A parameter made of a pattern repeated over the whole length.
     *
     * @param key the key
     * @param length the length in bytes, a multiple of the pattern's
     * @param pattern the pattern, in memory order; 1, 2, 4, 8 or 16 bytes
     */
    record Splat(String key, long length, byte[] pattern) implements ParameterEntry {
        /** Checks lengths and copies the pattern. */
        public Splat {
            int size = pattern.length;
            if (size == 0 || size > 16 || Integer.bitCount(size) != 1) {
                throw IreeException.of(
                        StatusCode.INVALID_ARGUMENT,
                        "parameter '%s': splat pattern of %d bytes; must be 1, 2, 4, 8 or 16".formatted(key, size));
            }
            if (length < 0 || length % size != 0) {
                throw IreeException.of(
                        StatusCode.INVALID_ARGUMENT,
                        "parameter '%s': %s bytes are not a multiple of the splat pattern's %d"
                                .formatted(key, Long.toUnsignedString(length), size));
            }
            pattern = pattern.clone();
        }

        @Override
        public byte[] pattern() {
            return pattern.clone();
        }

        /**
         * Writes the bytes {@code [offset, offset + target.byteSize())} of this parameter.
         *
         * @param offset the start in the parameter; any value, since the pattern repeats endlessly
         * @param target the memory to fill
         */
        public void fill(long offset, MemorySegment target) {
            long size = target.byteSize();
            if (pattern.length == 1) {
                target.fill(pattern[0]);
                return;
            }
            long head = Math.min(size, pattern.length);
            for (int i = 0; i < head; i++) {
                target.set(java.lang.foreign.ValueLayout.JAVA_BYTE, i, pattern[(int) ((offset + i) % pattern.length)]);
            }
            // The bytes written so far are a whole number of patterns (or everything), so doubling the written part
            // continues the pattern.
            for (long done = head; done < size; ) {
                long step = Math.min(done, size - done);
                MemorySegment.copy(target, 0, target, done, step);
                done += step;
            }
        }
    }
}
