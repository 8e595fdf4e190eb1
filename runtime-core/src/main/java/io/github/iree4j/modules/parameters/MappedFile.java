package io.github.iree4j.modules.parameters;

import io.github.iree4j.async.io.Completion;
import io.github.iree4j.hal.HalFile;
import io.github.iree4j.hal.MemoryAccess;
import io.github.iree4j.lifetime.Resource;
import io.github.iree4j.status.FileInPlace;
import io.github.iree4j.status.FileKind;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.file.AccessDeniedException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A mapping of a file, shared by all users holding the file open in the same mode; unmapped with the last reference. */
final class MappedFile extends Resource {
    /** The common properties of files sharing a mapping. */
    record Identity(FileInPlace.State state, boolean writable) {}

    private static final Logger LOG = LoggerFactory.getLogger(MappedFile.class);

    // Entries are removed in destroy(); an entry being destroyed may still be found here and is then replaced.
    private static final Map<Identity, MappedFile> OPEN = new ConcurrentHashMap<>();

    private final Identity identity;
    private final FileInPlace source;
    private final Arena arena;
    private final MemorySegment bytes;
    private final Path path;
    private @Nullable HalFile file; // guarded by this, as is the next
    private boolean asked;

    private MappedFile(Identity identity, FileInPlace source, Path path) throws IOException {
        this.identity = identity;
        this.source = source;
        this.path = path;
        this.arena = Arena.ofShared();
        boolean failed = true;
        try (FileChannel channel = identity.writable
                ? FileChannel.open(path, StandardOpenOption.READ, StandardOpenOption.WRITE)
                : FileChannel.open(path, StandardOpenOption.READ)) {
            FileChannel.MapMode mode =
                    identity.writable ? FileChannel.MapMode.READ_WRITE : FileChannel.MapMode.READ_ONLY;
            bytes = channel.map(mode, 0, channel.size(), arena);
            failed = false;
        } finally {
            if (failed) {
                arena.close();
            }
        }
    }

    /** Returns the mapping of a file, retained for the caller. */
    static MappedFile open(Path path, boolean writable) {
        FileInPlace source = look(path);
        Identity identity = new Identity(source.state(), writable);
        try {
            // Threads opening the same file concurrently wait here and share the mapping.
            return Objects.requireNonNull(OPEN.compute(
                    identity, (_, known) -> known != null && known.tryRetain() ? known : map(identity, source, path)));
        } catch (UncheckedIOException e) {
            throw unreadable(path, Objects.requireNonNull(e.getCause()));
        }
    }

    /** Returns the file currently named by a path. */
    private static FileInPlace look(Path path) {
        checkRegular(path);
        try {
            return FileInPlace.of("parameter file '" + path + "'", path);
        } catch (IOException e) {
            throw unreadable(path, e);
        }
    }

    private static void checkRegular(Path path) {
        try {
            FileKind.requireRegular("parameter archive", path);
        } catch (NoSuchFileException e) {
            throw IreeException.of(
                    StatusCode.NOT_FOUND,
                    "parameter archive '%s' does not exist; check the path given for its scope".formatted(path),
                    e);
        } catch (IOException e) {
            throw unreadable(path, e);
        }
    }

    private static MappedFile map(Identity identity, FileInPlace source, Path path) {
        try {
            return new MappedFile(identity, source, path);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static IreeException unreadable(Path path, IOException e) {
        return e instanceof AccessDeniedException
                ? IreeException.of(
                        StatusCode.PERMISSION_DENIED,
                        "parameter archive '%s' may not be opened by this process; check its permissions"
                                .formatted(path),
                        e)
                : IreeException.of(
                        StatusCode.UNAVAILABLE, "parameter archive '%s' cannot be read: %s".formatted(path, e), e);
    }

    Identity identity() {
        return identity;
    }

    /** The file in the state needed by users; null if users write to the file. */
    @Nullable
    FileInPlace inPlace() {
        return identity.writable ? null : source;
    }

    /**
     * Fails when the file was changed since being mapped, other than by users writing in place.
     *
     * @throws IreeException DATA_LOSS
     */
    void requireUnchanged() {
        FileInPlace needed = inPlace();
        if (needed != null) {
            needed.requireUnchanged();
        }
    }

    Path path() {
        return path;
    }

    /** Returns all bytes of the file, valid while this is retained; writable if the file was opened so. */
    MemorySegment bytes() {
        return bytes;
    }

    /**
     * Returns the same file, to be read and written without the mapping, except by hardware; null when the path no longer
     * leads to the file. The caller closes it.
     */
    @Nullable
    HalFile file() {
        HalFile own;
        synchronized (this) {
            if (!asked) {
                asked = true;
                file = openAgain();
            }
            own = file;
        }
        return own == null ? null : new InFile(this, own);
    }

    /** The file, keeping the mapping. */
    private static final class InFile extends HalFile {
        private final MappedFile owner;
        private final HalFile file;

        InFile(MappedFile owner, HalFile file) {
            super(owner.describe(), file.access());
            this.owner = owner;
            this.file = file;
            owner.retain();
        }

        @Override
        public long length() {
            return file.length();
        }

        /** Null for a file that is written, since drivers do not write mapped files. */
        @Override
        public @Nullable MemorySegment mapping() {
            return owner.identity.writable ? null : owner.bytes;
        }

        @Override
        public boolean isConstant() {
            return file.isConstant();
        }

        @Override
        public boolean isAsynchronous() {
            return file.isAsynchronous();
        }

        @Override
        protected void doStartRead(
                long offset, MemorySegment target, Supplier<@Nullable IreeException> stop, Completion completion) {
            file.startRead(offset, target, stop, completion);
        }

        @Override
        protected void doStartWrite(
                long offset, MemorySegment source, Supplier<@Nullable IreeException> stop, Completion completion) {
            file.startWrite(offset, source, stop, completion);
        }

        @Override
        protected void doRead(long offset, MemorySegment target) {
            file.read(offset, target);
        }

        @Override
        protected void doWrite(long offset, MemorySegment source) {
            file.write(offset, source);
        }

        @Override
        protected void destroy() {
            owner.release();
        }
    }

    private @Nullable HalFile openAgain() {
        HalFile opened = null;
        try {
            opened = HalFile.open(path, identity.writable ? MemoryAccess.READ | MemoryAccess.WRITE : MemoryAccess.READ);
            if (look(path).state().file().equals(identity.state.file())) {
                return opened;
            }
        } catch (IreeException e) {
            LOG.debug("'{}' is read through its mapping", path, e);
        }
        if (opened != null) {
            opened.close();
        }
        return null;
    }

    @Override
    protected String describe() {
        return "parameter file '" + path + "'";
    }

    @Override
    protected void destroy() {
        OPEN.remove(identity, this);
        try {
            synchronized (this) {
                asked = true;
                if (file != null) {
                    file.close();
                }
            }
            if (identity.writable) {
                bytes.force();
            }
        } finally {
            arena.close();
        }
    }
}
