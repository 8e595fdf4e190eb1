package io.github.iree4j.spring.ai.openai;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIOException;

import io.github.iree4j.spring.http.BodyLimits;
import io.github.iree4j.spring.http.RequestCounts.Reason;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class SteadyOutputTests {
    private final BodyLimits limits = new BodyLimits(1 << 20, Duration.ofSeconds(10), 1);
    private final ByteArrayOutputStream received = new ByteArrayOutputStream();
    private long now;
    private long delay;

    /** A client that takes a time for each write. */
    private final OutputStream client = new OutputStream() {
        @Override
        public void write(int value) {
            received.write(value);
        }

        @Override
        public void flush() {
            now += delay;
        }
    };

    private final SteadyOutput out = new SteadyOutput(client, limits, () -> now);

    private void event() throws IOException {
        out.write(new byte[100]);
        out.flush();
    }

    @Test
    void theTimeBetweenEventsIsNotTheClients() throws IOException {
        for (int i = 0; i < 100; i++) {
            event();
            now += TimeUnit.HOURS.toNanos(1);
        }
        assertThat(received.size()).isEqualTo(100 * 100);
    }

    @Test
    void theTimeOfAClientAddsUp() throws IOException {
        delay = TimeUnit.MILLISECONDS.toNanos(1001);
        for (int i = 0; i < 9; i++) {
            event();
        }
        assertThatIOException()
                .isThrownBy(this::event)
                .withMessage(
                        "the client is too slow: 1000 bytes read in 10010 ms; raise 'iree.http.body-timeout' if it may be");
        assertThat(limits.counts().refused(Reason.UNREAD)).isOne();
    }
}
