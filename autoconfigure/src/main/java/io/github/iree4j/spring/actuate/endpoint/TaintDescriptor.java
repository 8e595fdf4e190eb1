package io.github.iree4j.spring.actuate.endpoint;

import io.github.iree4j.async.TaintWindow;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.actuate.endpoint.OperationResponseBody;

/**
 * Stretches of timelines whose values came from outside, so that waits for them cannot be dropped. Of this process.
 *
 * @param opened how many there were
 * @param recovered how many ended
 * @param windows the last ones, oldest first
 */
public record TaintDescriptor(long opened, long recovered, List<Window> windows) implements OperationResponseBody {

    /**
     * One of them.
     *
     * @param timeline the number of the timeline
     * @param watermark the last value before it
     * @param reached the last value in it
     * @param cause what opened it
     * @param since when it was opened
     * @param recovered when a signal of our own ended it; null while it is open
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
