package io.github.iree4j.modules.parameters;

import io.github.iree4j.lifetime.Resource;
import java.nio.file.Path;
import java.util.Collection;
import java.util.Collections;
import org.jspecify.annotations.Nullable;

/**
 * An open parameter file, {@code .irpa}, {@code .gguf} or {@code .safetensors}: parameters by key, stored or splat. The format is
 * recognized by the contents, not by the name.
 *
 * <p>The file is mapped, not read; opening a file that is open already shares its mapping. Buffers that a program has imported from it
 * retain the mapping, so closing an archive while programs use it is safe. The file must not be truncated while programs use the mapping:
 * accesses to the missing part then raise SIGBUS. Programs that get copies fail with a status instead. Safe from any thread.
 *
 * <p>Files are untrusted: their indexes are checked completely when opened, in time and memory linear in their size.
 */
public final class ParameterArchive extends Resource {
    private final MappedArchive mapping;

    private ParameterArchive(MappedArchive mapping) {
        this.mapping = mapping;
    }

    /**
     * Opens an archive for reading and reads its index.
     *
     * @param path a parameter file
     * @return the archive, to be closed by the caller
     * @throws io.github.iree4j.status.IreeException NOT_FOUND without the file, INVALID_ARGUMENT or OUT_OF_RANGE when it is not an archive
     *     or is damaged, INCOMPATIBLE for an unknown version of the format, UNIMPLEMENTED for an unknown element type, PERMISSION_DENIED
     *     when the file, or one it refers to, may not be opened, RESOURCE_EXHAUSTED when it exceeds a limit
     */
    public static ParameterArchive open(Path path) {
        return new ParameterArchive(MappedArchive.open(path, false));
    }

    /**
     * Opens an archive so that programs can write its stored parameters in place, by scattering to them. Writes are in the file when the
     * last user releases it, and visible at once to all that have the file open. The index cannot be changed.
     *
     * @param path a parameter file that this process may write
     * @return the archive, to be closed by the caller
     * @throws io.github.iree4j.status.IreeException as {@link #open}
     */
    public static ParameterArchive openWritable(Path path) {
        return new ParameterArchive(MappedArchive.open(path, true));
    }

    /**
     * Returns the format of the file.
     *
     * @return the format
     */
    public ParameterFormat format() {
        return mapping.format();
    }

    /**
     * Returns the size of the file.
     *
     * @return bytes
     */
    public long size() {
        return mapping.size();
    }

    /**
     * Returns the path by which the file was first opened.
     *
     * @return the path
     */
    public Path path() {
        return mapping.path();
    }

    /**
     * Returns all parameters in file order.
     *
     * @return the entries, valid until this archive is closed unless their owner is retained
     */
    public Collection<ParameterEntry> entries() {
        checkLive();
        return Collections.unmodifiableCollection(mapping.entries().values());
    }

    /**
     * Finds a parameter.
     *
     * @param key its key
     * @return the entry, valid until this archive is closed unless its owner is retained; null when there is none with that key
     */
    public @Nullable ParameterEntry find(String key) {
        checkLive();
        return mapping.entries().get(key);
    }

    @Override
    protected String describe() {
        return mapping.describe();
    }

    @Override
    protected void destroy() {
        mapping.release();
    }
}
