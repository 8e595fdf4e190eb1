package io.github.iree4j.spring.serving;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.IreeRuntime;
import io.github.iree4j.spring.Poll;
import io.github.iree4j.spring.ProgramState;
import io.github.iree4j.spring.Programs;
import io.github.iree4j.spring.TestModules;
import io.github.iree4j.spring.problems.Watchdog;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.availability.AvailabilityChangeEvent;
import org.springframework.boot.availability.ReadinessState;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.grpc.server.lifecycle.GrpcServerLifecycle;

/** Readiness is the same over Actuator, the protocol over HTTP, and gRPC. */
@Timeout(120)
class ReadinessTests {

    private static final String WEIGHING = "weighing";

    @TempDir
    Path directory;

    private final HttpClient http = HttpClient.newHttpClient();
    private ConfigurableApplicationContext context;
    private GrpcClient grpc;
    private Path weights;
    private String url;

    private void start(WebApplicationType web, String... arguments) throws IOException {
        weights = Files.copy(TestModules.fixture("weights.irpa"), directory.resolve("weights.irpa"));
        context = new SpringApplicationBuilder(Application.class)
                .web(web)
                .properties(
                        "server.port=0",
                        "spring.main.banner-mode=off",
                        "management.endpoint.health.probes.enabled=true",
                        "management.endpoint.health.probes.add-additional-paths=true",
                        "spring.grpc.server.port=0",
                        "iree.serving.enabled=true",
                        "iree.watchdog.interval=1h",
                        "iree.modules.weighing.location=" + TestModules.fixture("3.13.0/cpu/weights.vmfb"),
                        "iree.modules.weighing.parameters.model=" + weights,
                        "iree.modules.broken.load=lazy",
                        "iree.modules.broken.location=" + directory.resolve("broken.vmfb"))
                .run(concat("--spring.grpc.server.enabled=true", arguments));
        url = "http://localhost:" + context.getEnvironment().getProperty("local.server.port");
        grpc = new GrpcClient(context.getBean(GrpcServerLifecycle.class).getPort());
    }

    private static String[] concat(String first, String... rest) {
        String[] all = new String[rest.length + 1];
        all[0] = first;
        System.arraycopy(rest, 0, all, 1, rest.length);
        return all;
    }

    @AfterEach
    void stop() throws Exception {
        grpc.close();
        context.close();
    }

    private HttpResponse<String> get(String path) throws Exception {
        return http.send(HttpRequest.newBuilder(URI.create(url + path)).build(), BodyHandlers.ofString());
    }

    private void assertReady(boolean ready) throws Exception {
        int status = ready ? 200 : 503;
        assertThat(get("/readyz").statusCode()).as("Actuator").isEqualTo(status);
        HttpResponse<String> protocol = get("/v2/health/ready");
        assertThat(protocol.statusCode()).as(protocol.body()).isEqualTo(status);
        assertThat(protocol.body()).isEqualTo("{\"ready\":%s,\"live\":true}", ready);
        assertThat(GrpcClient.get(grpc.ask("ServerReady"), "ready")).as("gRPC").isEqualTo(ready);
    }

    private void assertModelReady(String model, boolean ready) throws Exception {
        HttpResponse<String> protocol = get("/v2/models/" + model + "/ready");
        assertThat(protocol.statusCode()).as(protocol.body()).isEqualTo(ready ? 200 : 503);
        assertThat(GrpcClient.get(grpc.ask("ModelReady", "name", model), "ready"))
                .as("gRPC")
                .isEqualTo(ready);
    }

    @ParameterizedTest
    @EnumSource(names = {"SERVLET", "REACTIVE"})
    void changedFileEndsReadinessUntilTheProgramIsLoadedAgain(WebApplicationType web) throws Exception {
        start(web);
        Watchdog watchdog = context.getBean(Watchdog.class);
        watchdog.look();
        assertReady(true);
        assertModelReady(WEIGHING, true);
        Files.write(weights, new byte[1], StandardOpenOption.APPEND);
        watchdog.look();
        assertReady(false);
        assertModelReady(WEIGHING, false);
        context.getBean(Programs.class).load(WEIGHING, null);
        watchdog.look();
        assertReady(true);
        assertModelReady(WEIGHING, true);
    }

    @Test
    void noCallerEndsReadinessByARequestForABrokenLazyModel() throws Exception {
        start(WebApplicationType.SERVLET);
        assertThat(get("/v2/models/broken").statusCode()).isEqualTo(503);
        assertThat(context.getBean(Programs.class).versions("broken").getFirst().state())
                .isEqualTo(ProgramState.FAILED);
        assertReady(true);
        assertModelReady("broken", false);
        assertModelReady(WEIGHING, true);
    }

    @Test
    void programUnloadableInTheBackgroundKeepsTheApplicationFromReadiness() throws Exception {
        start(WebApplicationType.SERVLET, "--iree.modules.broken.load=background");
        Programs programs = context.getBean(Programs.class);
        while (programs.versions("broken").getFirst().state() != ProgramState.FAILED) {
            Poll.pause();
        }
        assertReady(false);
        assertModelReady("broken", false);
        Files.copy(TestModules.counter(directory), directory.resolve("broken.vmfb"));
        programs.load("broken", null);
        assertReady(true);
        assertModelReady("broken", true);
    }

    /** Every call would fail, and only a restart brings a device of this machine back. */
    @Test
    void lossOfTheLastDeviceEndsReadiness() throws Exception {
        start(WebApplicationType.SERVLET);
        context.getBean(IreeRuntime.class).device().close();
        context.getBean(Watchdog.class).look();
        assertReady(false);
        assertModelReady(WEIGHING, false);
    }

    @Test
    void drainByTheApplicationEndsReadiness() throws Exception {
        start(WebApplicationType.SERVLET);
        AvailabilityChangeEvent.publish(context, ReadinessState.REFUSING_TRAFFIC);
        assertReady(false);
        assertModelReady(WEIGHING, true);
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Application {}
}
