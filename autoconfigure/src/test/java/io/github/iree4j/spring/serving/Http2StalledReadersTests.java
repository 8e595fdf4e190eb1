package io.github.iree4j.spring.serving;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.spring.Poll;
import io.github.iree4j.spring.http.RequestCounts.Reason;
import java.io.IOException;
import org.junit.jupiter.api.Test;
import org.springframework.test.context.TestPropertySource;

/** The same where clients may choose HTTP/2, on Tomcat. */
@TestPropertySource(properties = "server.http2.enabled=true")
class Http2StalledReadersTests extends StalledReadersTests {

    /** Tomcat itself would end the stream after 20 s, and count nothing. */
    @Test
    void aStreamOfAClientWithoutAWindowIsEndedAndCounted() throws IOException {
        long before = limits.counts().refused(Reason.UNREAD);
        try (HalfCalls still = HalfCalls.withoutWindow(port)) {
            int stream = still.post("/v2/models/values.echo_ui8/infer", SlowReader.json(20_000));
            while (limits.unreadAnswers() == 0) {
                Poll.pause(); // the class's timeout fails what stays
            }
            still.awaitEnd(stream);
            while (limits.inFlight() > 0) {
                Poll.pause();
            }
        }
        assertThat(limits.counts().refused(Reason.UNREAD)).isEqualTo(before + 1);
    }
}
