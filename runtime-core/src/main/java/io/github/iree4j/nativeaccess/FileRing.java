package io.github.iree4j.nativeaccess;

import io.github.iree4j.lifetime.Resource;
import io.github.iree4j.status.IreeException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.ref.Reference;

/**
 * Transfers between files and native memory that the kernel makes on its own: one io_uring.
 *
 * <p>Belongs to one thread for as long as anything is under way: the kernel gives up what a thread submitted when that thread ends.
 */
public final class FileRing extends Resource {
    /** Most bytes of one transfer. */
    public static final int MAX_LENGTH = 1 << 30;

    /*
     * shim_file_operation_t and shim_completion_t of native-shim/include. Operations are written one after the other until they are
     * submitted together.
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
     * @param capacity how many transfers may be under way, a power of two up to 4,096
     * @return the ring; the caller closes it, when nothing is under way
     * @throws IreeException UNAVAILABLE when the kernel has no io_uring, or not for this process, or there is no native library;
     *     RESOURCE_EXHAUSTED without memory or descriptors; INVALID_ARGUMENT for another capacity
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
     * Returns what becomes readable when there is something to poll.
     *
     * @return a descriptor; the caller closes it
     */
    public EventDescriptor readiness() {
        checkLive();
        return EventDescriptor.duplicate(Shim.fileRingFd(handle));
    }

    /**
     * Returns how many more operations can be prepared before they have to be submitted.
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
     * @param token of its completion, not -1
     * @param file stays open until it is submitted
     * @param offset in the file
     * @param memory native memory that stays valid until the completion, at most {@link #MAX_LENGTH} bytes
     * @param punt whether threads of the kernel are to make it also when it would not block
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
     * Prepares a request to end a transfer early, which has no completion of its own.
     *
     * @param token of the transfer
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
     * Hands what was prepared to the kernel and forgets it.
     *
     * @return how many of it, from the first on, the kernel took: all, or fewer when it is busy for now
     * @throws IreeException INTERNAL when it took none and will not any more
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
        return taken; // those have completions, whatever became of the rest, which is told the next time
    }

    /** Receives what {@link #poll} takes out. */
    @FunctionalInterface
    public interface Consumer {
        /**
         * Called once per transfer, on the polling thread.
         *
         * @param token what was passed when it was prepared
         * @param status canonical number of the outcome
         * @param result bytes moved, or errno
         */
        void completed(long token, int status, int result);
    }

    /**
     * Takes out what has ended.
     *
     * @param limit most completions to take
     * @param consumer called for each
     * @return how many there were
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
