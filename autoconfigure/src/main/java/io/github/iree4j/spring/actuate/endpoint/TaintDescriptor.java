package io.github.iree4j.spring.actuate.endpoint;

import io.github.iree4j.async.TaintWindow;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.actuate.endpoint.OperationResponseBody;

/**
 * Taint windows: ranges of timelines with externally signalled values, so waits for these values cannot be elided.
 * Process-wide.
 *
 * @param opened number of windows opened
 * @param recovered number of windows closed
 * @param windows the most recent windows, oldest first
 */
public record TaintDescriptor(long opened, long recovered, List<Window> windows) implements OperationResponseBody {

    /**
     * A taint window.
     *
     * @param timeline id of the timeline
     * @param watermark the last value before the window
     * @param reached the last value in the window
     * @param cause the cause for opening the window
     * @param since opening time of the window
     * @param recovered time at which a signal of the runtime closed the window; null for an open window
     */
    public record Window(
            long timeline,
            long watermark,
            long reached,
            String cause,
            Instant since,
            @Nullable Instant recovered) {}

    static TaintDescriptor now() {
        return new TaintDescriptor(
                TaintWindow.openedCount(),
                TaintWindow.recoveredCount(),
                TaintWindow.recent().stream()
                        .map(window -> new Window(
                                window.semaphore(),
                                window.watermark(),
                                window.reached(),
                                window.cause(),
                                window.since(),
                                window.recovered()))
                        .toList());
    }
}
