package io.github.iree4j.status;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArraySet;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * The files used in place by a program. A call begins when all files are known to be unchanged, and gives results only
 * if no file was touched since: contents equal before and after may have been different in between.
 *
 * <p>Failures of calls name no paths; the causes of these failures do. Safe from any thread. Without files, a query
 * costs no system call.
 */
public final class FilesInPlace {
    /** Number of comparisons for which a call waits: a file touched faster than comparisons end keeps no call waiting for ever. */
    private static final int ROUNDS = 3;

    private final Set<FileInPlace> files = new CopyOnWriteArraySet<>();
    private final Executor reading;
    private final Executor comparing;
    private final AtomicLong comparisonsWhenAdded = new AtomicLong();
    private volatile boolean loaded;
    private volatile boolean closed;

    /**
     * Creates a set without files.
     *
     * @param reading reads each file once, after the program was loaded; the duration grows with the size of the files
     * @param comparing compares a touched file with the mapped contents; begins later than a tick of the file system's
     *     clock
     */
    public FilesInPlace(Executor reading, Executor comparing) {
        this.reading = reading;
        this.comparing = comparing;
    }

    /**
     * Adds a file, unless present.
     *
     * @param file the file
     */
    public void add(FileInPlace file) {
        if (files.add(file)) {
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
        reading.execute(() -> file.read(() -> !closed));
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
     * Returns whether all files are unchanged.
     *
     * @return NO when a file was changed, UNKNOWN when a file has to be compared
     */
    public Known areUnchanged() {
        Known all = Known.YES;
        for (FileInPlace each : files) {
            switch (each.isUnchanged()) {
                case NO -> {
                    return Known.NO;
                }
                case UNKNOWN -> all = Known.UNKNOWN;
                case YES -> {}
            }
        }
        return all;
    }

    /**
     * Begins to compare files that are not known to be changed or unchanged.
     *
     * @return completes after the comparisons, which may have to be repeated; null when there are no such files
     */
    public @Nullable CompletableFuture<Void> doubt() {
        List<CompletableFuture<Void>> running = new ArrayList<>();
        for (FileInPlace each : files) {
            CompletableFuture<Void> one = each.compare(comparing);
            if (one != null) {
                running.add(one);
            }
        }
        return running.isEmpty() ? null : CompletableFuture.allOf(running.toArray(CompletableFuture<?>[]::new));
    }

    /**
     * Returns the reason why calls fail, and begins to compare touched files.
     *
     * @return DATA_LOSS with the path and the remedy; null unless a file is known to be changed
     */
    public @Nullable IreeException failure() {
        for (FileInPlace each : files) {
            IreeException failure = each.failure();
            if (failure != null) {
                return failure;
            }
        }
        doubt();
        return null;
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
        Known unchanged = areUnchanged();
        if (unchanged == Known.NO) {
            return lost();
        }
        if (unchanged == Known.YES && comparisons() == comparisons) { // PLACE-1
            return null;
        }
        doubt();
        return new IreeException(
                StatusCode.UNAVAILABLE,
                "a file that the program uses in place was touched during the call, which may have read other contents; make the call again");
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
     * Fails unless all files are unchanged, for a thread that must not wait.
     *
     * @throws IreeException DATA_LOSS when a file was changed; UNAVAILABLE while not known
     */
    public void requireUnchanged() {
        switch (areUnchanged()) {
            case NO -> throw lost();
            case UNKNOWN -> {
                doubt();
                throw new IreeException(
                        StatusCode.UNAVAILABLE,
                        "a file that the program uses in place was touched, and is being compared with what it was; try again");
            }
            case YES -> {}
        }
    }

    /**
     * Waits until every file is known to be changed or unchanged.
     *
     * @throws IreeException DATA_LOSS when a file was changed; UNAVAILABLE when a file is touched again and again, or
     *     cannot be read; CANCELLED when the thread is interrupted; the thread stays interrupted
     */
    public void awaitUnchanged() {
        for (int i = 0; i < ROUNDS && areUnchanged() == Known.UNKNOWN; i++) {
            awaitComparison();
        }
        requireUnchanged();
    }

    private void awaitComparison() {
        CompletableFuture<Void> doubt = doubt();
        if (doubt == null) {
            return;
        }
        try {
            doubt.get();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IreeException(
                    StatusCode.CANCELLED,
                    "interrupted while a file that the program uses in place was being compared with what it was",
                    e);
        } catch (ExecutionException e) {
            throw new IllegalStateException("a comparison does not fail", e);
        }
    }

    private IreeException lost() {
        IreeException cause = null;
        for (FileInPlace each : files) {
            cause = cause == null ? each.failure() : cause;
        }
        return new IreeException(
                StatusCode.DATA_LOSS,
                "the program uses a file in place, and it was changed while it is in use; load the program again, whose log and health name the file",
                cause);
    }
}
