package io.github.iree4j.spring.batching;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.spring.Poll;
import io.github.iree4j.spring.Programs;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.web.server.LocalServerPort;
import org.springframework.test.context.TestPropertySource;

/** The same over WebFlux and Netty, and the abilities of these only. */
@TestPropertySource(
        properties = {
            "spring.main.web-application-type=reactive",
            "spring.autoconfigure.exclude=org.springframework.boot.tomcat.autoconfigure.reactive.TomcatReactiveWebServerAutoConfiguration"
        })
class BatchingOverReactiveHttpTests extends BatchingOverHttpTests {

    @Test
    void disconnectingCancelsTheCall(
            @LocalServerPort int port,
            @Autowired Application application,
            @Autowired ManualTimer timer,
            @Autowired Programs programs)
            throws Exception {
        String body = "{\"inputs\": [{\"name\": \"x\", \"shape\": [1, 2], \"datatype\": \"FP32\", \"data\": [1, 2]}]}";
        try (Socket socket = new Socket("localhost", port)) {
            socket.getOutputStream()
                    .write("POST /v2/models/rows/infer HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n%s"
                            .formatted(body.length(), body)
                            .getBytes(StandardCharsets.US_ASCII));
            application.awaitArrivals(1);
            timer.advance(10_000_000);
            application.entered.await();
            assertThat(programs.activeCalls()).isEqualTo(1);
        }
        while (programs.activeCalls() > 0) { // the gate is closed: only cancellation ends the stream
            Poll.pause();
        }
        assertThat(application.gate.getCount()).isEqualTo(1);
    }
}
