package io.github.iree4j.async.io;

import io.github.iree4j.api.NotForApplications;
import io.github.iree4j.lifetime.Resource;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A file with asynchronous transfers, made by the operating system or a thread pool.
 *
 * <p>Opened by {@link SystemIo#open}. Transfers may be started from any thread and run concurrently, in no particular
 * order. Each has exactly one completion, on the owner of the {@link Proactor}, even when the transfer is cancelled,
 * when the file is closed meanwhile (closing ends no transfer) or when the proactor is closed. Until then the transfer
 * uses its memory, kept valid by the caller.
 *
 * <p>A transfer may move fewer bytes than requested; at the end of a file a read moves 0. {@link #readFully} and
 * {@link #writeFully} continue until all bytes are moved.
 */
@NotForApplications
public final class AsyncFile extends Resource {
    private static final Supplier<@Nullable IreeException> WANTED = () -> null;
    private static final Thread ANOTHER = Thread.ofVirtual().unstarted(() -> {});

    private final SystemIo io;
    private final FileBackend.Handle handle;
    private final Path path;
    private final boolean readable;
    private final boolean writable;

    AsyncFile(SystemIo io, FileBackend.Handle handle, Path path, boolean readable, boolean writable) {
        this.io = io;
        this.handle = handle;
        this.path = path;
        this.readable = readable;
        this.writable = writable;
    }

    /**
     * Returns the length.
     *
     * @return the length in bytes at the time of the call
     * @throws IreeException FAILED_PRECONDITION when closed; DATA_LOSS when the system cannot report the length
     */
    public long length() {
        retain();
        try {
            return handle.length();
        } finally {
            release();
        }
    }

    /**
     * Reads. From any thread.
     *
     * @param offset first byte in the file
     * @param target native memory accessible to other threads; of more than 1 GiB the first GiB is read
     * @param completion receives the number of bytes read, 0 when the offset is at or beyond the end
     * @return the operation, to cancel it
     * @throws IreeException OUT_OF_RANGE for a negative offset; PERMISSION_DENIED when the file was not opened for
     *     reading; INVALID_ARGUMENT for other memory; FAILED_PRECONDITION when closed; the proactor's failure when the
     *     proactor has ended. The completion is then not called
     */
    public FileOperation read(long offset, MemorySegment target, Completion completion) {
        return submit(false, offset, target, completion);
    }

    /**
     * Writes. From any thread.
     *
     * @param offset first byte in the file, which grows as needed
     * @param source native memory accessible to other threads; of more than 1 GiB the first GiB is written
     * @param completion receives the number of bytes written
     * @return the operation, to cancel it
     * @throws IreeException as {@link #read}
     */
    public FileOperation write(long offset, MemorySegment source, Completion completion) {
        return submit(true, offset, source, completion);
    }

    /**
     * Reads all of a range, in pieces, several at a time. From any thread.
     *
     * @param offset first byte in the file
     * @param target filled completely; as for {@link #read}, but of any size
     * @param completion receives the size of the target; DATA_LOSS when the file ends before
     * @return the transfer, to cancel it; the completion is called in any case
     * @throws IreeException as {@link #read}
     */
    public WholeTransfer readFully(long offset, MemorySegment target, Completion completion) {
        return WholeTransfer.start(this, false, offset, target, WANTED, completion);
    }

    /**
     * As {@link #readFully(long, MemorySegment, Completion)}, but stops on request.
     *
     * @param offset first byte in the file
     * @param target the memory to fill
     * @param stop called on the owner after each piece: returns the reason to stop reading, or null; must return at
     *     once and not throw
     * @param completion receives the size of the target, or the failure returned by {@code stop}
     * @return the transfer, to cancel it
     * @throws IreeException as {@link #read}
     */
    public WholeTransfer readFully(
            long offset, MemorySegment target, Supplier<@Nullable IreeException> stop, Completion completion) {
        return WholeTransfer.start(this, false, offset, target, stop, completion);
    }

    /**
     * Writes all of a range, in pieces, several at a time. From any thread.
     *
     * @param offset first byte in the file
     * @param source the bytes to write; as for {@link #write}, but of any size
     * @param completion receives the size of the source
     * @return the transfer, to cancel it; the completion is called in any case
     * @throws IreeException as {@link #write}
     */
    public WholeTransfer writeFully(long offset, MemorySegment source, Completion completion) {
        return WholeTransfer.start(this, true, offset, source, WANTED, completion);
    }

    /**
     * As {@link #writeFully(long, MemorySegment, Completion)}, but stops on request.
     *
     * @param offset first byte in the file
     * @param source the bytes to write
     * @param stop called on the owner after each piece: returns the reason to stop writing, or null; must return at
     *     once and not throw
     * @param completion receives the size of the source, or the failure returned by {@code stop}
     * @return the transfer, to cancel it
     * @throws IreeException as {@link #write}
     */
    public WholeTransfer writeFully(
            long offset, MemorySegment source, Supplier<@Nullable IreeException> stop, Completion completion) {
        return WholeTransfer.start(this, true, offset, source, stop, completion);
    }

    private FileOperation submit(boolean write, long offset, MemorySegment memory, Completion completion) {
        check(write, offset, memory);
        return start(write, offset, memory, completion);
    }

    /** Like read or write, for a caller holding a reference; the file may be closed. */
    FileOperation start(boolean write, long offset, MemorySegment memory, Completion completion) {
        FileOperation operation = new FileOperation(this, write, offset, memory, completion);
        retain(); // until the operation has ended
        boolean submitted = false;
        try {
            io.files().submit(operation);
            submitted = true;
        } finally {
            if (!submitted) {
                release();
            }
        }
        io.proactor().wake();
        return operation;
    }

    void check(boolean write, long offset, MemorySegment memory) {
        String what = write ? "write" : "read";
        if (isClosed()) {
            throw IreeException.of(StatusCode.FAILED_PRECONDITION, describe() + " is closed");
        }
        if (write ? !writable : !readable) {
            throw IreeException.of(
                    StatusCode.PERMISSION_DENIED,
                    "%s needs a file that was opened for it, %s was not".formatted(what, describe()));
        }
        if (offset < 0 || offset > Long.MAX_VALUE - memory.byteSize()) {
            throw IreeException.of(
                    StatusCode.OUT_OF_RANGE,
                    "%s of %d bytes at offset %d of %s".formatted(what, memory.byteSize(), offset, describe()));
        }
        if (!memory.isNative() || !memory.isAccessibleBy(ANOTHER) || !write && memory.isReadOnly()) {
            throw IreeException.of(
                    StatusCode.INVALID_ARGUMENT,
                    "%s of %s needs native memory%s that threads share, not %s"
                            .formatted(what, describe(), write ? "" : " that can be written, and", memory));
        }
    }

    FileBackend.Handle handle() {
        return handle;
    }

    void cancel(FileOperation operation) {
        io.files().cancel(operation);
        io.proactor().wake();
    }

    /**
     * Returns whether the calling thread runs completions, and so must not wait for a completion.
     *
     * @return whether the thread is inside a poll of the proactor
     */
    public boolean isCompletionThread() {
        return io.proactor().isOwner();
    }

    /** Returns the proactor running the completions. */
    Proactor proactor() {
        return io.proactor();
    }

    @Override
    protected String describe() {
        return "file '" + path + "'";
    }

    @Override
    protected void destroy() {
        handle.close();
    }
}
