package io.github.iree4j.modules.parameters;

import io.github.iree4j.lifetime.Resource;
import io.github.iree4j.status.FileFault;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;

/** A mapped archive with index, shared by all users holding the archive open in the same mode. */
final class MappedArchive extends Resource {
    // Entries are removed in destroy(); an entry being destroyed may still be found here and is then replaced.
    private static final Map<MappedFile.Identity, MappedArchive> OPEN = new ConcurrentHashMap<>();

    private final MappedFile file;
    private final List<MappedFile> references;
    private final ParameterFormat format;
    private final Map<String, ParameterEntry> entries;

    /** Takes over the caller's reference to the file. */
    private MappedArchive(MappedFile file, boolean writable) {
        this.file = file;
        ExternalFiles external = ExternalFiles.beside(file.path(), writable);
        boolean failed = true;
        try {
            ArchiveSource source = new ArchiveSource(file.bytes(), file.path(), file, external);
            format = ParameterFormat.of(source);
            entries = format.entries(source);
            references = external.opened();
            file.requireUnchanged(); // the index describes a single state of the file
            failed = false;
        } catch (InternalError e) {
            throw FileFault.of("parameter archive '" + file.path() + "'", e);
        } finally {
            if (failed) {
                external.close();
            }
        }
    }

    /** Returns the archive at a path, retained for the caller. */
    static MappedArchive open(Path path, boolean writable) {
        MappedFile file = MappedFile.open(path, writable);
        boolean[] taken = {false};
        try {
            return Objects.requireNonNull(OPEN.compute(file.identity(), (_, known) -> {
                if (known != null && known.tryRetain()) {
                    return known;
                }
                MappedArchive archive = new MappedArchive(file, writable);
                taken[0] = true;
                return archive;
            }));
        } finally {
            if (!taken[0]) {
                file.release();
            }
        }
    }

    Path path() {
        return file.path();
    }

    ParameterFormat format() {
        return format;
    }

    long size() {
        return file.bytes().byteSize();
    }

    Map<String, ParameterEntry> entries() {
        return entries;
    }

    @Override
    protected String describe() {
        return "parameter archive '" + path() + "'";
    }

    @Override
    protected void destroy() {
        OPEN.remove(file.identity(), this);
        references.forEach(MappedFile::release);
        file.release();
    }
}
