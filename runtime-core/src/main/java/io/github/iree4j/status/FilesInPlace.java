package io.github.iree4j.status;

import java.util.Set;
import java.util.concurrent.CopyOnWriteArraySet;
import org.jspecify.annotations.Nullable;

/** The files that a program uses in place. Safe from any thread. Without files, asking costs no system call. */
public final class FilesInPlace {
    private final Set<FileInPlace> files = new CopyOnWriteArraySet<>();

    /** Creates a set without files. */
    public FilesInPlace() {}

    /**
     * Adds a file, unless it is one of these.
     *
     * @param file the file
     */
    public void add(FileInPlace file) {
        files.add(file);
    }

    /**
     * Returns whether there are no files.
     *
     * @return true until the first is added
     */
    public boolean isEmpty() {
        return files.isEmpty();
    }

    /**
     * Looks at the files until one is found that was changed.
     *
     * @return DATA_LOSS with the remedy; null while all are unchanged
     */
    public @Nullable IreeException failure() {
        for (FileInPlace each : files) {
            IreeException failure = each.failure();
            if (failure != null) {
                return failure;
            }
        }
        return null;
    }

    /**
     * Fails when a file was changed.
     *
     * @throws IreeException DATA_LOSS
     */
    public void requireUnchanged() {
        files.forEach(FileInPlace::requireUnchanged);
    }
}
