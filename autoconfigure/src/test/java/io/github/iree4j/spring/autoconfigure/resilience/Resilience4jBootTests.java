package io.github.iree4j.spring.autoconfigure.resilience;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.github.iree4j.Results;
import io.github.iree4j.spring.InvocationService;
import io.github.iree4j.spring.TestModules;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.github.resilience4j.bulkhead.BulkheadRegistry;
import io.github.resilience4j.circuitbreaker.CircuitBreakerRegistry;
import io.github.resilience4j.retry.RetryRegistry;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;

/** With everything configured by {@code resilience4j-spring-boot4}, in an application. */
@Timeout(600)
@Tag("nightly")
class Resilience4jBootTests {

    @TempDir
    private Path directory;

    private ConfigurableApplicationContext start() throws IOException {
        List<String> arguments = List.of(
                "--server.port=0",
                "--spring.main.banner-mode=off",
                "--management.endpoints.web.exposure.include=*",
                "--management.endpoint.health.show-details=always",
                "--management.health.circuitbreakers.enabled=true",
                "--iree.modules.adder.location=" + TestModules.adder(directory),
                "--iree.modules.adder.resilience.circuit-breaker=true",
                "--iree.modules.adder.resilience.bulkhead=true",
                "--iree.modules.adder.resilience.retry=true",
                "--resilience4j.circuitbreaker.instances[iree.adder].minimum-number-of-calls=4",
                "--resilience4j.circuitbreaker.instances[iree.adder].sliding-window-size=4",
                "--resilience4j.circuitbreaker.instances[iree.adder].register-health-indicator=true",
                "--resilience4j.bulkhead.instances[iree.adder].max-concurrent-calls=7");
        return SpringApplication.run(Application.class, arguments.toArray(String[]::new));
    }

    private static String get(ConfigurableApplicationContext context, String path) throws Exception {
        URI uri = URI.create(
                "http://localhost:" + context.getEnvironment().getProperty("local.server.port") + "/actuator/" + path);
        try (HttpClient client = HttpClient.newHttpClient()) {
            return client.send(HttpRequest.newBuilder(uri).build(), BodyHandlers.ofString())
                    .body();
        }
    }

    @Test
    void breakerFollowsItsPropertiesAndIsExposed() throws Exception {
        try (ConfigurableApplicationContext context = start()) {
            InvocationService invocations = context.getBean(InvocationService.class);
            try (Results results = invocations.invoke("adder.add", 1, 2)) {
                assertThat(results.intValue(0)).isEqualTo(3);
            }
            assertThat(get(context, "circuitbreakers"))
                    .contains("\"iree.adder\"")
                    .contains("\"state\":\"CLOSED\"");
            for (int i = 0; i < 3; i++) {
                assertThatExceptionOfType(IreeException.class)
                        .isThrownBy(() -> invocations.invoke("adder.refuse"))
                        .withMessageContaining("not today");
            }
            assertThatExceptionOfType(IreeException.class)
                    .isThrownBy(() -> invocations.invoke("adder.add", 1, 2))
                    .withMessageContaining("'iree.adder' is OPEN")
                    .extracting(IreeException::code)
                    .isEqualTo(StatusCode.UNAVAILABLE);
            assertThat(get(context, "circuitbreakers")).contains("\"state\":\"OPEN\"");
            assertThat(get(context, "circuitbreakerevents/iree.adder"))
                    .contains("\"type\":\"SUCCESS\"")
                    .contains("\"type\":\"ERROR\"")
                    .contains("\"type\":\"STATE_TRANSITION\"")
                    .contains("\"type\":\"NOT_PERMITTED\"");
            assertThat(get(context, "metrics/resilience4j.circuitbreaker.calls?tag=name:iree.adder&tag=kind:failed"))
                    .contains("\"value\":3.0");
            assertThat(get(context, "metrics/resilience4j.circuitbreaker.state?tag=name:iree.adder&tag=state:open"))
                    .contains("\"value\":1.0");
            assertThat(get(context, "health")).contains("\"iree.adder\"");
        }
    }

    @Test
    void otherInstancesAreRegisteredUnderTheProgramsName() throws Exception {
        try (ConfigurableApplicationContext context = start()) {
            assertThat(context.getBean(CircuitBreakerRegistry.class).find("iree.adder"))
                    .isPresent();
            assertThat(context.getBean(RetryRegistry.class).find("iree.adder")).isPresent();
            assertThat(context.getBean(BulkheadRegistry.class)
                            .bulkhead("iree.adder")
                            .getBulkheadConfig()
                            .getMaxConcurrentCalls())
                    .isEqualTo(7);
            assertThat(get(context, "bulkheads")).contains("iree.adder");
            assertThat(get(context, "retries")).contains("iree.adder");
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Application {}
}
