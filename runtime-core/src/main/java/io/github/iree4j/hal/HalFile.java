package io.github.iree4j.hal;

import io.github.iree4j.api.NotForApplications;
import io.github.iree4j.async.io.Completion;
import io.github.iree4j.lifetime.RefCounted;
import io.github.iree4j.lifetime.Resource;
import io.github.iree4j.status.FileFault;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Bytes read and written by queue operations: host memory or a file. Safe from any thread. */
@NotForApplications
public abstract class HalFile extends Resource {
    private final String name;
    private final int access;

    /**
     * For subclasses.
     *
     * @param name name in messages
     * @param access allowed bits of {@link MemoryAccess}
     */
    protected HalFile(String name, int access) {
        this.name = name;
        this.access = access;
    }

    /**
     * Creates a file over host memory.
     *
     * @param bytes contents of the file
     * @param access bits of {@link MemoryAccess}; not more than the memory allows
     * @param owner keeps the memory valid; retained; null for memory that outlives the file
     * @return the file; the caller closes it
     * @throws IreeException PERMISSION_DENIED when write access is requested and the memory is read-only
     */
    public static HalFile ofMemory(MemorySegment bytes, int access, @Nullable RefCounted owner) {
        if ((access & MemoryAccess.WRITE) != 0 && bytes.isReadOnly()) {
            throw IreeException.of(
                    StatusCode.PERMISSION_DENIED,
                    "memory file of " + bytes.byteSize() + " bytes cannot be writable: its memory is read-only");
        }
        return new MemoryFile(bytes, access, owner);
    }

    /**
     * Opens a file of the file system. The system transfers the bytes without blocking a thread, see
     * {@link #isAsynchronous}.
     *
     * @param path path of an existing file
     * @param access bits of {@link MemoryAccess}
     * @return the file; the caller closes it
     * @throws IreeException NOT_FOUND, PERMISSION_DENIED, or INVALID_ARGUMENT for a directory or device, when the file
     *     cannot be opened
     */
    public static HalFile open(Path path, int access) {
        return SystemFile.at(path, access);
    }

    /**
     * Returns the permitted accesses to the file.
     *
     * @return bits of {@link MemoryAccess}
     */
    public final int access() {
        return access;
    }

    /**
     * Returns the length.
     *
     * @return bytes
     */
    public abstract long length();

    /**
     * Returns the contents in memory for the hardware of a device, which reads or writes the bytes while the memory is
     * registered with the device's driver. May be a mapping that code of the host must not use: a file may lose pages of
     * the mapping. The memory may be registered for some time after the signals of a transfer, so a transfer in place
     * retains this file until then.
     *
     * @return the bytes, valid until the last reference to this file is released, or null; null unless overridden
     */
    public @Nullable MemorySegment mapping() {
        return null;
    }

    /**
     * Returns whether the bytes are constants, such as constants of a module, and parameters: never written, and likely
     * to be read again when the program is loaded again. Devices of other machines keep bytes read from such files.
     *
     * @return false unless overridden
     */
    public boolean isConstant() {
        return false;
    }

    /**
     * Returns whether transfers can be started and complete later. For other files, {@link #read} and {@link #write}
     * take no longer than a copy.
     *
     * @return whether {@link #startRead} and {@link #startWrite} may be called
     */
    public boolean isAsynchronous() {
        return false;
    }

    /**
     * Starts to read bytes, as {@link #startRead(long, MemorySegment, Supplier, Completion)} without a stop condition.
     *
     * @param offset first byte in the file
     * @param target memory to fill
     * @param completion called with the outcome
     */
    public final void startRead(long offset, MemorySegment target, Completion completion) {
        startRead(offset, target, () -> null, completion);
    }

    /**
     * Starts to write bytes, as {@link #startWrite(long, MemorySegment, Supplier, Completion)} without a stop
     * condition.
     *
     * @param offset first byte in the file
     * @param source bytes to write
     * @param completion called with the outcome
     */
    public final void startWrite(long offset, MemorySegment source, Completion completion) {
        startWrite(offset, source, () -> null, completion);
    }

    /**
     * Starts to read bytes. The caller keeps this file and the memory until the completion is called.
     *
     * @param offset first byte in the file
     * @param target native memory shared between threads, filled completely, in pieces
     * @param stop polled on the thread of the completion: the reason to stop, or null; returns at once and does not
     *     throw
     * @param completion called with the outcome on the thread of {@link io.github.iree4j.async.io.SystemIo#ofProcess()};
     *     the rules of this thread hold
     * @throws IreeException OUT_OF_RANGE, PERMISSION_DENIED, INVALID_ARGUMENT for other memory, FAILED_PRECONDITION
     *     when the file is not asynchronous; the completion is not called after an exception
     */
    public final void startRead(
            long offset, MemorySegment target, Supplier<@Nullable IreeException> stop, Completion completion) {
        check("read", MemoryAccess.READ, offset, target.byteSize());
        doStartRead(offset, target, stop, completion);
    }

    /**
     * Starts to write bytes. The caller keeps this file and the memory until the completion is called.
     *
     * @param offset first byte in the file
     * @param source native memory shared between threads
     * @param stop polled for the reason to stop, as for {@link #startRead}
     * @param completion called with the outcome, as for {@link #startRead}
     * @throws IreeException as {@link #startRead}
     */
    public final void startWrite(
            long offset, MemorySegment source, Supplier<@Nullable IreeException> stop, Completion completion) {
        check("write", MemoryAccess.WRITE, offset, source.byteSize());
        doStartWrite(offset, source, stop, completion);
    }

    /**
     * Starts to read a range inside the file. For asynchronous files.
     *
     * @param offset first byte in the file
     * @param target filled completely
     * @param stop the reason to stop, or null
     * @param completion called with the outcome
     */
    protected void doStartRead(
            long offset, MemorySegment target, Supplier<@Nullable IreeException> stop, Completion completion) {
        throw notAsynchronous();
    }

    /**
     * Starts to write a range inside the file. For asynchronous files.
     *
     * @param offset first byte in the file
     * @param source bytes to write
     * @param stop the reason to stop, or null
     * @param completion called with the outcome
     */
    protected void doStartWrite(
            long offset, MemorySegment source, Supplier<@Nullable IreeException> stop, Completion completion) {
        throw notAsynchronous();
    }

    private IreeException notAsynchronous() {
        return IreeException.of(StatusCode.FAILED_PRECONDITION, describe() + " is not asynchronous");
    }

    /**
     * Reads bytes and waits for completion. Must not be called on the thread running completions of files.
     *
     * @param offset first byte in the file
     * @param target filled completely
     * @throws IreeException OUT_OF_RANGE, PERMISSION_DENIED, DATA_LOSS when the system cannot read
     */
    public final void read(long offset, MemorySegment target) {
        check("read", MemoryAccess.READ, offset, target.byteSize());
        doRead(offset, target);
    }

    /**
     * Writes bytes and waits for completion. Must not be called on the thread running completions of files.
     *
     * @param offset first byte in the file
     * @param source bytes to write
     * @throws IreeException OUT_OF_RANGE, PERMISSION_DENIED, DATA_LOSS when the system cannot write
     */
    public final void write(long offset, MemorySegment source) {
        check("write", MemoryAccess.WRITE, offset, source.byteSize());
        doWrite(offset, source);
    }

    /**
     * Checks that a range may be read or written.
     *
     * @param what names the use in the message
     * @param needed {@link MemoryAccess#READ} or {@link MemoryAccess#WRITE}
     * @param offset first byte in the file
     * @param bytes number of bytes
     * @throws IreeException OUT_OF_RANGE, PERMISSION_DENIED, FAILED_PRECONDITION when closed
     */
    public final void check(String what, int needed, long offset, long bytes) {
        checkLive();
        if ((access & needed) != needed) {
            throw IreeException.of(
                    StatusCode.PERMISSION_DENIED,
                    "%s needs a file with access %s, %s has %s"
                            .formatted(what, MemoryAccess.format(needed), name, MemoryAccess.format(access)));
        }
        Ranges.check(what, offset, bytes, length(), name);
    }

    /**
     * Reads a range inside the file.
     *
     * @param offset first byte in the file
     * @param target filled completely
     */
    protected abstract void doRead(long offset, MemorySegment target);

    /**
     * Writes a range inside the file.
     *
     * @param offset first byte in the file
     * @param source bytes to write
     */
    protected abstract void doWrite(long offset, MemorySegment source);

    @Override
    protected String describe() {
        return name;
    }

    private static final class MemoryFile extends HalFile {
        private final MemorySegment bytes;
        private final @Nullable RefCounted owner;

        MemoryFile(MemorySegment bytes, int access, @Nullable RefCounted owner) {
            super("memory file", access);
            this.bytes = bytes;
            this.owner = owner;
            if (owner != null) {
                owner.retain();
            }
        }

        @Override
        public long length() {
            return bytes.byteSize();
        }

        /** Null without an owner: such memory may be freed once the signals of a transfer are reached. */
        @Override
        public @Nullable MemorySegment mapping() {
            return owner == null ? null : bytes;
        }

        @Override
        public boolean isConstant() {
            return access() == MemoryAccess.READ;
        }

        @Override
        protected void doRead(long offset, MemorySegment target) {
            try {
                MemorySegment.copy(bytes, offset, target, 0, target.byteSize());
            } catch (InternalError e) {
                throw FileFault.of(describe(), e);
            }
        }

        @Override
        protected void doWrite(long offset, MemorySegment source) {
            MemorySegment.copy(source, 0, bytes, offset, source.byteSize());
        }

        @Override
        protected void destroy() {
            if (owner != null) {
                owner.release();
            }
        }
    }
}
