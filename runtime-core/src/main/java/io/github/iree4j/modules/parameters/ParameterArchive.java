package io.github.iree4j.modules.parameters;

import io.github.iree4j.lifetime.Resource;
import java.nio.file.Path;
import java.util.Collection;
import java.util.Collections;
import org.jspecify.annotations.Nullable;

/**
 * An open parameter file, {@code .irpa}, {@code .gguf} or {@code .safetensors}: parameters by key, stored or splat. Which of these it is
 * shows in its contents; its name does not matter.
 *
 * <p>The file is mapped, not read; opening one that is open already shares its mapping. Buffers that a program imported from it keep
 * the mapping, so closing an archive while programs use it is safe. The file must not be truncated while programs use it where it is
 * mapped: the operating system then stops whoever touches the missing part. Programs that get copies fail with a status instead. Safe
 * to use from any thread.
 *
 * <p>Nobody vouches for such files: their indexes are checked completely when they are opened, in time and memory linear in their size.
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
     * @throws io.github.iree4j.status.IreeException NOT_FOUND without the file, INVALID_ARGUMENT or OUT_OF_RANGE when it is no archive
     *     or a damaged one, INCOMPATIBLE for a version of the format that is not known, UNIMPLEMENTED for an element type that is not
     *     known, PERMISSION_DENIED for a file or a file it refers to that may not be opened, RESOURCE_EXHAUSTED for one beyond a limit
     */
    public static ParameterArchive open(Path path) {
        return new ParameterArchive(MappedArchive.open(path, false));
    }

    /**
     * Opens an archive so that programs can write its stored parameters in place, by scattering to them. What they have written is in
     * the file when the last user lets go of it, and whoever has the file open sees it at once. The index cannot be changed this way.
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
     * Returns the file, as it was first opened.
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
     * @return the entry, valid until this archive is closed unless its owner is retained; null without one of that key
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
