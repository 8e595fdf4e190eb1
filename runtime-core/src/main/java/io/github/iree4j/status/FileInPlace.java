package io.github.iree4j.status;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileTime;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A file used in place, through a mapping. The bytes must stay the same from the mapping on.
 *
 * <p>Unchanged size and times prove that nothing was written. Other times prove only that something may have been
 * written: the system does not distinguish a change of times, permissions or links from a write that has restored the
 * times. Then the contents are compared with the mapped contents, whose SHA-256 was taken before: read once, in the
 * background, when the file was loaded. Until this comparison has ended the answer is {@link Known#UNKNOWN}. The answer
 * is {@link Known#NO} for other contents, for another size, and when the earlier contents are not known; this answer
 * changes when the file is changed again.
 *
 * <p>A file deleted, or replaced by renaming another file over the path, counts as unchanged if unchanged until then:
 * the mapping keeps the bytes.
 *
 * <p>Safe from any thread. A query takes one system call, about a microsecond.
 */
public final class FileInPlace {
    private static final Logger LOG = LoggerFactory.getLogger(FileInPlace.class);
    private static final String UNIX = "unix";
    private static final int CHUNK = 1 << 20;

    private final String what;
    private final Path path;
    private final State then;
    private final AtomicReference<Verdict> verdict;
    private volatile byte @Nullable [] contents; // SHA-256 of the mapped contents, once read
    private @Nullable CompletableFuture<Void> comparison; // in progress; guarded by this

    /**
     * Identity and state of a file. A file replaced or rewritten under the same name is a different file.
     *
     * @param file identifies the file on this machine
     * @param size in bytes
     * @param written the time of the last write of the contents
     * @param changed the time of the last change of contents or attributes; null where the system does not report the
     *     time
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
         * @return the file's state
         * @throws IOException when the file cannot be read
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

    /** The verdict about the bytes while the file is in a state; with the failure if the bytes are different. */
    private record Verdict(
            State state,
            Known unchanged,
            long comparisons,
            @Nullable IreeException failure) {}

    private FileInPlace(String what, Path path, State then) {
        this.what = what;
        this.path = path;
        this.then = then;
        this.verdict = new AtomicReference<>(new Verdict(then, Known.YES, 0, null));
    }

    /**
     * Records the state of a file, before the file is mapped.
     *
     * @param what the file in messages
     * @param path the file; symbolic links are followed now
     * @return the file
     * @throws IOException when the file cannot be read
     */
    public static FileInPlace of(String what, Path path) throws IOException {
        Path real = path.toRealPath(); // a link may lead elsewhere later
        return new FileInPlace(what, real, State.of(real));
    }

    /**
     * Returns the state in which the file was mapped.
     *
     * @return the state at the creation of this object
     */
    public State state() {
        return then;
    }

    /**
     * Returns whether the file still has the mapped bytes.
     *
     * @return UNKNOWN when the contents have to be compared
     */
    public Known isUnchanged() {
        return look().unchanged;
    }

    /** Number of comparisons that found the same contents. Grows when a file was touched; two equal answers enclose no change. */
    long comparisons() {
        return verdict.get().comparisons;
    }

    /**
     * Returns the reason why the file must not be used.
     *
     * @return DATA_LOSS with the path and the remedy; null while the file is unchanged, or not known to be changed
     */
    public @Nullable IreeException failure() {
        return look().failure;
    }

    /**
     * Fails unless the file is unchanged.
     *
     * @throws IreeException DATA_LOSS when the file was changed; UNAVAILABLE while not known
     */
    public void requireUnchanged() {
        Verdict now = look();
        IreeException failure = now.failure;
        if (failure != null) {
            throw new IreeException(failure.code(), failure.getMessage(), failure);
        }
        if (now.unchanged == Known.UNKNOWN) {
            throw new IreeException(
                    StatusCode.UNAVAILABLE,
                    "%s may have been changed, and is being compared with what it was; try again".formatted(what));
        }
    }

    private Verdict look() {
        while (true) {
            Verdict last = verdict.get();
            State now;
            try {
                now = stateOfSame();
            } catch (IOException e) {
                return last; // a directory on the path is unreadable, for example: no change of the file
            }
            Verdict next = now == null ? afterItsEnd(last) : now.equals(last.state) ? last : inAnotherState(last, now);
            if (next.equals(last)) {
                return next;
            }
            if (verdict.compareAndSet(last, next)) {
                if (last.failure == null && next.failure != null) {
                    LOG.warn("{}", next.failure.getMessage());
                }
                return next;
            }
        }
    }

    /** The file's state now; null when the path no longer leads to the file. */
    private @Nullable State stateOfSame() throws IOException {
        try {
            State now = State.of(path);
            return now.file.equals(then.file) ? now : null;
        } catch (NoSuchFileException e) {
            return null;
        }
    }

    /** The verdict for a deleted or replaced file: the mapping keeps the last bytes, which can no longer be compared. */
    private Verdict afterItsEnd(Verdict last) {
        return last.unchanged != Known.UNKNOWN
                ? last
                : changed(last, last.state, "was deleted or replaced before its contents could be compared");
    }

    private Verdict inAnotherState(Verdict last, State now) {
        if (now.size != then.size) {
            return changed(last, now, "has another size");
        }
        if (contents == null) {
            return changed(last, now, "was changed before its contents had been read to compare them");
        }
        return new Verdict(now, Known.UNKNOWN, last.comparisons, null);
    }

    private Verdict changed(Verdict last, State now, String how) {
        IreeException failure = new IreeException(
                StatusCode.DATA_LOSS,
                "%s had %d bytes, last written %s, and now has %d, written %s%s: it was changed while it is in use (%s); load the program again, and replace files by renaming others over them"
                        .formatted(
                                what,
                                then.size,
                                then.written,
                                now.size,
                                now.written,
                                Objects.equals(now.changed, now.written)
                                        ? ""
                                        : ", and its attributes changed " + now.changed,
                                how));
        return new Verdict(now, Known.NO, last.comparisons, failure);
    }

    /** Whether the contents are known, so that a change of times can be distinguished from a change of contents. */
    boolean isRead() {
        return contents != null;
    }

    /**
     * Reads the file, so that the contents are known. Does nothing where the contents are known, or where the file has
     * changed since the mapping. The duration grows with the size of the file.
     *
     * @param wanted called now and then; returns whether to go on
     */
    void read(BooleanSupplier wanted) {
        if (contents != null) {
            return;
        }
        try {
            byte[] digest = then.equals(stateOfSame()) ? digest(wanted) : null;
            if (digest != null && then.equals(stateOfSame())) {
                contents = digest;
            }
        } catch (IOException e) {
            LOG.debug("{} could not be read: a change of its times counts as one of its contents", what, e);
        }
    }

    /**
     * Compares the contents with the mapped contents, if the answer depends on the contents.
     *
     * @param background runs a comparison, with a duration that grows with the size of the file; begins later than a
     *     tick of the file system's clock, so that a write after the comparison shows
     * @return completes when there is an answer, or another state; null when the answer is known
     */
    @Nullable
    synchronized CompletableFuture<Void> compare(Executor background) {
        Verdict doubt = look();
        if (doubt.unchanged != Known.UNKNOWN) {
            return null;
        }
        CompletableFuture<Void> running = comparison;
        if (running == null) {
            running = CompletableFuture.runAsync(() -> compareNow(doubt), background);
            comparison = running;
        }
        return running;
    }

    private void compareNow(Verdict doubt) {
        try {
            if (!look().equals(doubt)) {
                return; // touched again: a write in the same tick of the clock would not show
            }
            long start = System.nanoTime();
            byte[] now = digest(() -> true);
            if (now == null || !doubt.state.equals(stateOfSame())) {
                return; // changed meanwhile: the next look reports the change
            }
            boolean same = Arrays.equals(contents, now);
            Verdict found = same
                    ? new Verdict(doubt.state, Known.YES, doubt.comparisons + 1, null) // PLACE-1
                    : changed(doubt, doubt.state, "has other contents");
            if (verdict.compareAndSet(doubt, found)) {
                long millis = (System.nanoTime() - start) / 1_000_000;
                if (same) {
                    LOG.info("{} was touched; its {} bytes are the same, read in {} ms", what, then.size, millis);
                } else {
                    LOG.warn("{}", Objects.requireNonNull(found.failure).getMessage());
                }
            }
        } catch (IOException e) {
            LOG.warn("{} was touched, and cannot be read to compare it: {}", what, e.toString());
            if (e instanceof AccessDeniedException) { // otherwise the next call tries again
                verdict.compareAndSet(doubt, changed(doubt, doubt.state, "cannot be read: " + e));
            }
        } finally {
            synchronized (this) {
                comparison = null;
            }
        }
    }

    /** Returns the SHA-256 of the contents now; null when the digest is no longer wanted. */
    private byte @Nullable [] digest(BooleanSupplier wanted) throws IOException {
        MessageDigest digest;
        try {
            digest = MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java platform has SHA-256", e);
        }
        try (FileChannel channel = FileChannel.open(path, StandardOpenOption.READ)) {
            ByteBuffer chunk = ByteBuffer.allocate(CHUNK);
            while (wanted.getAsBoolean()) {
                if (channel.read(chunk.clear()) < 0) {
                    return digest.digest();
                }
                digest.update(chunk.flip());
            }
        }
        return null;
    }

    @Override
    public String toString() {
        return what;
    }
}
