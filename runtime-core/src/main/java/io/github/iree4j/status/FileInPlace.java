package io.github.iree4j.status;

import io.github.iree4j.api.NotForApplications;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileStore;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileTime;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.util.Arrays;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
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
 * <p>A look takes one system call, about a microsecond, on a file system of this machine. A look at any other file
 * system may hang: once {@link #looksOn} was called, only a thread of the file system looks, see {@link Looks}, and a
 * look without an answer leaves the file {@link Known#UNKNOWN}.
 *
 * <p>Safe from any thread. No monitor is held during a look.
 */
@NotForApplications
public final class FileInPlace {
    private static final Logger LOG = LoggerFactory.getLogger(FileInPlace.class);
    private static final String UNIX = "unix";
    private static final int CHUNK = 1 << 20;

    /** Types of file systems that wait for no other machine. A file system missing here costs each look two changes of threads. */
    private static final Set<String> LOCAL = Set.of(
            "apfs",
            "bcachefs",
            "btrfs",
            "erofs",
            "exfat",
            "ext2",
            "ext3",
            "ext4",
            "f2fs",
            "hfs",
            "NTFS",
            "overlay",
            "ramfs",
            "squashfs",
            "tmpfs",
            "vfat",
            "xfs",
            "zfs");

    private final String what;
    private final Path path;
    private final State then;
    private final Object fileSystem;
    private final boolean mayHang;
    private final AtomicReference<Verdict> verdict;
    private final AtomicBoolean silent = new AtomicBoolean(); // a look has got no answer, and none since
    private volatile byte @Nullable [] contents; // SHA-256 of the mapped contents, once read
    private volatile @Nullable Looks<Verdict> looks; // null while each thread looks itself
    private @Nullable CompletableFuture<Void> comparison; // the last; guarded by this

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

    /**
     * The verdict about the bytes while the file is in a state.
     *
     * @param failure DATA_LOSS if the bytes are different; UNAVAILABLE, with UNKNOWN, if the file system gives no
     *     answer; otherwise null
     */
    record Verdict(
            State state,
            Known unchanged,
            long comparisons,
            @Nullable IreeException failure) {}

    FileInPlace(String what, Path path, State then, Object fileSystem, boolean mayHang) {
        this.what = what;
        this.path = path;
        this.then = then;
        this.fileSystem = fileSystem;
        this.mayHang = mayHang;
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
        State now = State.of(real);
        try {
            FileStore store = Files.getFileStore(real);
            return new FileInPlace(what, real, now, store, !LOCAL.contains(store.type()));
        } catch (IOException | UnsupportedOperationException e) { // no entry in the list of mounts, for example
            return new FileInPlace(what, real, now, real.getFileSystem(), true);
        }
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
     * Returns the file system of the file. When the file system hangs, all accesses to its files hang.
     *
     * @return equal for files of the same file system
     */
    public Object fileSystem() {
        return fileSystem;
    }

    /**
     * Lets only a thread look from now on, unless the file is on a file system of this machine.
     *
     * @param thread looks; hangs when the file system does
     * @param patience the time after which a look counts as hanging
     */
    synchronized void looksOn(Executor thread, Duration patience) {
        if (mayHang && looks == null) {
            looks = new Looks<>(
                    () -> {
                        Verdict found = lookHere();
                        if (silent.getAndSet(false)) {
                            LOG.info("the file system of {} gives answers again", what);
                        }
                        return found;
                    },
                    thread,
                    patience);
        }
    }

    /** Number of comparisons that found the same contents. Grows when a file was touched; two equal answers enclose no change. */
    long comparisons() {
        return verdict.get().comparisons;
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
            throw IreeException.of(failure.code(), failure.getMessage(), failure);
        }
        if (now.unchanged == Known.UNKNOWN) {
            throw IreeException.of(
                    StatusCode.UNAVAILABLE,
                    "%s may have been changed, and is being compared with the mapped contents; try again"
                            .formatted(what),
                    null,
                    new FileFault());
        }
    }

    /** Whether the latest look left the file unknown, or has got no answer. */
    boolean isInDoubt() {
        return silent.get() || verdict.get().unchanged == Known.UNKNOWN;
    }

    /** Whether a look on this thread proves the file unchanged; false proves nothing, and a file system that may hang is not asked. */
    boolean isUnchangedHere() {
        return looks == null && lookHere().unchanged == Known.YES;
    }

    /** Looks. Waits for a file system that may hang, for a limited time. */
    Verdict look() {
        Looks<Verdict> elsewhere = looks;
        return elsewhere == null ? lookHere() : orSilence(elsewhere.ask().join());
    }

    /** Looks, without waiting for a file system that may hang. */
    CompletableFuture<Verdict> lookSoon() {
        Looks<Verdict> elsewhere = looks;
        return elsewhere == null
                ? CompletableFuture.completedFuture(lookHere())
                : elsewhere.ask().thenApply(this::orSilence);
    }

    /** Looks where the file system cannot hang; otherwise asks for a look, and returns the verdict of the latest one. */
    Verdict glance() {
        Looks<Verdict> elsewhere = looks;
        return elsewhere == null ? lookHere() : orSilence(elsewhere.ask().getNow(verdict.get()));
    }

    private Verdict orSilence(@Nullable Verdict answer) {
        if (answer != null) {
            return answer;
        }
        synchronized (this) {
            if (comparison != null) {
                comparison.complete(null); // hangs as well, and those who wait for it look again
            }
        }
        Verdict last = verdict.get();
        IreeException failure = IreeException.of(
                StatusCode.UNAVAILABLE,
                "the file system of %s gives no answer, so a change of the file would go unnoticed; check the mount"
                        .formatted(what),
                null,
                new FileFault());
        if (!silent.getAndSet(true)) {
            LOG.warn("{}", failure.getMessage());
        }
        return new Verdict(last.state, Known.UNKNOWN, last.comparisons, failure);
    }

    private Verdict lookHere() {
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
                : changed(last, last.state, "was deleted or replaced before the contents could be compared");
    }

    private Verdict inAnotherState(Verdict last, State now) {
        if (now.size != then.size) {
            return changed(last, now, "has another size");
        }
        if (contents == null) {
            return changed(last, now, "was changed before the contents had been read for comparison");
        }
        return new Verdict(now, Known.UNKNOWN, last.comparisons, null);
    }

    private Verdict changed(Verdict last, State now, String how) {
        IreeException failure = IreeException.of(
                StatusCode.DATA_LOSS,
                "%s had %d bytes, last written %s, and now has %d, written %s%s: the file was changed while in use (%s); load the program again, and replace files by renaming others over them"
                        .formatted(
                                what,
                                then.size,
                                then.written,
                                now.size,
                                now.written,
                                Objects.equals(now.changed, now.written)
                                        ? ""
                                        : ", and its attributes changed " + now.changed,
                                how),
                null,
                new FileFault());
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
            LOG.debug("{} could not be read: a change of times counts as a change of contents", what, e);
        }
    }

    /**
     * Compares the contents with the mapped contents, if the answer depends on the contents.
     *
     * @param doubt the verdict of a look
     * @param background runs a comparison, with a duration that grows with the size of the file; begins later than a
     *     tick of the file system's clock, so that a write after the comparison shows
     * @return completes when there is an answer, or another state, or the file system hangs; null when the answer is
     *     known, or the file system hangs
     */
    @Nullable
    synchronized CompletableFuture<Void> compare(Verdict doubt, Executor background) {
        if (doubt.unchanged != Known.UNKNOWN || doubt.failure != null) {
            return null;
        }
        CompletableFuture<Void> running = comparison;
        if (running == null || running.isDone()) {
            running = CompletableFuture.runAsync(() -> compareNow(doubt), background);
            comparison = running;
        }
        return running;
    }

    private void compareNow(Verdict doubt) {
        try {
            if (!lookHere().equals(doubt)) {
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
                    LOG.info("{} was touched; all {} bytes are the same, read in {} ms", what, then.size, millis);
                } else {
                    LOG.warn("{}", Objects.requireNonNull(found.failure).getMessage());
                }
            }
        } catch (IOException e) {
            LOG.warn("{} was touched, and cannot be read for comparison: {}", what, e.toString());
            if (e instanceof AccessDeniedException) { // otherwise the next call tries again
                verdict.compareAndSet(doubt, changed(doubt, doubt.state, "cannot be read: " + e));
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
