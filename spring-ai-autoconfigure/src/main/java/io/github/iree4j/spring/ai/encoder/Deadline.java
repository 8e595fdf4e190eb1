package io.github.iree4j.spring.ai.encoder;

import io.github.iree4j.status.DurationText;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.github.iree4j.status.WaitTime;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** The deadline of a request. */
final class Deadline {
    private final String request;
    private final long end;
    private final @Nullable Duration timeout;

    /**
     * Starts the time of a request.
     *
     * @param request names the request in messages
     * @param timeout maximum duration; null for none
     */
    Deadline(String request, @Nullable Duration timeout) {
        this.request = request;
        this.timeout = timeout;
        this.end = timeout == null ? 0 : System.nanoTime() + WaitTime.nanos(timeout);
    }

    /** The remaining time for the next call; null for no limit. */
    @Nullable
    Duration left() {
        return timeout == null ? null : Duration.ofNanos(Math.max(0, end - System.nanoTime()));
    }

    /**
     * Ends the request if it is late or interrupted.
     *
     * @throws IreeException DEADLINE_EXCEEDED or CANCELLED
     */
    void check() {
        if (Thread.currentThread().isInterrupted()) {
            throw IreeException.of(StatusCode.CANCELLED, request + " was interrupted");
        }
        if (timeout != null && end - System.nanoTime() <= 0) {
            throw IreeException.of(
                    StatusCode.DEADLINE_EXCEEDED,
                    "%s took longer than %s".formatted(request, DurationText.of(timeout)));
        }
    }
}
