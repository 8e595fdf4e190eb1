package io.github.iree4j.nativeaccess;

import io.github.iree4j.lifetime.Resource;
import io.github.iree4j.status.IreeException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.ref.Reference;

/**
 * Asynchronous transfers between files and native memory by the kernel: an io_uring.
 *
 * <p>Confined to a single thread while transfers are in flight: the kernel abandons a thread's submissions when the
 * thread ends.
 */
public final class FileRing extends Resource {
    /** The most bytes of a transfer. */
    public static final int MAX_LENGTH = 1 << 30;

    /*
     * shim_file_operation_t and shim_completion_t of native-shim/include. Operations are written consecutively and submitted together.
     */
    private static final int OPERATION_SIZE = 40;
    private static final int COMPLETION_SIZE = 16;
    private static final int READ = 0;
    private static final int WRITE = 1;
    private static final int CANCEL = 2;
    private static final int PUNT = 1;

    private final long handle;
    private final int capacity;
    private final Arena arena = Arena.ofShared();
    private final MemorySegment operations;
    private final MemorySegment completions;
    private final MemorySegment outCount = arena.allocate(ValueLayout.JAVA_INT);
    private final NativeError error = new NativeError();
    private int prepared;

    private FileRing(long handle, int capacity) {
        this.handle = handle;
        this.capacity = capacity;
        this.operations = arena.allocate((long) capacity * OPERATION_SIZE, ValueLayout.JAVA_LONG.byteAlignment());
        this.completions = arena.allocate((long) capacity * COMPLETION_SIZE, ValueLayout.JAVA_LONG.byteAlignment());
    }

    /**
     * Creates a ring.
     *
     * @param capacity how many transfers may be in flight, a power of two up to 4,096
     * @return the ring; the caller closes it once nothing is in flight
     * @throws IreeException UNAVAILABLE when the kernel has no io_uring, or forbids io_uring to this process, or there
     *     is no native library; RESOURCE_EXHAUSTED without memory or descriptors; INVALID_ARGUMENT for another capacity
     */
    public static FileRing create(int capacity) {
        NativeLibrary.ensureAvailable();
        NativeError error = new NativeError();
        long handle = Shim.fileRingCreate(capacity, error.address());
        if (handle == 0) {
            throw error.toException();
        }
        Reference.reachabilityFence(error);
        return new FileRing(handle, capacity);
    }

    /**
     * Returns a descriptor, readable when there is something to poll.
     *
     * @return a descriptor; the caller closes it
     */
    public EventDescriptor readiness() {
        checkLive();
        return EventDescriptor.duplicate(Shim.fileRingFd(handle));
    }

    /**
     * Returns how many more operations can be prepared before the next submission.
     *
     * @return the number
     */
    public int room() {
        return capacity - prepared;
    }

    /**
     * Prepares a transfer.
     *
     * @param write from memory to file; else from file to memory
     * @param token identifies the completion; not -1
     * @param file the file; stays open until submission
     * @param offset first byte in the file
     * @param memory native memory, valid until the completion, at most {@link #MAX_LENGTH} bytes
     * @param punt whether a kernel thread makes the transfer even if the transfer would not block
     */
    public void prepare(boolean write, long token, OpenFile file, long offset, MemorySegment memory, boolean punt) {
        if (memory.byteSize() > MAX_LENGTH) {
            throw new IllegalArgumentException("transfer of " + memory.byteSize() + " bytes");
        }
        prepare(
                write ? WRITE : READ,
                token,
                memory.address(),
                offset,
                (int) memory.byteSize(),
                file.number(),
                punt ? PUNT : 0);
    }

    /**
     * Prepares a request to cancel a transfer; the request has no completion.
     *
     * @param token the token of the transfer
     */
    public void prepareCancel(long token) {
        prepare(CANCEL, 0, token, 0, 0, -1, 0);
    }

    private void prepare(int kind, long token, long address, long offset, int length, int file, int flags) {
        checkLive();
        long at = (long) prepared * OPERATION_SIZE; // out of bounds when there is no room
        operations.set(ValueLayout.JAVA_LONG, at, token);
        operations.set(ValueLayout.JAVA_LONG, at + 8, address);
        operations.set(ValueLayout.JAVA_LONG, at + 16, offset);
        operations.set(ValueLayout.JAVA_INT, at + 24, length);
        operations.set(ValueLayout.JAVA_INT, at + 28, file);
        operations.set(ValueLayout.JAVA_INT, at + 32, kind);
        operations.set(ValueLayout.JAVA_INT, at + 36, flags);
        prepared++;
    }

    /**
     * Submits the prepared operations to the kernel and clears the preparations.
     *
     * @return the number of operations, from the first on, accepted by the kernel: all, or fewer when the kernel is
     *     temporarily busy
     * @throws IreeException INTERNAL when the kernel accepted none and will not accept any later
     */
    public int submit() {
        checkLive();
        int count = prepared;
        prepared = 0;
        int status = Shim.fileRingSubmit(handle, operations.address(), count, outCount.address(), error.address());
        int taken = outCount.get(ValueLayout.JAVA_INT, 0);
        if (status != 0 && taken == 0) {
            throw error.toException(status);
        }
        return taken; // accepted operations will complete; the next submission reports an error of the rest
    }

    /** Receives the completions consumed by {@link #poll}. */
    @FunctionalInterface
    public interface Consumer {
        /**
         * Called once per transfer, on the polling thread.
         *
         * @param token the token of the transfer
         * @param status canonical status number
         * @param result bytes moved, or errno
         */
        void completed(long token, int status, int result);
    }

    /**
     * Consumes completions.
     *
     * @param limit the most completions to consume
     * @param consumer called for each
     * @return the number of completions consumed
     */
    public int poll(int limit, Consumer consumer) {
        checkLive();
        int count = Shim.fileRingPoll(handle, Math.min(limit, capacity), completions.address());
        for (int i = 0; i < count; i++) {
            long at = (long) i * COMPLETION_SIZE;
            consumer.completed(
                    completions.get(ValueLayout.JAVA_LONG, at),
                    completions.get(ValueLayout.JAVA_INT, at + 8),
                    completions.get(ValueLayout.JAVA_INT, at + 12));
        }
        return count;
    }

    @Override
    protected String describe() {
        return "file ring of " + capacity;
    }

    @Override
    protected void destroy() {
        Shim.fileRingRelease(handle);
        arena.close();
    }
}
