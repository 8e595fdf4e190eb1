package io.github.iree4j.async;

import java.time.Instant;
import java.util.ArrayDeque;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A stretch of a timeline whose values came from outside, so that nothing is known of what happened before them: waits for them are never
 * dropped. It begins with the first such signal and ends with the next one of our own. The process remembers the last
 * {@value #REMEMBERED}. Safe from any thread.
 */
public final class TaintWindow {
    /** How many windows are remembered. */
    public static final int REMEMBERED = 64;

    private static final ArrayDeque<TaintWindow> RECENT = new ArrayDeque<>(); // guarded by itself
    private static long opened; // guarded by RECENT
    private static long closed; // guarded by RECENT

    private final long semaphore;
    private final long watermark;
    private final String cause;
    private final Instant since = Instant.now();
    private volatile long reached;
    private volatile @Nullable Instant recovered;

    private TaintWindow(long semaphore, long watermark, long reached, String cause) {
        this.semaphore = semaphore;
        this.watermark = watermark;
        this.reached = reached;
        this.cause = cause;
    }

    /** Opens a window. */
    static TaintWindow open(long semaphore, long watermark, long reached, String cause) {
        TaintWindow window = new TaintWindow(semaphore, watermark, reached, cause);
        synchronized (RECENT) {
            opened++;
            if (RECENT.size() == REMEMBERED) {
                RECENT.removeFirst();
            }
            RECENT.addLast(window);
        }
        return window;
    }

    /**
     * Returns the last windows of all timelines of this process.
     *
     * @return oldest first, at most {@value #REMEMBERED}
     */
    public static List<TaintWindow> recent() {
        synchronized (RECENT) {
            return List.copyOf(RECENT);
        }
    }

    /**
     * Returns how many windows there were in this process.
     *
     * @return those that are open included
     */
    public static long openedCount() {
        synchronized (RECENT) {
            return opened;
        }
    }

    /**
     * Returns how many windows ended with a signal of our own.
     *
     * @return at most {@link #openedCount()}
     */
    public static long recoveredCount() {
        synchronized (RECENT) {
            return closed;
        }
    }

    /** Another value came from outside. */
    void extend(long value) {
        reached = Math.max(reached, value);
    }

    /** A value of our own came. */
    void recover() {
        recovered = Instant.now();
        synchronized (RECENT) {
            closed++;
        }
    }

    /**
     * Returns which timeline it is.
     *
     * @return as {@link TimelineSemaphore#id()}
     */
    public long semaphore() {
        return semaphore;
    }

    /**
     * Returns the last value before the window, whose history is known.
     *
     * @return the watermark
     */
    public long watermark() {
        return watermark;
    }

    /**
     * Returns the last value in the window.
     *
     * @return above {@link #watermark()}
     */
    public long reached() {
        return reached;
    }

    /**
     * Returns what opened it.
     *
     * @return for people
     */
    public String cause() {
        return cause;
    }

    /**
     * Returns when it was opened.
     *
     * @return the time
     */
    public Instant since() {
        return since;
    }

    /**
     * Returns when it ended.
     *
     * @return the time; null while it is open
     */
    public @Nullable Instant recovered() {
        return recovered;
    }
}
