package io.github.iree4j.modules.parameters;

import io.github.iree4j.lifetime.RefCounted;
import io.github.iree4j.lifetime.Resource;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.Collection;
import java.util.Collections;
import java.util.Map;
import java.util.Optional;

/**
 * An open parameter file, {@code .irpa}, {@code .gguf} or {@code .safetensors}: parameters by key, stored or splat. The
 * format is recognized by the contents, not by the name.
 *
 * <p>The file is mapped, not read; opening a file already open shares the mapping. Buffers imported from the archive by
 * a program retain the mapping, so closing an archive while programs use it is safe. The file must not be overwritten
 * or truncated while programs use the mapping: calls beginning later, and programs loading parameters from the file,
 * get DATA_LOSS, see {@link io.github.iree4j.status.FileInPlace}; {@link #of} is independent of the file. Safe from any
 * thread.
 *
 * <p>Files are untrusted: an index is checked completely when opened, in time and memory linear in the size of the
 * index.
 */
public final class ParameterArchive extends Resource {
    private final RefCounted bytes; // released with this
    private final Path path;
    private final long size;
    private final ParameterFormat format;
    private final Map<String, ParameterEntry> entries;

    private ParameterArchive(
            RefCounted bytes, Path path, long size, ParameterFormat format, Map<String, ParameterEntry> entries) {
        this.bytes = bytes;
        this.path = path;
        this.size = size;
        this.format = format;
        this.entries = entries;
    }

    private static ParameterArchive of(MappedArchive mapping) {
        return new ParameterArchive(mapping, mapping.path(), mapping.size(), mapping.format(), mapping.entries());
    }

    /**
     * Opens an archive read into memory, for example after verification: later changes of the file have no effect. The
     * archive cannot refer to other files.
     *
     * @param path the path of the file, for messages
     * @param bytes all bytes of the file
     * @param owner keeps the bytes valid; retained, so the caller may release it at once
     * @return the archive, to be closed by the caller
     * @throws io.github.iree4j.status.IreeException as {@link #open}, without NOT_FOUND
     */
    public static ParameterArchive of(Path path, MemorySegment bytes, RefCounted owner) {
        ArchiveSource source = new ArchiveSource(bytes.asReadOnly(), path, owner, ExternalFiles.NONE);
        ParameterFormat format = ParameterFormat.of(source);
        Map<String, ParameterEntry> entries = format.entries(source);
        owner.retain();
        return new ParameterArchive(owner, path, bytes.byteSize(), format, entries);
    }

    /**
     * Opens an archive for reading and reads its index.
     *
     * @param path a parameter file
     * @return the archive, to be closed by the caller
     * @throws io.github.iree4j.status.IreeException NOT_FOUND without the file, INVALID_ARGUMENT or OUT_OF_RANGE when
     *     the file is not an archive or is damaged, INCOMPATIBLE for an unknown version of the format, UNIMPLEMENTED
     *     for an unknown element type, PERMISSION_DENIED when the file, or a referenced file, may not be opened,
     *     RESOURCE_EXHAUSTED when the file exceeds a limit
     */
    public static ParameterArchive open(Path path) {
        return of(MappedArchive.open(path, false));
    }

    /**
     * Opens an archive with stored parameters writable in place by programs, by scattering. Writes are in the file when
     * the last user releases the archive, and visible at once to all users of the open file. The index cannot be
     * changed.
     *
     * @param path a parameter file writable by this process
     * @return the archive, to be closed by the caller
     * @throws io.github.iree4j.status.IreeException as {@link #open}
     */
    public static ParameterArchive openWritable(Path path) {
        return of(MappedArchive.open(path, true));
    }

    /**
     * Returns the format of the file.
     *
     * @return the format
     */
    public ParameterFormat format() {
        return format;
    }

    /**
     * Returns the size of the file.
     *
     * @return bytes
     */
    public long size() {
        return size;
    }

    /**
     * Returns the path used to open the file first.
     *
     * @return the path
     */
    public Path path() {
        return path;
    }

    /**
     * Returns all parameters in file order.
     *
     * @return the entries, valid until this archive is closed unless the entry's owner is retained
     */
    public Collection<ParameterEntry> entries() {
        checkLive();
        return Collections.unmodifiableCollection(entries.values());
    }

    /**
     * Finds a parameter.
     *
     * @param key the parameter's key
     * @return the entry, valid until this archive is closed unless the entry's owner is retained; empty when the key is
     *     unknown
     */
    public Optional<ParameterEntry> find(String key) {
        checkLive();
        return Optional.ofNullable(entries.get(key));
    }

    @Override
    protected String describe() {
        return "parameter archive '" + path + "'";
    }

    @Override
    protected void destroy() {
        bytes.release();
    }
}
