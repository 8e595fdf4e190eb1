package io.github.iree4j.spring.serving;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.spring.TestModules;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.SpringBootTest.WebEnvironment;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.boot.test.web.server.LocalServerPort;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * Requests of unserved extensions, with unknown methods of a path, and with unsupported media types, where the
 * application asks for problem details.
 */
@SpringBootTest(
        classes = UnservedPathsTests.Application.class,
        webEnvironment = WebEnvironment.RANDOM_PORT,
        properties = {
            "iree.serving.enabled=true",
            "spring.mvc.problemdetails.enabled=true",
            "spring.webflux.problemdetails.enabled=true"
        })
@ExtendWith(OutputCaptureExtension.class)
@Timeout(300)
class UnservedPathsTests {

    @LocalServerPort
    private int port;

    private final HttpClient http = HttpClient.newHttpClient();

    @DynamicPropertySource
    static void modules(DynamicPropertyRegistry registry) {
        registry.add(
                "iree.modules.add.location",
                () -> TestModules.fixture("3.11.0/cpu/add.vmfb").toString());
    }

    private HttpResponse<String> send(String method, String path) throws Exception {
        return http.send(
                HttpRequest.newBuilder(URI.create("http://localhost:" + port + path))
                        .method(method, BodyPublishers.noBody())
                        .build(),
                BodyHandlers.ofString());
    }

    private static String error(HttpResponse<String> response) {
        assertThat(response.headers().firstValue("Content-Type"))
                .as(response.body())
                .hasValue("application/json");
        JsonNode json = JsonMapper.shared().readTree(response.body());
        assertThat(json.propertyNames()).containsExactly("error");
        return json.required("error").stringValue();
    }

    @ParameterizedTest
    @CsvSource({
        "GET,  /v2/models/add/stats",
        "GET,  /v2/models/add/versions/1/trace/setting",
        "GET,  /v2/models",
        "GET,  /v2/health/well",
        "POST, /v2/systemsharedmemory/region/x/register",
        "GET,  /v2/cudasharedmemory/status",
        "GET,  /v2/trace/setting",
        "POST, /v2/logging",
        "GET,  /v2/nosuch",
        "POST, /v2/nosuch/either",
        "BREW, /v2/models/add/stats",
    })
    void unservedExtensionsAreNotFound(String method, String path) throws Exception {
        HttpResponse<String> response = send(method, path);
        assertThat(response.statusCode()).isEqualTo(404);
        assertThat(error(response))
                .startsWith("there is no '" + method + " " + path + "'")
                .contains("binary_tensor_data");
    }

    @ParameterizedTest
    @ValueSource(strings = {"/v2/repository/index", "/v2/repository/models/add/unload"})
    void unservedRepositoryIsNotFoundWithTheProperty(String path) throws Exception {
        HttpResponse<String> response = send("POST", path);
        assertThat(response.statusCode()).isEqualTo(404);
        assertThat(error(response)).contains("iree.serving.repository=true");
    }

    @ParameterizedTest
    @CsvSource({
        "POST,   /v2,                            GET",
        "PUT,    /v2/models/add,                 GET",
        "DELETE, /v2/models/add/versions/1,      GET",
        "POST,   /v2/health/ready,               GET",
        "GET,    /v2/models/add/infer,           POST",
        "PUT,    /v2/models/add/generate_stream, POST",
        "BREW,   /v2,                            GET",
        "BREW,   /v2/models/add,                 GET",
        "BREW,   /v2/models/add/infer,           POST",
    })
    void unknownMethodsOfAPathAreNotAllowed(String method, String path, String allowed, CapturedOutput output)
            throws Exception {
        HttpResponse<String> response = send(method, path);
        assertThat(response.statusCode()).isEqualTo(405);
        assertThat(response.headers().firstValue("Allow")).hasValue(allowed);
        assertThat(error(response)).contains(method).contains(allowed);
        assertThat(output.getAll()).doesNotContain("WARN");
    }

    @ParameterizedTest
    @CsvSource({
        "image/png, /v2",
        "image/png, /v2/health/live",
        "image/png, /v2/health/ready",
        "image/png, /v2/models/add",
        "image/png, /v2/models/add/config",
        "image/png, /v2/models/add/ready",
    })
    void answersNotAcceptedByAClientAreRefused(String accepted, String path) throws Exception {
        HttpResponse<String> response = http.send(
                HttpRequest.newBuilder(URI.create("http://localhost:" + port + path))
                        .header("Accept", accepted)
                        .build(),
                BodyHandlers.ofString());
        assertThat(response.statusCode()).isEqualTo(406);
        assertThat(error(response)).isNotEmpty();
    }

    @ParameterizedTest
    @CsvSource({
        "application/x-www-form-urlencoded, /v2/models/add/infer",
        "multipart/form-data; boundary=x,   /v2/models/add/infer",
        "application/x-www-form-urlencoded, /v2/models/none/generate",
    })
    void formsAreNotSupported(String type, String path) throws Exception {
        HttpResponse<String> response = http.send(
                HttpRequest.newBuilder(URI.create("http://localhost:" + port + path))
                        .header("Content-Type", type)
                        .POST(BodyPublishers.ofString("what=tea"))
                        .build(),
                BodyHandlers.ofString());
        assertThat(response.statusCode()).isEqualTo(415);
        assertThat(error(response)).startsWith("forms and multipart bodies are not supported");
    }

    @Test
    void pathsOfTheApplicationAreItsOwn() throws Exception {
        assertThat(send("GET", "/v2/models/add/pedigree").body()).isEqualTo("of the application");
        assertThat(send("GET", "/v2/orders").body()).isEqualTo("an order");
        HttpResponse<String> response = send("PUT", "/v2/orders");
        assertThat(response.statusCode()).isEqualTo(405);
        assertThat(response.headers().firstValue("Content-Type")).hasValue("application/problem+json");
        assertThat(send("GET", "/nosuch").headers().firstValue("Content-Type")).hasValue("application/problem+json");
    }

    @ParameterizedTest
    @ValueSource(strings = {"/v2", "/v2/models/add", "/v2/health/live"})
    void servedPathsAreServedToHead(String path) throws Exception {
        assertThat(send("HEAD", path).statusCode()).isEqualTo(200);
    }

    @RestController
    static class Pedigrees {
        @GetMapping("/v2/models/add/pedigree")
        String pedigree() {
            return "of the application";
        }

        @GetMapping("/v2/orders")
        String orders() {
            return "an order";
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    @Import(Pedigrees.class)
    static class Application {}
}
