package io.github.iree4j.modules.parameters;

import io.github.iree4j.lifetime.Resource;
import java.nio.file.Path;
import java.util.Collection;
import java.util.Collections;
import org.jspecify.annotations.Nullable;

/**
 * An open {@code .irpa} file: parameters by key, stored or splat.
 *
 * <p>The file is mapped, not read; opening one that is open already shares its mapping. Buffers that a program imported from it keep
 * the mapping, so closing an archive while programs use it is safe. The file must not be truncated while it is open, as with every
 * mapped file: the operating system then stops whoever touches the missing part. Safe to use from any thread.
 */
public final class ParameterArchive extends Resource {
    private final MappedArchive mapping;

    private ParameterArchive(MappedArchive mapping) {
        this.mapping = mapping;
    }

    /**
     * Opens an archive and reads its index.
     *
     * @param path an {@code .irpa} file
     * @return the archive, to be closed by the caller
     * @throws io.github.iree4j.status.IreeException NOT_FOUND without the file, INVALID_ARGUMENT or OUT_OF_RANGE when it is no archive
     *     or a damaged one, INCOMPATIBLE for a later version of the format, UNIMPLEMENTED for entries that lie in other files
     */
    public static ParameterArchive open(Path path) {
        return new ParameterArchive(MappedArchive.open(path));
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
