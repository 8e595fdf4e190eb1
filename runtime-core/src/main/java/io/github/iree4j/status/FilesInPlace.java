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
 * The files that a program uses in place. A call begins when all are known to be unchanged, and gives results only if none was touched since:
 * contents that are the same before and after may have been others in between.
 *
 * <p>Failures that calls get name no paths: their causes do. Safe from any thread. Without files, asking costs no system call.
 */
public final class FilesInPlace {
    /** How often a call waits for a comparison: a file that is touched more often than that can be compared keeps no call waiting for ever. */
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
     * @param reading reads each file once, after the program was loaded; for as long as the files are large
     * @param comparing compares a file that was touched with what it was; begins later than a tick of the file system's clock
     */
    public FilesInPlace(Executor reading, Executor comparing) {
        this.reading = reading;
        this.comparing = comparing;
    }

    /**
     * Adds a file, unless it is one of these.
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
     * Fails unless all files have been as they are now since they were added: what was made of their contents is then right.
     *
     * @throws IreeException as {@link #requireUnchangedSince}
     */
    public void requireUnchangedSinceAdded() {
        requireUnchangedSince(comparisonsWhenAdded.get());
    }

    /** The program was loaded: files are read from now on, so that they can be compared when they are touched. */
    public void loaded() {
        loaded = true;
        files.forEach(this::read);
    }

    private void read(FileInPlace file) {
        reading.execute(() -> file.read(() -> !closed));
    }

    /** The program was closed: files need not be read any more. */
    public void close() {
        closed = true;
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
     * Returns whether all files have been read, so that they can be compared when they are touched.
     *
     * @return false for some time after the program was loaded
     */
    public boolean areRead() {
        return files.stream().allMatch(FileInPlace::isRead);
    }

    /**
     * Returns whether all files are unchanged.
     *
     * @return NO when one was changed, UNKNOWN when one has to be compared
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
     * Begins to compare files of which it is not known whether they were changed.
     *
     * @return completes when they were compared, which may have to be done again; null when there are none
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
     * Returns why calls fail, and begins to compare files that were touched.
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
     * Returns how often files were touched, and found to be unchanged. A call asks when it begins, for {@link #failureSince}.
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
     * Returns why a call gives no results.
     *
     * @param comparisons their number when it began
     * @return DATA_LOSS when a file was changed, UNAVAILABLE when one was touched and may have been another for some time; null if neither
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
     * @param comparisons their number when the call began
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
     * @throws IreeException DATA_LOSS when one was changed; UNAVAILABLE while that is not known
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
     * Waits until it is known whether a file was changed.
     *
     * @throws IreeException DATA_LOSS when one was; UNAVAILABLE when one is touched again and again, or cannot be read; CANCELLED when the thread
     *     is interrupted, and then stays so
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
