package io.github.iree4j.spring.serving;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.github.iree4j.spring.ProgramSource;
import io.github.iree4j.spring.Programs;
import io.grpc.Status;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.SpringBootTest.WebEnvironment;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.boot.test.web.server.LocalServerPort;
import org.springframework.context.annotation.Configuration;
import org.springframework.grpc.server.lifecycle.GrpcServerLifecycle;

/** Requests for lazy models with failing loads. */
@SpringBootTest(
        classes = BrokenModelsTests.Application.class,
        webEnvironment = WebEnvironment.RANDOM_PORT,
        properties = {
            "spring.grpc.server.enabled=true",
            "spring.grpc.server.port=0",
            "iree.serving.enabled=true",
            "iree.serving.max-wait=5m",
        })
@ExtendWith(OutputCaptureExtension.class)
@Timeout(120)
class BrokenModelsTests {

    @TempDir
    private static Path directory;

    @LocalServerPort
    private int port;

    @Autowired
    private GrpcServerLifecycle grpc;

    @Autowired
    private Programs programs;

    private final HttpClient http = HttpClient.newHttpClient();

    private String overHttp(String model) throws Exception {
        HttpResponse<String> response = http.send(
                HttpRequest.newBuilder(URI.create("http://localhost:" + port + "/v2/models/" + model + "/infer"))
                        .POST(BodyPublishers.ofString("{\"inputs\": []}"))
                        .build(),
                BodyHandlers.ofString());
        assertThat(response.statusCode()).as(response.body()).isEqualTo(503);
        return response.body();
    }

    private String overGrpc(String model) throws Exception {
        GrpcClient client = new GrpcClient(grpc.getPort());
        try {
            Status status = client.inference(model).refused();
            assertThat(status.getCode()).as(status.toString()).isEqualTo(Status.Code.FAILED_PRECONDITION);
            return String.valueOf(status.getDescription());
        } finally {
            client.close();
        }
    }

    /** Calls two models of the same file, for a first caller over each transport. */
    private void assertAllCallersLearnTheSame(String name, Path file, String reason, CapturedOutput output)
            throws Exception {
        for (boolean isHttpFirst : new boolean[] {true, false}) {
            String model = name + (isHttpFirst ? "-http" : "-grpc");
            programs.define(ProgramSource.of(model, file.toUri().toString()));
            String text = "program '%s' could not be loaded; the server's log has the reason".formatted(model);
            for (int i = 0; i < 2; i++) {
                if (isHttpFirst) {
                    assertThat(overHttp(model)).isEqualTo("{\"error\":\"%s\"}", text);
                }
                assertThat(overGrpc(model)).isEqualTo(text);
                assertThat(overHttp(model)).isEqualTo("{\"error\":\"%s\"}", text);
            }
            assertThat(output.getAll().lines().filter(line -> line.contains("program " + model + ":1 failed: ")))
                    .singleElement()
                    .asString()
                    .contains("WARN", file.toString(), reason);
        }
    }

    @Test
    void allCallersOfAModelInAPipeLearnTheSame(CapturedOutput output) throws Exception {
        Path pipe = directory.resolve("pipe");
        Process process = new ProcessBuilder("mkfifo", pipe.toString()).start();
        assumeTrue(process.waitFor() == 0, "no mkfifo");
        assertAllCallersLearnTheSame("piped", pipe, "must be a regular file", output);
    }

    @Test
    void allCallersOfADamagedModelLearnTheSame(CapturedOutput output) throws Exception {
        Path damaged = Files.writeString(directory.resolve("damaged.vmfb"), "not a module");
        assertAllCallersLearnTheSame("damaged", damaged, "could not be loaded from", output);
    }

    @Test
    void allCallersOfAModelWithoutAFileLearnTheSame(CapturedOutput output) throws Exception {
        assertAllCallersLearnTheSame("absent", directory.resolve("absent.vmfb"), "could not be loaded from", output);
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Application {}
}
