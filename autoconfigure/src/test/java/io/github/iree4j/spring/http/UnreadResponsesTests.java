package io.github.iree4j.spring.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.channel.embedded.EmbeddedChannel;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class UnreadResponsesTests {

    private static final int SECOND = 1 << 16;

    private final Connection connection = new Connection();

    /** A connection of a client that reads on command. */
    private static final class Connection extends EmbeddedChannel {
        private long pending;
        private long readable;

        void send(int bytes) {
            pending += bytes;
            writeOneOutbound(Unpooled.wrappedBuffer(new byte[bytes]));
            flushOutbound();
        }

        /** The client reads, as time passes. */
        void read(long bytes, int millis) {
            readable = Math.min(bytes, pending);
            flushOutbound();
            advanceTimeBy(millis, TimeUnit.MILLISECONDS);
            runScheduledPendingTasks();
        }

        @Override
        protected void doWrite(ChannelOutboundBuffer unsent) {
            unsent.removeBytes(readable);
            pending -= readable;
            readable = 0;
        }
    }

    @BeforeEach
    void begin() {
        connection.freezeTime();
        UnreadResponses.addTo(connection.pipeline(), new BodyLimits(1, Duration.ofSeconds(10), 1));
        UnreadResponses.ours(connection).incrementAndGet();
    }

    @AfterEach
    void end() {
        connection.close();
    }

    @Test
    void anIdleReaderIsDisconnected() {
        connection.send(100);
        connection.read(0, 10_000);
        assertThat(connection.isOpen()).isTrue();
        connection.read(0, 1);
        assertThat(connection.isOpen()).isFalse();
    }

    @Test
    void answersOfOthersAreReadAsSlowlyAsTheirClientsLike() {
        UnreadResponses.ours(connection).decrementAndGet();
        connection.send(100 * SECOND);
        connection.read(0, 1_000_000);
        assertThat(connection.isOpen()).isTrue();
        UnreadResponses.ours(connection).incrementAndGet();
        connection.send(1);
        connection.read(0, 10_001);
        assertThat(connection.isOpen()).isFalse();
    }

    @Test
    void aReaderBelowTheRateIsDisconnected() {
        connection.send(100 * SECOND);
        int seconds = 0;
        while (connection.isOpen()) {
            connection.read(SECOND / 2, 1000);
            seconds++;
        }
        assertThat(seconds).isBetween(19, 21);
    }

    @Test
    void aReaderAtTheRateIsNotDisconnected() {
        for (int i = 0; i < 10; i++) {
            connection.send(10 * SECOND); // in several parts, and read in others
        }
        connection.read(0, 9_999);
        for (int i = 0; i < 100; i++) {
            assertThat(connection.isOpen()).isTrue();
            connection.read(SECOND, 1000);
        }
        assertThat(connection.pending).isZero();
        connection.read(0, 100_000);
        assertThat(connection.isOpen()).isTrue();
    }

    @Test
    void connectionsWithNothingToReadStay() {
        for (int i = 0; i < 10; i++) {
            connection.read(0, 100_000);
            connection.send(100);
            connection.read(0, 9_000);
            connection.read(100, 1000);
            assertThat(connection.isOpen()).isTrue();
        }
    }

    /** Earlier reads do not count. */
    @Test
    void theTimeBeginsWhenThereIsSomethingToRead() {
        connection.send(100 * SECOND);
        connection.read(100 * SECOND, 5_000);
        connection.send(100);
        connection.read(0, 10_000);
        assertThat(connection.isOpen()).isTrue();
        connection.read(0, 1);
        assertThat(connection.isOpen()).isFalse();
    }
}
