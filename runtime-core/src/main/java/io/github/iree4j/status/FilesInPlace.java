package io.github.iree4j.status;

import io.github.iree4j.api.NotForApplications;
import io.github.iree4j.status.FileInPlace.Verdict;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArraySet;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The files used in place by a program. A call begins when all files are known to be unchanged, and gives results only
 * if no file was touched since: contents equal before and after may have been different in between.
 *
 * <p>Failures of calls name no paths; the causes of these failures do. Safe from any thread. Without files, a query
 * costs no system call.
 *
 * <p>A file system that gives no answer, such as a mount whose server is gone, ends calls with UNAVAILABLE after
 * {@link #PATIENCE}. Waiting for a comparison has no limit besides the call's.
 */
@NotForApplications
public final class FilesInPlace {
    /** Number of comparisons for which a call waits: a file touched faster than comparisons end keeps no call waiting for ever. */
    private static final int ROUNDS = 3;

    /** Much longer than a look at a file of another machine, and short enough for a client to try elsewhere. A guess. */
    private static final Duration PATIENCE = Duration.ofSeconds(2);

    private final Set<FileInPlace> files = new CopyOnWriteArraySet<>();
    private final Function<FileInPlace, Executor> reading;
    private final Function<FileInPlace, Executor> looking;
    private final Executor comparing;
    private final Duration patience;
    private final AtomicLong comparisonsWhenAdded = new AtomicLong();
    private volatile boolean loaded;
    private volatile boolean closed;

    /**
     * Creates a set without files.
     *
     * @param reading reads a file once, after the program was loaded; the duration grows with the size of the file. No
     *     thread for files of several {@linkplain FileInPlace#fileSystem() file systems}: one may hang
     * @param looking looks at a file whose file system may hang; a thread as for {@code reading}
     * @param comparing compares a touched file with the mapped contents; begins later than a tick of the file system's
     *     clock
     */
    public FilesInPlace(
            Function<FileInPlace, Executor> reading, Function<FileInPlace, Executor> looking, Executor comparing) {
        this(reading, looking, comparing, PATIENCE);
    }

    FilesInPlace(
            Function<FileInPlace, Executor> reading,
            Function<FileInPlace, Executor> looking,
            Executor comparing,
            Duration patience) {
        this.reading = reading;
        this.looking = looking;
        this.comparing = comparing;
        this.patience = patience;
    }

    /**
     * Adds a file, unless present.
     *
     * @param file the file
     */
    public void add(FileInPlace file) {
        if (files.add(file)) {
            file.looksOn(looking.apply(file), patience);
            comparisonsWhenAdded.addAndGet(file.comparisons());
            if (loaded) {
                read(file);
            }
        }
    }

    /**
     * Fails unless all files have been unchanged since their addition: anything made from the contents is then right.
     *
     * @throws IreeException as {@link #requireUnchangedSince}
     */
    public void requireUnchangedSinceAdded() {
        requireUnchangedSince(comparisonsWhenAdded.get());
    }

    /** Records that the program was loaded: files are read from now on, so that touched files can be compared. */
    public void loaded() {
        loaded = true;
        files.forEach(this::read);
    }

    private void read(FileInPlace file) {
        reading.apply(file).execute(() -> file.read(() -> !closed));
    }

    /** Records that the program was closed: files need not be read any more. */
    public void close() {
        closed = true;
    }

    /**
     * Returns whether there are no files.
     *
     * @return true until the first file is added
     */
    public boolean isEmpty() {
        return files.isEmpty();
    }

    /**
     * Returns whether all files have been read, so that touched files can be compared.
     *
     * @return false for some time after the program was loaded
     */
    public boolean areRead() {
        return files.stream().allMatch(FileInPlace::isRead);
    }

    /**
     * Returns the reason why calls fail, and begins to compare touched files. Never waits: for a file system that may
     * hang, the method returns the result of an earlier look.
     *
     * @return DATA_LOSS when a file is known to be changed, or UNAVAILABLE when a file system gives no answer, with the
     *     path and the remedy; otherwise null
     */
    public @Nullable IreeException failure() {
        IreeException silence = null;
        for (FileInPlace each : files) {
            Verdict now = each.glance();
            if (now.unchanged() == Known.NO) {
                return now.failure();
            }
            silence = now.failure() != null ? now.failure() : silence;
            each.compare(now, comparing);
        }
        return silence;
    }

    /**
     * Returns the reason why no call can begin, without a look.
     *
     * @return UNAVAILABLE while a file is compared, or its file system gives no answer, with the wait as a detail; null
     *     otherwise
     */
    public @Nullable IreeException doubt() {
        return files.stream().noneMatch(FileInPlace::isInDoubt)
                ? null
                : IreeException.of(
                        StatusCode.UNAVAILABLE,
                        "a call began before a file in place was known to be unchanged",
                        unavailable("a file used in place by the program was touched, or gives no answer", null),
                        new CallWait("a file used in place by the program to be found unchanged"));
    }

    /**
     * Returns how often files were touched, and found to be unchanged. A call requests this number at the beginning,
     * for {@link #failureSince}.
     *
     * @return a number that grows
     */
    public long comparisons() {
        long all = 0;
        for (FileInPlace each : files) {
            all += each.comparisons();
        }
        return all;
    }

    /**
     * Returns the reason why a call gives no results.
     *
     * @param comparisons the number of comparisons at the beginning of the call
     * @return DATA_LOSS when a file was changed, UNAVAILABLE when a file was touched and may have been different for
     *     some time; null if neither
     */
    public @Nullable IreeException failureSince(long comparisons) {
        Known unchanged = Known.YES;
        IreeException silence = null;
        for (FileInPlace each : files) {
            Verdict now = each.look();
            if (now.unchanged() == Known.NO) {
                return lost(now);
            }
            unchanged = now.unchanged() == Known.UNKNOWN ? Known.UNKNOWN : unchanged;
            silence = now.failure() != null ? silent(now) : silence;
            each.compare(now, comparing);
        }
        if (unchanged == Known.YES && comparisons() == comparisons) { // PLACE-1
            return null;
        }
        return silence != null
                ? silence
                : unavailable(
                        "a file used in place by the program was touched during the call, which may have read other contents; make the call again",
                        null);
    }

    /**
     * Fails as {@link #failureSince}.
     *
     * @param comparisons the number of comparisons at the beginning of the call
     * @throws IreeException DATA_LOSS or UNAVAILABLE
     */
    public void requireUnchangedSince(long comparisons) {
        IreeException failure = failureSince(comparisons);
        if (failure != null) {
            throw failure;
        }
    }

    /**
     * Finds out whether all files are unchanged. Does not wait.
     *
     * @return null when all files are unchanged; otherwise completes when known, with null when all are unchanged, or
     *     with the reason why a call must not begin: DATA_LOSS when a file was changed; UNAVAILABLE when a file is
     *     touched again and again, cannot be read, or is in a file system that gives no answer
     */
    public @Nullable CompletableFuture<@Nullable IreeException> verdict() {
        for (FileInPlace each : files) {
            if (!each.isUnchangedHere()) {
                return settle(ROUNDS);
            }
        }
        return null;
    }

    private CompletableFuture<@Nullable IreeException> settle(int rounds) {
        Map<FileInPlace, CompletableFuture<Verdict>> looks = new LinkedHashMap<>();
        files.forEach(each -> looks.put(each, each.lookSoon()));
        return all(looks.values()).thenCompose(_ -> settle(looks, rounds));
    }

    private CompletableFuture<@Nullable IreeException> settle(
            Map<FileInPlace, CompletableFuture<Verdict>> looks, int rounds) {
        IreeException silence = null;
        List<CompletableFuture<Void>> comparisons = new ArrayList<>();
        for (Map.Entry<FileInPlace, CompletableFuture<Verdict>> each : looks.entrySet()) {
            Verdict now = each.getValue().join(); // complete
            if (now.unchanged() == Known.NO) {
                return CompletableFuture.completedFuture(lost(now));
            }
            silence = now.failure() != null ? silent(now) : silence;
            CompletableFuture<Void> comparison = each.getKey().compare(now, comparing);
            if (comparison != null) {
                comparisons.add(comparison);
            }
        }
        if (silence != null || comparisons.isEmpty()) {
            return CompletableFuture.completedFuture(silence);
        }
        if (rounds == 0) {
            return CompletableFuture.completedFuture(unavailable(
                    "a file used in place by the program was touched %d times during comparisons with the mapped contents, or cannot be read; try again"
                            .formatted(ROUNDS),
                    null));
        }
        return all(comparisons).thenCompose(_ -> settle(rounds - 1));
    }

    private static CompletableFuture<Void> all(Collection<? extends CompletableFuture<?>> each) {
        return CompletableFuture.allOf(each.toArray(CompletableFuture<?>[]::new));
    }

    /**
     * Waits for the {@link #verdict}.
     *
     * @throws IreeException as given by the verdict; CANCELLED when the thread is interrupted; the thread stays
     *     interrupted
     */
    public void awaitUnchanged() {
        CompletableFuture<@Nullable IreeException> verdict = verdict();
        if (verdict == null) {
            return;
        }
        try {
            IreeException failure = verdict.get();
            if (failure != null) {
                throw failure;
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw IreeException.of(
                    StatusCode.CANCELLED,
                    "interrupted while a file used in place by the program was being compared with the mapped contents",
                    e);
        } catch (ExecutionException e) {
            throw new IllegalStateException("a comparison does not fail", e);
        }
    }

    private static IreeException lost(Verdict changed) {
        return IreeException.of(
                StatusCode.DATA_LOSS,
                "a file used in place by the program was changed while in use; load the program again: log and health name the file",
                changed.failure(),
                new FileFault());
    }

    private static IreeException silent(Verdict unanswered) {
        return unavailable(
                "the file system of a file used in place by the program gives no answer, so a change of the file would go unnoticed; try again: log and health name the file",
                unanswered.failure());
    }

    private static IreeException unavailable(String message, @Nullable IreeException cause) {
        return IreeException.of(StatusCode.UNAVAILABLE, message, cause, new FileFault());
    }
}
