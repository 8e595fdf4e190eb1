package io.example.threads;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class ThreadDriverTest {
    /** What the device takes for lost, it frees. */
    @Test
    void isLostOnceNoLaneRunsAnything() {
        Clock clock = new Clock();
        synchronized (clock) {
            assertThat(clock.begin()).isTrue();
            assertThat(clock.begin()).isTrue();
            clock.end(new IllegalStateException("a kernel failed"));
            assertThat(clock.isLost()).as("lost while another lane runs").isFalse();
            assertThat(clock.begin()).as("begins after a failure").isFalse();
            clock.end(null);
            assertThat(clock.isLost()).isTrue();
        }
    }
}
