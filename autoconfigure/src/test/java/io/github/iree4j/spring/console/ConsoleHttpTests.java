package io.github.iree4j.spring.console;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;

/** The console over HTTP, on both web stacks. */
@Timeout(900)
class ConsoleHttpTests {

    private static ConfigurableApplicationContext start(String stack, String... arguments) {
        List<String> all = new ArrayList<>(
                List.of(
                        "--spring.main.web-application-type=" + stack,
                        "--server.port=0",
                        "--spring.main.banner-mode=off",
                        // Both servers are on the class path of these tests.
                        "--spring.autoconfigure.exclude=org.springframework.boot.tomcat.autoconfigure.reactive.TomcatReactiveWebServerAutoConfiguration,"
                                + "org.springframework.boot.tomcat.autoconfigure.actuate.web.server.TomcatReactiveManagementContextAutoConfiguration"));
        all.addAll(List.of(arguments));
        return new SpringApplicationBuilder(Application.class).run(all.toArray(String[]::new));
    }

    private static HttpResponse<String> send(
            ConfigurableApplicationContext context, String port, String method, String path, String... headers)
            throws Exception {
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(
                        "http://localhost:" + context.getEnvironment().getProperty(port) + path))
                .method(method, BodyPublishers.noBody());
        if (headers.length > 0) {
            request.headers(headers);
        }
        try (HttpClient client = HttpClient.newHttpClient()) {
            return client.send(request.build(), BodyHandlers.ofString());
        }
    }

    private static HttpResponse<String> get(ConfigurableApplicationContext context, String path, String... headers)
            throws Exception {
        return send(context, "local.server.port", "GET", path, headers);
    }

    @ParameterizedTest
    @ValueSource(strings = {"servlet", "reactive"})
    void servesItsFilesAndNothingElse(String stack) throws Exception {
        try (ConfigurableApplicationContext context = start(stack, "--iree.console.enabled=true")) {
            HttpResponse<String> page = get(context, "/iree/");
            assertThat(page.statusCode()).isEqualTo(200);
            assertThat(page.headers().firstValue("Content-Type").orElseThrow())
                    .isEqualToIgnoringCase("text/html;charset=UTF-8");
            assertThat(page.body()).contains("<title>Console");
            assertThat(get(context, "/iree/model/schedule.js").headers().firstValue("Content-Type"))
                    .hasValueSatisfying(type -> assertThat(type).startsWith("text/javascript"));
            for (String other : new String[] {
                "/iree/no.js",
                "/iree/..%2f..%2fapplication.properties",
                "/iree/%2e%2e/%2e%2e/spring.factories",
                "/iree/model",
                "/iree/../META-INF/spring.factories",
                "/META-INF/iree-console/index.html"
            }) {
                assertThat(get(context, other).statusCode()).as(other).isBetween(400, 404);
            }
            assertThat(send(context, "local.server.port", "POST", "/iree/").statusCode())
                    .isEqualTo(405);
            assertThat(send(context, "local.server.port", "HEAD", "/iree/").statusCode())
                    .isEqualTo(200);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"servlet", "reactive"})
    void sendsSecurityHeadersWithEveryAnswer(String stack) throws Exception {
        try (ConfigurableApplicationContext context = start(stack, "--iree.console.enabled=true")) {
            for (String path : new String[] {"/iree", "/iree/", "/iree/main.js", "/iree/console.json", "/iree/none"}) {
                HttpResponse<String> answer = get(context, path);
                assertThat(answer.headers().firstValue("Content-Security-Policy"))
                        .as(path)
                        .hasValueSatisfying(policy -> assertThat(policy)
                                .contains("default-src 'none'", "script-src 'self'", "frame-ancestors 'none'")
                                .doesNotContain("unsafe"));
                assertThat(answer.headers().firstValue("X-Content-Type-Options"))
                        .hasValue("nosniff");
                assertThat(answer.headers().firstValue("X-Frame-Options")).hasValue("DENY");
                assertThat(answer.headers().firstValue("Referrer-Policy")).hasValue("no-referrer");
            }
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"servlet", "reactive"})
    void redirectsToTheFolderWithARelativeLocation(String stack) throws Exception {
        try (ConfigurableApplicationContext context =
                start(stack, "--iree.console.enabled=true", "--iree.console.path=/ops/iree.console")) {
            HttpResponse<String> answer = get(context, "/ops/iree.console");
            assertThat(answer.statusCode()).isEqualTo(302);
            assertThat(answer.headers().firstValue("Location")).hasValue("iree.console/");
            assertThat(get(context, "/ops/iree.console?view=live&program=a%0Ab")
                            .headers()
                            .firstValue("Location"))
                    .hasValue("iree.console/?view=live&program=a%0Ab");
            assertThat(get(context, "/ops/iree.console/").statusCode()).isEqualTo(200);
            assertThat(get(context, "/ops/iree.console/console.json").body()).contains("\"problem\":null");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"servlet", "reactive"})
    void unchangedFilesAreNotSentAgain(String stack) throws Exception {
        try (ConfigurableApplicationContext context = start(stack, "--iree.console.enabled=true")) {
            String tag =
                    get(context, "/iree/main.js").headers().firstValue("ETag").orElseThrow();
            HttpResponse<String> again = get(context, "/iree/main.js", "If-None-Match", tag);
            assertThat(again.statusCode()).isEqualTo(304);
            assertThat(again.body()).isEmpty();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"servlet", "reactive"})
    void namesTheEndpointsExposedByTheUser(String stack) throws Exception {
        try (ConfigurableApplicationContext context = start(stack, "--iree.console.enabled=true")) {
            assertThat(get(context, "/iree/console.json").body()).isEqualTo("{\"endpoints\":{},\"problem\":null}");
        }
        try (ConfigurableApplicationContext context = start(
                stack,
                "--iree.console.enabled=true",
                "--iree.console.path=/ops/console",
                "--management.endpoints.web.exposure.include=iree",
                "--management.endpoints.web.base-path=/manage",
                "--management.endpoints.web.path-mapping.iree=runtime")) {
            assertThat(get(context, "/ops/console/console.json").body())
                    .isEqualTo("{\"endpoints\":{\"iree\":\"%smanage/runtime\"},\"problem\":null}"
                            .formatted("../".repeat(2)));
            assertThat(get(context, "/manage/runtime/live").statusCode()).isEqualTo(200);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"servlet", "reactive"})
    void followsActuatorToItsOwnPort(String stack) throws Exception {
        try (ConfigurableApplicationContext context = start(
                stack,
                "--iree.console.enabled=true",
                "--management.server.port=0",
                "--management.endpoints.web.exposure.include=iree")) {
            assertThat(get(context, "/iree/").statusCode()).isEqualTo(404);
            assertThat(send(context, "local.management.port", "GET", "/iree/").body())
                    .contains("<title>Console");
            assertThat(send(context, "local.management.port", "GET", "/iree/console.json")
                            .body())
                    .contains("\"../actuator/iree\"");
            assertThat(send(context, "local.management.port", "GET", "/actuator/iree/live")
                            .statusCode())
                    .isEqualTo(200);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"servlet", "reactive"})
    void servesNothingUnlessEnabled(String stack) throws Exception {
        try (ConfigurableApplicationContext context = start(stack, "--management.endpoints.web.exposure.include=*")) {
            assertThat(get(context, "/iree/").statusCode()).isEqualTo(404);
            assertThat(get(context, "/actuator/ireelab").statusCode()).isEqualTo(404);
        }
    }

    @Test
    void refusesInvalidPaths() {
        for (String path : new String[] {"", "/", "iree", "/iree/", "/a//b", "/a b", "/**", "/{x}"}) {
            assertThatThrownBy(() -> start("servlet", "--iree.console.enabled=true", "--iree.console.path=" + path)
                            .close())
                    .as(path)
                    .hasStackTraceContaining("iree.console.path");
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Application {}
}
