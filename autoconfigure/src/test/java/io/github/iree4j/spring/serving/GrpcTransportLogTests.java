package io.github.iree4j.spring.serving;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.junit.jupiter.api.Test;

class GrpcTransportLogTests {

    private final AtomicLong clock = new AtomicLong(Long.MAX_VALUE - 5);
    private final GrpcTransportLog filter = new GrpcTransportLog(clock::get);

    private static LogRecord record(Level level, String message, Throwable thrown) {
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
                        "Stream Error: Stream closed before write could take place (and 99 such warnings since the last one)",
                        "Stream Error: Stream closed before write could take place (and 99 such warnings since the last one)");
    }

    @Test
    void messagesThatAreTooLargeNameTheProperty() {
        LogRecord entry = record(
                Level.WARNING,
                "Exception processing message",
                new IllegalStateException("RESOURCE_EXHAUSTED: gRPC message exceeds maximum size 7340032: 8388623"));
        assertThat(filter.isLoggable(entry)).isTrue();
        assertThat(entry.getMessage()).contains("8388623").contains("raise 'iree.http.max-request-size'");
    }

    @Test
    void otherRecordsStayAsTheyAre() {
        IllegalStateException cause = new IllegalStateException("Connection Error");
        for (int i = 0; i < 3; i++) {
            LogRecord trace = record(Level.FINE, "Connection Error", cause);
            assertThat(filter.isLoggable(trace)).isTrue();
            assertThat(trace.getThrown()).isSameAs(cause);
            assertThat(filter.isLoggable(new LogRecord(Level.WARNING, "Expected header TE: trailers")))
                    .isTrue();
        }
    }

    @Test
    void loggersOfBothTransportsHaveTheFilter() {
        GrpcTransportLog.install();
        for (String name : List.of("NettyServerHandler", "NettyServerStream")) {
            for (String prefix : List.of("", "io.grpc.netty.shaded.")) {
                assertThat(Logger.getLogger(prefix + "io.grpc.netty." + name).getFilter())
                        .isInstanceOf(GrpcTransportLog.class);
            }
        }
    }
}
