package io.github.iree4j.async;

import io.github.iree4j.api.NotForApplications;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A range of a timeline's externally signalled values: their history is unknown, and waits for these values are never
 * elided. A window begins with the first external signal and ends with the next internal signal. The process remembers
 * the last {@value #REMEMBERED} windows. Safe from any thread.
 */
@NotForApplications
public final class TaintWindow {
    /** The number of windows remembered. */
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
     * Returns the number of windows opened by this process.
     *
     * @return the count, open windows included
     */
    public static long openedCount() {
        synchronized (RECENT) {
            return opened;
        }
    }

    /**
     * Returns the number of windows ended by an internal signal.
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
     * Returns the last value before the window, the last value with a known history.
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
     * Returns the cause that opened the window.
     *
     * @return a description for diagnostics
     */
    public String cause() {
        return cause;
    }

    /**
     * Returns when the window was opened.
     *
     * @return the time
     */
    public Instant since() {
        return since;
    }

    /**
     * Returns when the window ended.
     *
     * @return the time; null while the window is open
     */
    public @Nullable Instant recovered() {
        return recovered;
    }
}
