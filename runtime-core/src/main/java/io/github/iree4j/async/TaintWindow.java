package io.github.iree4j.async;

import java.time.Instant;
import java.util.ArrayDeque;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A range of a timeline's values that were signalled externally, so that what happened before them is unknown and waits for them are never
 * elided. It begins with the first external signal and ends with the next internal one. The process remembers the last {@value #REMEMBERED}
 * windows. Safe from any thread.
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
     * Returns how many windows this process has opened.
     *
     * @return the count, open ones included
     */
    public static long openedCount() {
        synchronized (RECENT) {
            return opened;
        }
    }

    /**
     * Returns how many windows ended with an internal signal.
     *
     * @return at most {@link #openedCount()}
     */
    public static long recoveredCount() {
        synchronized (RECENT) {
            return closed;
        }
    }

    /** Records another external value. */
    void extend(long value) {
        reached = Math.max(reached, value);
    }

    /** Closes the window on an internal signal. */
    void recover() {
        recovered = Instant.now();
        synchronized (RECENT) {
            closed++;
        }
    }

    /**
     * Returns the timeline's number.
     *
     * @return as {@link TimelineSemaphore#id()}
     */
    public long semaphore() {
        return semaphore;
    }

    /**
     * Returns the last value before the window, the last whose history is known.
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
     * Returns what opened the window.
     *
     * @return a description for diagnostics
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
