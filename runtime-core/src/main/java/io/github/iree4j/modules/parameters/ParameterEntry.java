package io.github.iree4j.modules.parameters;

import io.github.iree4j.lifetime.RefCounted;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/** One parameter: a key and the bytes it stands for, either stored somewhere or made from a repeated pattern. */
public sealed interface ParameterEntry {

    /**
     * Returns the key, unique within its scope.
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
     * A parameter whose bytes exist in memory, usually in a mapped archive.
     *
     * @param key the key
     * @param data the bytes, valid while {@code owner} is retained; programs can scatter to the parameter unless they are read-only
     * @param owner what keeps {@code data} valid: retained by whoever uses the bytes beyond the lifetime of the provider; null when the
     *     garbage collector does
     * @param origin where they come from; null when they are not in a file
     */
    record Stored(
            String key,
            MemorySegment data,
            @Nullable RefCounted owner,
            @Nullable ParameterOrigin origin) implements ParameterEntry {
        /**
         * A parameter that cannot be written and comes from no file.
         *
         * @param key the key
         * @param data the bytes, made read-only
         * @param owner what keeps them valid, or null
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
     * A parameter made of one pattern repeated over its whole length.
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
                throw new IreeException(
                        StatusCode.INVALID_ARGUMENT,
                        "parameter '%s': splat pattern of %d bytes; must be 1, 2, 4, 8 or 16".formatted(key, size));
            }
            if (length < 0 || length % size != 0) {
                throw new IreeException(
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
         * @param offset where to start in the parameter; any value, the pattern has no end
         * @param target what to fill
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
            // What is written is a whole number of patterns (or everything), so doubling it continues the pattern.
            for (long done = head; done < size; ) {
                long step = Math.min(done, size - done);
                MemorySegment.copy(target, 0, target, done, step);
                done += step;
            }
        }
    }
}
