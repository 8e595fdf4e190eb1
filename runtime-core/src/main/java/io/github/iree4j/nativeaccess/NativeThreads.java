package io.github.iree4j.nativeaccess;

import io.github.iree4j.status.IreeException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.ref.Reference;
import java.util.BitSet;

/** Operating system attributes of the calling thread. For the runtime's platform threads: on a virtual thread, changes would affect the carrier. */
public final class NativeThreads {
    private static final int WORDS = 8192 / Long.SIZE; // SHIM_MAX_PROCESSORS

    private NativeThreads() {}

    /**
     * Restricts the calling thread to a set of processors.
     *
     * @param mask bit n % 64 of word n / 64 is processor n; at most 128 words
     * @throws IreeException INVALID_ARGUMENT when this process may use none of the processors, PERMISSION_DENIED when
     *     the system forbids the change, UNIMPLEMENTED without {@link SystemCapability#AFFINITY}, UNAVAILABLE without
     *     the native library
     */
    public static void setAffinity(long[] mask) {
        NativeLibrary.ensureAvailable();
        NativeError error = new NativeError();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment words = arena.allocate(ValueLayout.JAVA_LONG, Math.max(1, mask.length));
            MemorySegment.copy(mask, 0, words, ValueLayout.JAVA_LONG, 0, mask.length);
            int status = Shim.threadSetAffinity(words.address(), mask.length, error.address());
            if (status != 0) {
                throw error.toException(status);
            }
        } finally {
            Reference.reachabilityFence(error);
        }
    }

    /**
     * Returns the processors allowed for the calling thread.
     *
     * @return a mask as for {@link #setAffinity}, without trailing zero words
     * @throws IreeException UNIMPLEMENTED without {@link SystemCapability#AFFINITY}, UNAVAILABLE without the native
     *     library
     */
    public static long[] affinity() {
        NativeLibrary.ensureAvailable();
        NativeError error = new NativeError();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment words = arena.allocate(ValueLayout.JAVA_LONG, WORDS);
            int status = Shim.threadAffinity(words.address(), WORDS, error.address());
            if (status != 0) {
                throw error.toException(status);
            }
            return BitSet.valueOf(words.toArray(ValueLayout.JAVA_LONG)).toLongArray();
        } finally {
            Reference.reachabilityFence(error);
        }
    }

    /**
     * Returns whether arithmetic on the calling thread flushes denormals to zero. Only compiled kernels want this mode;
     * Java code must never run in this mode.
     *
     * @return false on every thread running Java code
     */
    public static boolean flushesDenormals() {
        NativeLibrary.ensureAvailable();
        return Shim.threadFlushesDenormals() != 0;
    }
}
