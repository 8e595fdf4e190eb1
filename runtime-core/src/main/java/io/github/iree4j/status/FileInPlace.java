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
 * A file that is used in place, through a mapping, whose bytes must stay as they were when it was mapped.
 *
 * <p>Its size and times tell that nothing was written. Others tell only that something may have been: the system does not tell a change of
 * times, permissions or links from a write that has restored the times. Then the contents are compared with what they were, of which the
 * SHA-256 was taken before: read once, in the background, when the file was loaded. Until that comparison has ended the answer is
 * {@link Known#UNKNOWN}. It is {@link Known#NO} for other contents, for another size, and when the contents are not known from before; then it
 * becomes another one when the file is changed again.
 *
 * <p>A file that was deleted, or replaced by renaming another over it, is unchanged if it was by then: the mapping keeps its bytes.
 *
 * <p>Safe from any thread. Asking takes one system call, about a microsecond.
 */
public final class FileInPlace {
    private static final Logger LOG = LoggerFactory.getLogger(FileInPlace.class);
    private static final String UNIX = "unix";
    private static final int CHUNK = 1 << 20;

    private final String what;
    private final Path path;
    private final State then;
    private final AtomicReference<Verdict> verdict;
    private volatile byte @Nullable [] contents; // SHA-256 of what was mapped, once it was read
    private @Nullable CompletableFuture<Void> comparison; // in progress; guarded by this

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

    /** What is known of the bytes while the file is in a state; with the failure if they are others. */
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
     * Returns the state in which it was mapped.
     *
     * @return the state when this was created
     */
    public State state() {
        return then;
    }

    /**
     * Returns whether its bytes are those that were mapped.
     *
     * @return UNKNOWN when its contents have to be compared
     */
    public Known isUnchanged() {
        return look().unchanged;
    }

    /** How often contents were compared and found to be the same. Grows when a file was touched; two equal answers enclose no change. */
    long comparisons() {
        return verdict.get().comparisons;
    }

    /**
     * Returns why the file must not be used.
     *
     * @return DATA_LOSS with its path and the remedy; null while it is unchanged, or that is not known
     */
    public @Nullable IreeException failure() {
        return look().failure;
    }

    /**
     * Fails unless the file is unchanged.
     *
     * @throws IreeException DATA_LOSS when it was changed; UNAVAILABLE while that is not known
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
                return last; // a directory on its path cannot be read, for example, which does not change the file
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

    /** Its state now; null when it is not at its path any more. */
    private @Nullable State stateOfSame() throws IOException {
        try {
            State now = State.of(path);
            return now.file.equals(then.file) ? now : null;
        } catch (NoSuchFileException e) {
            return null;
        }
    }

    /** It was deleted or replaced: the mapping keeps the bytes that it had last, which cannot be compared any more. */
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

    /** Whether the contents are known, so that a change of times can be told from a change of contents. */
    boolean isRead() {
        return contents != null;
    }

    /**
     * Reads the file, so that its contents are known. Does nothing where these are known, or where the file has changed since it was mapped.
     * Takes as long as the file is large.
     *
     * @param wanted asked now and then whether to go on
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
     * Compares its contents with what they were, if the answer depends on that.
     *
     * @param background runs a comparison, which takes as long as the file is large; begins later than a tick of the file system's clock, so that
     *     a write after the comparison shows
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
                return; // changed meanwhile: the next look tells
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
            if (e instanceof AccessDeniedException) { // else the next call tries again
                verdict.compareAndSet(doubt, changed(doubt, doubt.state, "cannot be read: " + e));
            }
        } finally {
            synchronized (this) {
                comparison = null;
            }
        }
    }

    /** Returns the SHA-256 of the contents now; null when they are not wanted any more. */
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
