package io.github.iree4j.spring.serving;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.spring.Poll;
import io.github.iree4j.spring.TestModules;
import io.github.iree4j.spring.http.BodyLimits;
import java.io.IOException;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.SpringBootTest.WebEnvironment;
import org.springframework.boot.test.web.server.LocalServerPort;
import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;

/** Clients that read nothing for longer than the server's patience are disconnected. */
@SpringBootTest(
        classes = ProtocolConformanceTests.Application.class,
        webEnvironment = WebEnvironment.RANDOM_PORT,
        properties = {
            "iree.serving.enabled=true",
            "iree.http.max-in-flight-size=160MB",
            "iree.http.body-timeout=3s", // more than the first request of a busy machine takes
            "server.tomcat.connection-timeout=1s",
        })
@Timeout(120)
class StalledReadersTests {

    private static final int BYTES = 4 << 20;

    @LocalServerPort
    int port;

    @Autowired
    BodyLimits limits;

    @DynamicPropertySource
    static void modules(DynamicPropertyRegistry registry) {
        registry.add(
                "iree.modules.values.location",
                () -> TestModules.fixture("3.11.0/cpu/add.vmfb").toString());
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void stalledClientsAreDisconnected(boolean binary) throws IOException {
        try (SlowReader still = SlowReader.ask(port, BYTES, binary)) {
            assertThat(still.line()).contains(" 200");
            while (limits.inFlight() > 0) {
                Poll.pause(); // the class's timeout fails what stays
            }
            try {
                assertThat(still.rest()).hasSizeLessThan(BYTES);
            } catch (IOException e) {
                assertThat(e).hasMessageContaining("reset");
            }
        }
    }
}
