package io.github.iree4j.modules.parameters;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.io.IOException;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Files referenced by an archive. Archives are untrusted, so only files in the archive's directory and below can be
 * named: otherwise an archive could give a program any file readable by this process.
 */
final class ExternalFiles {
    /** Most files referenced by an archive; each file is mapped. */
    static final int MAX_FILES = 1024;

    /** For bytes without a directory: refuses every reference. */
    static final ExternalFiles NONE = new ExternalFiles(null, false);

    private final @Nullable Path directory;
    private final boolean writable;
    private final Map<String, MappedFile> files = new HashMap<>();

    private ExternalFiles(@Nullable Path directory, boolean writable) {
        this.directory = directory;
        this.writable = writable;
    }

    /** For an archive at a path. */
    static ExternalFiles beside(Path archive, boolean writable) {
        return new ExternalFiles(archive.toAbsolutePath().getParent(), writable);
    }

    /** Maps the file of a name; the file stays open until {@link #close}. */
    MappedFile open(String name) {
        MappedFile known = files.get(name);
        if (known != null) {
            return known;
        }
        if (files.size() >= MAX_FILES) {
            throw IreeException.of(
                    StatusCode.RESOURCE_EXHAUSTED,
                    "refers to more than %d files; pack it with 'iree4j parameters convert'".formatted(MAX_FILES));
        }
        MappedFile file = MappedFile.open(resolve(name), writable);
        files.put(name, file);
        return file;
    }

    private Path resolve(String name) {
        if (directory == null) {
            throw refused(name, "has no directory to look for it in");
        }
        try {
            Path relative = Path.of(name);
            if (relative.isAbsolute() || name.isEmpty()) {
                throw refused(name, "may name files in its own directory only");
            }
            Path root = directory.toRealPath();
            Path named = root.resolve(relative).normalize();
            if (!named.startsWith(root)) {
                throw refused(name, "may name files in its own directory only");
            }
            Path real = named.toRealPath(); // a symbolic link may lead elsewhere
            if (!real.startsWith(root)) {
                throw refused(name, "may name files in its own directory only, and this is a link out of it");
            }
            return named;
        } catch (InvalidPathException e) {
            throw refused(name, "names it in a way that is not valid in the file system");
        } catch (IOException e) {
            throw IreeException.of(
                    StatusCode.NOT_FOUND,
                    "refers to file %s, which cannot be found in '%s'; put it there"
                            .formatted(ArchiveSource.quote(name), directory),
                    e);
        }
    }

    private static IreeException refused(String name, String why) {
        return IreeException.of(
                StatusCode.PERMISSION_DENIED,
                "refers to file %s and %s; move it there, or pack both into one archive"
                        .formatted(ArchiveSource.quote(name), why));
    }

    /** Returns all open files, for the owner of the files' parameters. */
    List<MappedFile> opened() {
        return new ArrayList<>(files.values());
    }

    void close() {
        files.values().forEach(MappedFile::release);
        files.clear();
    }
}
