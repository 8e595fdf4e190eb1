package io.github.iree4j.spring.serving;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class GrpcTransportLogTests {

    private final AtomicLong clock = new AtomicLong(Long.MAX_VALUE - 5);
    private boolean detailed;
    private final GrpcTransportLog filter = new GrpcTransportLog(clock::get, () -> detailed);

    private static LogRecord record(Level level, String message, @Nullable Throwable thrown) {
        LogRecord entry = new LogRecord(level, message);
        entry.setThrown(thrown);
        return entry;
    }

    @Test
    void warningsWithTracesBecomeALineInSomeSeconds() {
        List<String> lines = new ArrayList<>();
        for (int second = 0; second < 25; second++) {
            for (int i = 0; i < 10; i++) {
                LogRecord entry = record(
                        Level.WARNING,
                        "Stream Error",
                        new IllegalStateException("Stream closed before write could take place"));
                if (filter.isLoggable(entry)) {
                    assertThat(entry.getThrown()).isNull();
                    lines.add(entry.getMessage());
                }
            }
            clock.addAndGet(TimeUnit.SECONDS.toNanos(1));
        }
        assertThat(lines)
                .containsExactly(
                        "Stream Error: Stream closed before write could take place",
                        "Stream Error: Stream closed before write could take place (and 99 such messages since the last one)",
                        "Stream Error: Stream closed before write could take place (and 99 such messages since the last one)");
    }

    @Test
    void tooLargeMessagesNameTheProperty() {
        LogRecord entry = record(
                Level.WARNING,
                "Exception processing message",
                new IllegalStateException("RESOURCE_EXHAUSTED: gRPC message exceeds maximum size 7340032: 8388623"));
        assertThat(filter.isLoggable(entry)).isTrue();
        assertThat(entry.getMessage()).contains("8388623").contains("raise 'iree.http.max-request-size'");
    }

    @Test
    void textFromClientsIsOnALineOfLimitedLength() {
        String sent = "GET /\r\n2026 INFO forged" + "x".repeat(5_000);
        LogRecord entry = record(
                Level.INFO, "Transport failed", new IllegalStateException("Unexpected HTTP/1.x request: " + sent));
        assertThat(filter.isLoggable(entry)).isTrue();
        assertThat(entry.getMessage())
                .startsWith("Transport failed: Unexpected HTTP/1.x request: GET /??2026 INFO forgedxxx")
                .hasSizeLessThan(400);
    }

    @Test
    void failuresWithoutATextAreNamed() {
        LogRecord entry = record(Level.INFO, "Transport failed", new IllegalStateException());
        assertThat(filter.isLoggable(entry)).isTrue();
        assertThat(entry.getMessage()).isEqualTo("Transport failed: java.lang.IllegalStateException");
    }

    @Test
    void warningsWithoutATraceAreThinnedAsWell() {
        LogRecord first = record(Level.WARNING, "Expected header TE: trailers, but null is received", null);
        assertThat(filter.isLoggable(first)).isTrue();
        assertThat(first.getMessage()).isEqualTo("Expected header TE: trailers, but null is received");
        assertThat(filter.isLoggable(record(Level.WARNING, "Expected header TE: trailers", null)))
                .isFalse();
    }

    @Test
    void recordsBelowInfoStayAsTheyAre() {
        assertUnchanged(Level.FINE);
    }

    @Test
    void allRecordsStayAsTheyAreWhenDetailsAreRequested() {
        detailed = true;
        assertUnchanged(Level.WARNING);
    }

    private void assertUnchanged(Level level) {
        IllegalStateException cause = new IllegalStateException("Connection Error");
        for (int i = 0; i < 3; i++) {
            LogRecord trace = record(level, "Connection Error", cause);
            assertThat(filter.isLoggable(trace)).isTrue();
            assertThat(trace.getThrown()).isSameAs(cause);
        }
    }

    @Test
    void loggersOfBothTransportsHaveTheirFilters() {
        GrpcTransportLog.install();
        for (String name : List.of("NettyServerHandler", "NettyServerStream", "NettyServerTransport.connections")) {
            for (String prefix : List.of("", "io.grpc.netty.shaded.")) {
                assertThat(Logger.getLogger(prefix + "io.grpc.netty." + name).getFilter())
                        .isInstanceOf(GrpcTransportLog.class);
            }
        }
    }
}
