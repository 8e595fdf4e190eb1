package io.github.iree4j.spring.serving;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.spring.InvocationService;
import java.io.IOException;
import java.io.InputStream;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.SpringBootTest.WebEnvironment;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;

/** Over Spring MVC and Tomcat, where nothing reads the connection of a waiting thread. */
@SpringBootTest(classes = DisconnectedCallsTests.Application.class, webEnvironment = WebEnvironment.RANDOM_PORT)
class DisconnectedCallsTests extends DisconnectedCallsContract {

    @Test
    void aCallOfTheApplicationsOwnControllerEndsWithTheConnectionOfItsClient() throws IOException {
        try (Socket _ = send("/own", "Content-Length: 0", "")) {
            awaitCalls(1);
        }
        awaitCalls(0);
    }

    /** The first call runs while looks find the second request, with a beginning that may have come with the first. */
    @ParameterizedTest
    @CsvSource({"false,0", "false,1", "false,30", "false,1000", "true,0", "true,1", "true,30", "true,1000"})
    void aClientSendingItsNextRequestEarlyIsStillThereAndServed(boolean chunked, int early) throws IOException {
        String body = "{\"inputs\": [], \"parameters\": {\"timeout\": 2500000}}";
        String next = "GET /v2/health/live HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
        int cut = Math.min(early, next.length());
        String first = chunked ? "%x\r\n%s\r\n0\r\n\r\n".formatted(body.length(), body) : body;
        String headers = chunked ? "Transfer-Encoding: chunked" : "Content-Length: " + body.length();
        try (Socket socket = send("/v2/models/spinning/infer", headers, first + next.substring(0, cut))) {
            awaitCalls(1);
            socket.getOutputStream().write(next.substring(cut).getBytes(StandardCharsets.US_ASCII));
            assertThat(new String(socket.getInputStream().readAllBytes(), StandardCharsets.US_ASCII))
                    .startsWith("HTTP/1.1 504")
                    .contains("HTTP/1.1 200")
                    .contains("\"live\":true");
        }
        awaitCalls(0);
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Application {
        @Bean
        Own own(InvocationService invocations) {
            return new Own(invocations);
        }
    }

    @RestController
    static class Own {
        private final InvocationService invocations;

        Own(InvocationService invocations) {
            this.invocations = invocations;
        }

        @PostMapping("/own")
        void call(InputStream body) throws IOException {
            body.readAllBytes();
            invocations.invoke("spinning.spin").close();
        }
    }
}
