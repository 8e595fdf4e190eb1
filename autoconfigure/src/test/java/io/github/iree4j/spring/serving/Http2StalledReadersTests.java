package io.github.iree4j.spring.serving;

import io.github.iree4j.spring.TestModules;
import io.github.iree4j.spring.http.BodyLimits;
import java.io.IOException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.SpringBootTest.WebEnvironment;
import org.springframework.boot.test.web.server.LocalServerPort;
import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;

/** Over HTTP/2 on Tomcat, where a client may grant no window. */
@SpringBootTest(
        classes = ProtocolConformanceTests.Application.class,
        webEnvironment = WebEnvironment.RANDOM_PORT,
        properties = {"iree.serving.enabled=true", "iree.http.body-timeout=1s", "server.http2.enabled=true"})
@Timeout(120)
class Http2StalledReadersTests {

    @LocalServerPort
    private int port;

    @Autowired
    private BodyLimits limits;

    @DynamicPropertySource
    static void modules(DynamicPropertyRegistry registry) {
        registry.add(
                "iree.modules.values.location",
                () -> TestModules.fixture("3.11.0/cpu/add.vmfb").toString());
    }

    @Test
    void aStreamOfHttp2ThatStandsStillIsEnded() throws IOException {
        try (HalfCalls still = HalfCalls.withoutWindow(port)) {
            int stream = still.post("/v2/models/values.echo_ui8/infer", SlowReader.json(20_000));
            while (limits.unreadAnswers() == 0) {
                Thread.onSpinWait();
            }
            still.awaitEnd(stream);
            while (limits.inFlight() > 0) {
                Thread.onSpinWait();
            }
        }
    }
}
