package io.github.iree4j.spring.serving;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.IreeRuntime;
import io.github.iree4j.spring.IreeEvents;
import io.github.iree4j.spring.Programs;
import io.github.iree4j.spring.TestModules;
import io.github.iree4j.spring.actuate.endpoint.IreeEndpoint;
import io.github.iree4j.spring.actuate.endpoint.ModuleDescriptor;
import io.github.iree4j.spring.health.IreeHealthContributor;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.health.contributor.CompositeHealthContributor;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.boot.health.contributor.Status;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.SpringBootTest.WebEnvironment;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.boot.test.web.server.LocalServerPort;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;

/** Answers to clients and operators when a program is loaded again, from a damaged file or another program's file. */
@SpringBootTest(
        classes = ReloadTests.Application.class,
        webEnvironment = WebEnvironment.RANDOM_PORT,
        properties = {
            "iree.serving.enabled=true",
            "iree.serving.repository=true",
            "spring.mvc.problemdetails.enabled=true"
        })
@ExtendWith(OutputCaptureExtension.class)
@Timeout(300)
class ReloadTests {

    @TempDir
    private static Path directory;

    @LocalServerPort
    private int port;

    @Autowired
    private IreeRuntime runtime;

    @Autowired
    private Programs programs;

    @Autowired
    private IreeEvents events;

    private final HttpClient http = HttpClient.newHttpClient();
    private long seen;

    @DynamicPropertySource
    static void modules(DynamicPropertyRegistry registry) {
        registry.add("iree.modules.model.location", () -> {
            try {
                become(TestModules.adder(directory));
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
            return file().toUri().toString();
        });
    }

    private static Path file() {
        return directory.resolve("model.vmfb");
    }

    private static void become(Path other) throws IOException {
        Files.copy(other, file(), StandardCopyOption.REPLACE_EXISTING);
    }

    @BeforeEach
    void startFromTheAdder() throws Exception {
        become(TestModules.adder(directory));
        programs.unload("model", null);
        programs.load("model", null);
        programs.load("model", null); // for the second time, with nothing changed
        seen = newEvents().getLast().id();
    }

    private List<IreeEvents.Event> newEvents() {
        return events.since(seen, 1000);
    }

    private String post(String path, int status) throws Exception {
        HttpResponse<String> response = http.send(
                HttpRequest.newBuilder(URI.create("http://localhost:" + port + path))
                        .POST(BodyPublishers.noBody())
                        .build(),
                BodyHandlers.ofString());
        assertThat(response.statusCode()).as(response.body()).isEqualTo(status);
        return response.body();
    }

    private Health health() {
        CompositeHealthContributor modules = (CompositeHealthContributor)
                new IreeHealthContributor(runtime, programs, () -> null).getContributor("modules");
        return ((HealthIndicator) modules.getContributor("model")).health();
    }

    private ModuleDescriptor.Version endpoint() {
        return ((ModuleDescriptor) new IreeEndpoint(runtime, programs, events, List::of).one("modules", "model"))
                .versions()
                .getFirst();
    }

    @Test
    void whyLoadingFailedIsToldWithoutTheDirectory(CapturedOutput output) throws Exception {
        Files.writeString(file(), "not a module");
        for (String answer : List.of(
                post("/v2/repository/models/model/load", 503),
                post("/v2/repository/index", 200),
                post("/reload", 503))) {
            assertThat(answer)
                    .contains("program 'model' could not be loaded from 'model.vmfb': ")
                    .doesNotContain(directory.toString());
        }
        assertThat(newEvents())
                .extracting(IreeEvents.Event::type)
                .contains("program.reload-failed")
                .doesNotContain("program.ready");
        assertThat(output.getAll().lines().filter(line -> line.contains("not loaded again")))
                .isNotEmpty()
                .allMatch(line -> line.contains("WARN") && line.contains(directory.toString()));
        Health health = health();
        assertThat(health.getStatus()).isEqualTo(Status.UP);
        assertThat(health.getDetails()).containsEntry("degraded", true);
        assertThat(health.getDetails().get("loadingFailed"))
                .asString()
                .startsWith("version 1: program 'model' could not be loaded");
        become(TestModules.adder(directory));
        post("/v2/repository/models/model/load", 200);
        assertThat(newEvents().getLast().type()).isEqualTo("program.ready");
        assertThat(health().getDetails()).doesNotContainKeys("degraded", "loadingFailed", "changed");
    }

    @Test
    void anotherProgramUnderTheNameIsTold(CapturedOutput output) throws Exception {
        become(TestModules.twofold(directory));
        post("/v2/repository/models/model/load", 200);
        assertThat(newEvents()).extracting(IreeEvents.Event::type).endsWith("program.changed", "program.ready");
        List<String> changes = endpoint().changes();
        assertThat(changes)
                .contains("function 'add' is gone")
                .anyMatch(each -> each.startsWith("its module is 'twofold' and was "))
                .anyMatch(each -> each.endsWith(" is new"));
        assertThat(health().getDetails()).containsEntry("changed", changes);
        assertThat(output.getAll()
                        .lines()
                        .filter(line ->
                                line.contains("differs from the former program of this name: its module is 'twofold'")))
                .singleElement()
                .asString()
                .contains("WARN", "model:1", "function 'add' is gone");
        post("/v2/repository/models/model/load", 200);
        assertThat(endpoint().changes()).isEmpty();
        assertThat(newEvents())
                .extracting(IreeEvents.Event::type)
                .filteredOn("program.changed"::equals)
                .hasSize(1);
    }

    @Test
    void anotherProgramIsToldAfterAnUnloadToo() throws Exception {
        programs.unload("model", null);
        become(TestModules.twofold(directory));
        programs.load("model", null);
        assertThat(endpoint().changes()).contains("function 'add' is gone");
    }

    @RestController
    static class Operator {
        private final Programs programs;

        Operator(Programs programs) {
            this.programs = programs;
        }

        @PostMapping("/reload")
        void reload() {
            programs.load("model", null);
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    @Import(Operator.class)
    static class Application {}
}
