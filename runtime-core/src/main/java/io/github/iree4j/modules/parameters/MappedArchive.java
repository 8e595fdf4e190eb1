package io.github.iree4j.modules.parameters;

import io.github.iree4j.lifetime.Resource;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileTime;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;

/** One mapping of one archive file, shared by everyone who has the file open; unmapped when the last of them lets go. */
final class MappedArchive extends Resource {
    /** Which file, in which state: a file replaced or rewritten under its name is another archive. */
    private record Identity(Object file, long size, FileTime modified) {}

    // Entries leave in destroy(); a dying one may be found here for a moment and is then replaced.
    private static final Map<Identity, MappedArchive> OPEN = new ConcurrentHashMap<>();

    private final Identity identity;
    private final Arena arena;
    private final Map<String, ParameterEntry> entries;
    private final Path path;

    private MappedArchive(Identity identity, Path path) throws IOException {
        this.identity = identity;
        this.path = path;
        this.arena = Arena.ofShared();
        try (FileChannel channel = FileChannel.open(path, StandardOpenOption.READ)) {
            MemorySegment bytes = channel.map(FileChannel.MapMode.READ_ONLY, 0, channel.size(), arena);
            this.entries = IrpaReader.read(bytes, path.toString(), this);
        } catch (IOException | RuntimeException e) {
            arena.close();
            throw e;
        }
    }

    /** The mapping of a file, retained for the caller. */
    static MappedArchive open(Path path) {
        try {
            BasicFileAttributes attributes = Files.readAttributes(path, BasicFileAttributes.class);
            if (!attributes.isRegularFile()) {
                throw new IreeException(
                        StatusCode.INVALID_ARGUMENT, "parameter archive '%s' is not a regular file".formatted(path));
            }
            Object file = Objects.requireNonNullElseGet(attributes.fileKey(), path.toAbsolutePath()::normalize);
            Identity identity = new Identity(file, attributes.size(), attributes.lastModifiedTime());
            // Whoever opens the same file at the same time waits here, and shares the mapping.
            return Objects.requireNonNull(OPEN.compute(
                    identity, (_, known) -> known != null && known.tryRetain() ? known : map(identity, path)));
        } catch (UncheckedIOException e) {
            throw unreadable(path, Objects.requireNonNull(e.getCause()));
        } catch (NoSuchFileException e) {
            throw new IreeException(
                    StatusCode.NOT_FOUND,
                    "parameter archive '%s' does not exist; check the path given for its scope".formatted(path),
                    e);
        } catch (IOException e) {
            throw unreadable(path, e);
        }
    }

    private static MappedArchive map(Identity identity, Path path) {
        try {
            return new MappedArchive(identity, path);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static IreeException unreadable(Path path, Throwable e) {
        return new IreeException(
                StatusCode.UNAVAILABLE, "parameter archive '%s' cannot be read: %s".formatted(path, e), e);
    }

    Path path() {
        return path;
    }

    Map<String, ParameterEntry> entries() {
        return entries;
    }

    private boolean tryRetain() {
        if (!isLive()) {
            return false;
        }
        try {
            retain();
            return true;
        } catch (IreeException e) {
            return false; // closed between the two lines
        }
    }

    @Override
    protected String describe() {
        return "parameter archive '" + path + "'";
    }

    @Override
    protected void destroy() {
        OPEN.remove(identity, this);
        arena.close();
    }
}
