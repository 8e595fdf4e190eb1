package io.github.iree4j.status;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileTime;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A file that is used in place, through a mapping, and must stay as it was when it was mapped. It is changed when its size or times are others:
 * when it is overwritten, truncated or extended, and also when only its times, permissions or links change, which the system does not tell
 * from a write that has restored the times. It stays changed. A file that was deleted, or replaced by renaming another over it, is not
 * changed: the mapping keeps its bytes.
 *
 * <p>Safe from any thread. Asking takes one system call, about a microsecond.
 */
public final class FileInPlace {
    private static final String UNIX = "unix";

    private final String what;
    private final Path path;
    private final State then;
    private volatile @Nullable IreeException failure;

    /**
     * Identity and state of a file: a file that is replaced or rewritten under its name is a different one.
     *
     * @param file identifies it on this machine
     * @param size in bytes
     * @param written when the contents were written last
     * @param changed when the contents or attributes were changed last; null where the system does not tell
     */
    public record State(
            Object file,
            long size,
            FileTime written,
            @Nullable FileTime changed) {

        /**
         * Returns the state of a file now.
         *
         * @param path the file
         * @return its state
         * @throws IOException when it cannot be read
         */
        public static State of(Path path) throws IOException {
            if (!path.getFileSystem().supportedFileAttributeViews().contains(UNIX)) {
                BasicFileAttributes now = Files.readAttributes(path, BasicFileAttributes.class);
                return new State(key(now.fileKey(), path), now.size(), now.lastModifiedTime(), null);
            }
            Map<String, Object> now = Files.readAttributes(path, UNIX + ":ctime,size,lastModifiedTime,fileKey");
            return new State(
                    key(now.get("fileKey"), path),
                    (long) Objects.requireNonNull(now.get("size")),
                    (FileTime) Objects.requireNonNull(now.get("lastModifiedTime")),
                    (FileTime) now.get("ctime"));
        }

        private static Object key(@Nullable Object key, Path path) {
            return Objects.requireNonNullElseGet(key, path.toAbsolutePath()::normalize);
        }
    }

    private FileInPlace(String what, Path path, State then) {
        this.what = what;
        this.path = path;
        this.then = then;
    }

    /**
     * Remembers the state of a file, before it is mapped.
     *
     * @param what the file in messages
     * @param path the file, of which symbolic links are followed now
     * @return the file
     * @throws IOException when it cannot be read
     */
    public static FileInPlace of(String what, Path path) throws IOException {
        Path real = path.toRealPath(); // a link may lead elsewhere later
        return new FileInPlace(what, real, State.of(real));
    }

    /**
     * Returns the state that it must stay in.
     *
     * @return the state when this was created
     */
    public State state() {
        return then;
    }

    /**
     * Returns why the file must not be used any more.
     *
     * @return DATA_LOSS with the remedy; null while the file is unchanged
     */
    public @Nullable IreeException failure() {
        IreeException known = failure;
        if (known != null) {
            return known;
        }
        State now;
        try {
            now = State.of(path);
        } catch (IOException e) {
            return null; // it is gone
        }
        if (!now.file.equals(then.file) || now.equals(then)) {
            return null;
        }
        known = new IreeException(
                StatusCode.DATA_LOSS,
                "%s had %d bytes, last written %s, and now has %d, written %s%s: it was changed while it is in use; load the program again, and replace files by renaming others over them"
                        .formatted(
                                what,
                                then.size,
                                then.written,
                                now.size,
                                now.written,
                                Objects.equals(now.changed, now.written)
                                        ? ""
                                        : ", and its attributes changed " + now.changed));
        failure = known;
        return known;
    }

    /**
     * Fails when the file was changed.
     *
     * @throws IreeException DATA_LOSS
     */
    public void requireUnchanged() {
        IreeException changed = failure();
        if (changed != null) {
            throw new IreeException(changed.code(), changed.getMessage(), changed);
        }
    }

    @Override
    public String toString() {
        return what;
    }
}
