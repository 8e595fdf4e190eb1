package io.github.iree4j.spring.ai.openai;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.springframework.test.context.TestPropertySource;

/** Clients that read nothing of their streams. */
@TestPropertySource(properties = {"iree.http.body-timeout=1s", "server.tomcat.connection-timeout=2s"})
class SlowReadersTests extends OpenAiServer {

    /** Opens a connection that takes few bytes, and asks for some megabytes of events. */
    private Socket unread() throws IOException {
        Socket socket = new Socket();
        socket.setReceiveBufferSize(1 << 12);
        socket.connect(new InetSocketAddress("localhost", port));
        String body = with(HELLO, "\"stream\": true, \"n\": 32, \"max_tokens\": 4000");
        socket.getOutputStream()
                .write(
                        "POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s"
                                .formatted(CHAT, body.length(), body)
                                .getBytes(StandardCharsets.US_ASCII));
        return socket;
    }

    @Test
    void idleClientsGiveTheirPlacesBack() throws Exception {
        script.answer("x".repeat(4000));
        List<Socket> all = new ArrayList<>();
        try {
            for (int i = 0; i < 3; i++) {
                all.add(unread());
            }
            script.awaitRequests(3 * 32);
            long begun = System.nanoTime();
            assertThat(post(CHAT, with(HELLO, "\"max_tokens\": 1")).statusCode())
                    .isEqualTo(429);
            while (post(CHAT, with(HELLO, "\"max_tokens\": 1")).statusCode() == 429) {
                assertThat(System.nanoTime() - begun).isLessThan(TimeUnit.SECONDS.toNanos(60));
                LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(10));
            }
        } finally {
            for (Socket each : all) {
                each.close();
            }
        }
    }
}
