package io.github.iree4j.sample;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.SpringBootTest.WebEnvironment;
import org.springframework.boot.test.web.server.LocalManagementPort;
import org.springframework.core.env.Environment;
import org.springframework.test.context.ActiveProfiles;

/** The meters watched by operators of a service open to strangers exist in its profile. */
@SpringBootTest(
        webEnvironment = WebEnvironment.RANDOM_PORT,
        properties = {"server.address=127.0.0.1", "management.server.port=0"})
@ActiveProfiles("production")
@Timeout(120)
class ProductionMetersTests {

    @LocalManagementPort
    private int port;

    @Autowired
    private Environment environment;

    @Test
    void bodiesAnswersAndRefusalsAreMetered() throws Exception {
        String meters = HttpClient.newHttpClient()
                .send(
                        HttpRequest.newBuilder(URI.create("http://localhost:" + port + "/actuator/prometheus"))
                                .build(),
                        BodyHandlers.ofString())
                .body();
        assertThat(meters)
                .contains(
                        "iree_requests_memory_bytes{",
                        "iree_requests_awaited_bodies ",
                        "iree_requests_unread_answers ",
                        "iree_requests_refused_requests_total{");
    }

    /** A JVM with a Tomcat begun without this property never has Tomcat's meters: needed by HostileClientsTests. */
    @Test
    void tomcatMetersItsConnections() {
        assertThat(environment.getProperty("server.tomcat.mbeanregistry.enabled", Boolean.class))
                .isTrue();
    }
}
