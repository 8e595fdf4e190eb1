package io.github.iree4j.spring.serving;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.Program;
import io.github.iree4j.monitor.PendingCall;
import io.github.iree4j.spring.Poll;
import io.github.iree4j.spring.Programs;
import io.github.iree4j.spring.TestModules;
import io.grpc.Status;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.grpc.server.lifecycle.GrpcServerLifecycle;

/** The texts for clients with calls ended early: an endless loop, with a kernel in each round. */
@Timeout(300)
class DrainedCallsTests {

    private static final String CANCELLED = "call [0-9]+ of 'loop.grow' was cancelled";
    private static final String BY_AN_OPERATOR = CANCELLED + " by an operator";
    private static final String BY_THE_STOP = CANCELLED + ": the application stops";

    private final HttpClient http = HttpClient.newHttpClient();

    private static ConfigurableApplicationContext start(WebApplicationType web) {
        return new SpringApplicationBuilder(Application.class)
                .web(web)
                .properties(
                        "server.port=0",
                        "spring.grpc.server.port=0",
                        "iree.serving.enabled=true",
                        "iree.invocation.drain-timeout=1ms",
                        "iree.modules.loop.location=" + TestModules.fixture("3.13.0/cpu/host_while.vmfb"))
                .run("--spring.grpc.server.enabled=true");
    }

    private CompletableFuture<HttpResponse<String>> overHttp(ConfigurableApplicationContext context) {
        String url = "http://localhost:" + context.getEnvironment().getProperty("local.server.port")
                + "/v2/models/loop/infer";
        return http.sendAsync(
                HttpRequest.newBuilder(URI.create(url))
                        .POST(BodyPublishers.ofString("""
                                {"inputs": [{"name": "input0", "datatype": "FP32", "shape": [4], "data": [0, 0, 0, 0]}]}"""))
                        .build(),
                BodyHandlers.ofString());
    }

    private static void awaitCalls(ConfigurableApplicationContext context, int number) {
        Program program =
                context.getBean(Programs.class).find("loop").orElseThrow().program();
        while (program.monitor().pendingCalls(10).size() != number) {
            Poll.pause();
        }
    }

    /** Calls over both transports at once, and ends the calls. */
    private void assertTexts(ConfigurableApplicationContext context, String text, Runnable end) throws Exception {
        GrpcClient client =
                new GrpcClient(context.getBean(GrpcServerLifecycle.class).getPort());
        try {
            awaitCalls(context, 0); // cancelled calls stay listed for a moment after their answers
            CompletableFuture<HttpResponse<String>> answer = overHttp(context);
            CompletableFuture<Status> status = CompletableFuture.supplyAsync(() -> client.inference("loop")
                    .typed("input0", "FP32", List.of(4L), "fp32_contents", List.of(0f, 0f, 0f, 0f))
                    .refused());
            awaitCalls(context, 2);
            end.run();
            HttpResponse<String> response = answer.get(1, TimeUnit.MINUTES);
            assertThat(response.statusCode()).as(response.body()).isEqualTo(503);
            assertThat(response.body()).matches("\\{\"error\":\"" + text + "\"}");
            Status refused = status.get(1, TimeUnit.MINUTES);
            assertThat(refused.getCode()).isEqualTo(Status.Code.CANCELLED);
            assertThat(refused.getDescription()).matches(text);
        } finally {
            client.close();
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"SERVLET", "REACTIVE"})
    void clientsAtTheDrainLimitLearnTheSameAsClientsCancelledByAnOperator(WebApplicationType web) throws Exception {
        try (ConfigurableApplicationContext context = start(web)) {
            Programs programs = context.getBean(Programs.class);
            assertTexts(context, BY_AN_OPERATOR, () -> {
                Program program = programs.find("loop").orElseThrow().program();
                program.monitor().pendingCalls(10).stream().map(PendingCall::id).forEach(program.monitor()::cancelCall);
            });
            assertTexts(context, BY_AN_OPERATOR, () -> programs.unload("loop", null));
            programs.load("loop", null);
            assertTexts(context, BY_AN_OPERATOR, () -> programs.load("loop", null));
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"SERVLET", "REACTIVE"})
    void clientsOfAStoppingApplicationLearnOfTheStop(WebApplicationType web) throws Exception {
        try (ConfigurableApplicationContext context = start(web)) {
            assertTexts(context, BY_THE_STOP, context::close);
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Application {}
}
