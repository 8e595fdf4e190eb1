package io.github.iree4j.hal;

import io.github.iree4j.lifetime.RefCounted;
import io.github.iree4j.lifetime.Resource;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.EnumSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Bytes that queue operations read from and write to: host memory or a file. Safe from any thread. */
public abstract class HalFile extends Resource {
    private final String name;
    private final int access;

    /**
     * For subclasses.
     *
     * @param name names it in messages
     * @param access bits of {@link MemoryAccess} that are allowed
     */
    protected HalFile(String name, int access) {
        this.name = name;
        this.access = access;
    }

    /**
     * Creates a file over host memory.
     *
     * @param bytes its contents
     * @param access bits of {@link MemoryAccess}; not more than the memory allows
     * @param owner keeps the memory valid; retained; null for memory that outlives the file
     * @return the file; the caller closes it
     * @throws IreeException PERMISSION_DENIED when writing is asked for and the memory is read-only
     */
    public static HalFile ofMemory(MemorySegment bytes, int access, @Nullable RefCounted owner) {
        if ((access & MemoryAccess.WRITE) != 0 && bytes.isReadOnly()) {
            throw new IreeException(
                    StatusCode.PERMISSION_DENIED,
                    "memory file of " + bytes.byteSize() + " bytes cannot be writable: its memory is read-only");
        }
        return new MemoryFile(bytes, access, owner);
    }

    /**
     * Opens a file of the file system.
     *
     * @param path where it is; it must exist
     * @param access bits of {@link MemoryAccess}
     * @return the file; the caller closes it
     * @throws IreeException NOT_FOUND or PERMISSION_DENIED when it cannot be opened
     */
    public static HalFile open(Path path, int access) {
        Set<StandardOpenOption> options = EnumSet.noneOf(StandardOpenOption.class);
        if ((access & MemoryAccess.READ) != 0) {
            options.add(StandardOpenOption.READ);
        }
        if ((access & MemoryAccess.WRITE) != 0) {
            options.add(StandardOpenOption.WRITE);
        }
        try {
            return new ChannelFile(path.toString(), access, FileChannel.open(path, options));
        } catch (NoSuchFileException e) {
            throw new IreeException(StatusCode.NOT_FOUND, "file '" + path + "' does not exist", e);
        } catch (IOException e) {
            throw new IreeException(
                    StatusCode.PERMISSION_DENIED, "file '" + path + "' cannot be opened: " + e.getMessage(), e);
        }
    }

    /**
     * Returns what may be done with the file.
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
     * Returns the contents when they lie in host memory, so that they can be used in place.
     *
     * @return the bytes, valid while this file is, or null
     */
    public @Nullable MemorySegment memory() {
        return null;
    }

    /**
     * Reads bytes.
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
     * Writes bytes.
     *
     * @param offset first byte in the file
     * @param source what to write
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
     * @param bytes how many
     * @throws IreeException OUT_OF_RANGE, PERMISSION_DENIED, FAILED_PRECONDITION when closed
     */
    public final void check(String what, int needed, long offset, long bytes) {
        checkLive();
        if ((access & needed) != needed) {
            throw new IreeException(
                    StatusCode.PERMISSION_DENIED,
                    "%s needs a file with access %s, %s has %s"
                            .formatted(what, MemoryAccess.format(needed), name, MemoryAccess.format(access)));
        }
        Ranges.check(what, offset, bytes, length(), name);
    }

    /**
     * Reads a range that fits.
     *
     * @param offset first byte in the file
     * @param target filled completely
     */
    protected abstract void doRead(long offset, MemorySegment target);

    /**
     * Writes a range that fits.
     *
     * @param offset first byte in the file
     * @param source what to write
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

        @Override
        public MemorySegment memory() {
            return bytes;
        }

        @Override
        protected void doRead(long offset, MemorySegment target) {
            MemorySegment.copy(bytes, offset, target, 0, target.byteSize());
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

    private static final class ChannelFile extends HalFile {
        private static final Logger LOG = LoggerFactory.getLogger(HalFile.class);
        private static final int CHUNK = 1 << 30; // a ByteBuffer holds less than 2 GiB

        private final FileChannel channel;

        ChannelFile(String path, int access, FileChannel channel) {
            super("file '" + path + "'", access);
            this.channel = channel;
        }

        @Override
        public long length() {
            try {
                return channel.size();
            } catch (IOException e) {
                throw failed(e);
            }
        }

        @Override
        protected void doRead(long offset, MemorySegment target) {
            try {
                for (long done = 0; done < target.byteSize(); ) {
                    int n = channel.read(chunk(target, done), offset + done);
                    if (n < 0) {
                        throw new IreeException(
                                StatusCode.DATA_LOSS,
                                describe() + " ended at byte " + (offset + done) + " while being read");
                    }
                    done += n;
                }
            } catch (IOException e) {
                throw failed(e);
            }
        }

        @Override
        protected void doWrite(long offset, MemorySegment source) {
            try {
                for (long done = 0; done < source.byteSize(); ) {
                    done += channel.write(chunk(source, done), offset + done);
                }
            } catch (IOException e) {
                throw failed(e);
            }
        }

        private static ByteBuffer chunk(MemorySegment bytes, long done) {
            return bytes.asSlice(done, Math.min(CHUNK, bytes.byteSize() - done)).asByteBuffer();
        }

        private IreeException failed(IOException e) {
            return new IreeException(StatusCode.DATA_LOSS, describe() + " cannot be accessed: " + e.getMessage(), e);
        }

        @Override
        protected void destroy() {
            try {
                channel.close();
            } catch (IOException e) {
                LOG.warn("{} was not closed properly", describe(), e); // what was written has reached the system before
            }
        }
    }
}
