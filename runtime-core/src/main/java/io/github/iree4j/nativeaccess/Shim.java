package io.github.iree4j.nativeaccess;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;

/**
 * All native methods except the methods of drivers, which {@link NativeLibrary#bind} binds. The methods only convert arguments: an address is native
 * memory kept alive by the caller for the call, a handle is the result of a {@code create}. Callers validate all
 * arguments.
 *
 * <p>May only be used after {@link NativeLibrary#ensureAvailable()}. Registered by name when the library is loaded
 * ({@code native-shim/src/jni}), where each table has a line per method, in the order of this file.
 */
final class Shim {
    /** Version of the interface this class was written for; {@code SHIM_ABI_VERSION} in shim.h. */
    static final int ABI_VERSION = 16;

    static final int ERROR_SIZE = 256;
    static final int ERROR_NATIVE_CODE = 4;
    static final int ERROR_MESSAGE = 8;
    static final int DISPATCH_STATE_SIZE = 48;
    static final int EXPORT_SIZE = 48;

    /** The layout constants in the order of {@code jni_layout}; compared with the constants of C when the library is loaded. */
    static final int[] LAYOUT = {
        ERROR_SIZE, ERROR_NATIVE_CODE, ERROR_MESSAGE, DISPATCH_STATE_SIZE, EXPORT_SIZE,
    };

    private Shim() {}

    // jni_core.c

    static native int abiVersion();

    static native int capabilities();

    static native int layout(long out, int capacity);

    static native int statusName(int status, long out, int capacity);

    static native int methodCount();

    static native int methodName(int index, long out, int capacity);

    static native int methodSignature(int index, long out, int capacity);

    static native int bind(long className, Class<?> methods);

    // jni_cpu.c

    static native int cpuArchitecture(long out, int capacity);

    static native void cpuFeatures(long outFields);

    static native int cpuFeature(long name, int length);

    static native long executableCreate(
            long name,
            int nameLength,
            long elf,
            long elfSize,
            long constants,
            int constantCount,
            int flags,
            long error);

    static native void executableRelease(long executable);

    static native int executableExportCount(long executable);

    static native int executableExport(long executable, int ordinal, long outExport, long error);

    static native int executableExportName(long executable, int ordinal, long out, int capacity);

    static native int executableDispatch(
            long executable,
            int ordinal,
            long state,
            long begin,
            long end,
            long localMemory,
            long localMemorySize,
            int processorId,
            long error);

    // jni_event.c

    static native int eventCreate(long outFd, long error);

    static native int eventDuplicate(int fd, long outFd, long error);

    static native void eventClose(int fd);

    static native int eventSignal(int fd, long amount, long error);

    static native int eventTake(int fd, long outCount, long error);

    static native int eventOutcome(int fd, long outCode, long error);

    static native int pollerCreate(long outPoller, long error);

    static native void pollerRelease(int poller);

    static native int pollerAdd(int poller, int fd, long token, long error);

    static native int pollerKeep(int poller, int fd, long token, long error);

    static native void pollerRemove(int poller, int fd);

    /** May block. */
    static native int pollerWait(
            int poller, long timeoutNanos, int capacity, long outEvents, long outCount, long error);

    // jni_file.c

    static native int fileOpen(long path, int length, int access, long outFd, long error);

    static native int fileLength(int fd, long outLength, long error);

    static native long sealedCreate(long size, long error);

    static native long sealedMap(int fd, long error);

    static native long sealedSize(long sealed);

    static native long sealedBytes(long sealed);

    static native int sealedSeal(long sealed, long error);

    static native void sealedRelease(long sealed);

    static native long pageSize();

    static native long slabCreate(long size, long alignment, long error);

    static native long slabBytes(long slab);

    static native void slabRelease(long slab);

    static native long viewCreate(long sealed, long offset, long length, long error);

    static native long viewBytes(long view);

    static native int viewIsWritten(long view);

    static native int viewRestore(long view, long error);

    static native void viewRelease(long view);

    static native long fileRingCreate(int entries, long error);

    static native void fileRingRelease(long ring);

    static native int fileRingFd(long ring);

    static native int fileRingSubmit(long ring, long operations, int count, long outCount, long error);

    static native int fileRingPoll(long ring, int capacity, long outCompletions);

    // jni_thread.c

    static native int threadSetAffinity(long mask, int wordCount, long error);

    static native int threadAffinity(long outMask, int wordCount, long error);

    static native int threadFlushesDenormals();

    /** A native method writing text to memory and returning the text's full length in bytes. */
    @FunctionalInterface
    interface TextSource {
        int write(long out, int capacity);
    }

    /** Reads text of any length. */
    static String text(TextSource source) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment buffer = arena.allocate(256);
            int length = source.write(buffer.address(), 256);
            if (length > 256) {
                buffer = arena.allocate(length);
                source.write(buffer.address(), length);
            }
            byte[] bytes = buffer.asSlice(0, length).toArray(ValueLayout.JAVA_BYTE);
            return new String(bytes, StandardCharsets.UTF_8);
        }
    }
}
