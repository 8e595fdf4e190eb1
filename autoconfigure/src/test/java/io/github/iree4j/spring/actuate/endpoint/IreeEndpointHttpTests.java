package io.github.iree4j.spring.actuate.endpoint;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.github.iree4j.IreeRuntime;
import io.github.iree4j.Results;
import io.github.iree4j.async.Fence;
import io.github.iree4j.async.Timeline;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.hal.local.HostDevice;
import io.github.iree4j.spring.DeviceLostEvent;
import io.github.iree4j.spring.InvocationService;
import io.github.iree4j.spring.Poll;
import io.github.iree4j.spring.Programs;
import io.github.iree4j.spring.TestModules;
import io.github.iree4j.spring.problems.ProblemEvent;
import io.github.iree4j.spring.problems.UnsignalledFence;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.ObjectMapper;

/** The endpoint, health, info and metrics over HTTP. */
@Timeout(900)
class IreeEndpointHttpTests {

    @TempDir
    static Path directory;

    private static ConfigurableApplicationContext start(String... arguments) throws IOException {
        String[] all = new String[arguments.length + 5];
        all[0] = "--server.port=0";
        all[1] = "--management.endpoints.web.exposure.include=*";
        all[2] = "--iree.modules.adding.location=" + TestModules.adder(directory);
        all[3] = "--management.endpoint.health.show-details=always";
        all[4] = "--spring.main.banner-mode=off";
        System.arraycopy(arguments, 0, all, 5, arguments.length);
        return SpringApplication.run(Application.class, all);
    }

    private static HttpResponse<String> send(ConfigurableApplicationContext context, String path, String body)
            throws Exception {
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create("http://localhost:"
                        + context.getEnvironment().getProperty("local.server.port") + "/actuator/" + path))
                .header("Content-Type", "application/json");
        if (body != null) {
            request.POST(BodyPublishers.ofString(body));
        }
        try (HttpClient client = HttpClient.newHttpClient()) {
            return client.send(request.build(), BodyHandlers.ofString());
        }
    }

    @Test
    void everySelectorAnswers() throws Exception {
        try (ConfigurableApplicationContext context = start("--iree.recorder.enabled=true")) {
            String root = send(context, "iree", null).body();
            assertThat(root).contains("\"modules\":{\"adding\":\"READY\"}");
            List<String> parts = new ArrayList<>(List.of("modules/adding", "pools/local"));
            new ObjectMapper().readTree(root).get("selectors").forEach(each -> parts.add(each.stringValue()));
            assertThat(parts).contains("modules", "pools", "calls", "live", "recording");
            for (String part : parts) {
                HttpResponse<String> response = send(context, "iree/" + part, null);
                assertThat(response.statusCode()).as(part).isEqualTo(200);
                assertThat(response.body()).as(part).startsWith("{").doesNotContain("0x");
            }
            assertThat(send(context, "iree/weather", null).statusCode()).isEqualTo(404);
            assertThat(send(context, "iree/modules/none", null).statusCode()).isEqualTo(404);
        }
    }

    /** An export of a full ring takes seconds, and the memory of its file. */
    @Test
    void exportsTakeTurnsAndTooManyAreRefusedAtOnce() throws Exception {
        try (ConfigurableApplicationContext context = start("--iree.recorder.enabled=true")) {
            IreeEndpointWebExtension exports = context.getBean(IreeEndpointWebExtension.class);
            CountDownLatch end = new CountDownLatch(1);
            List<CompletableFuture<?>> held = new ArrayList<>();
            for (int i = 0; i < 1 + IreeEndpointWebExtension.MOST_WAITING; i++) {
                held.add((CompletableFuture<?>) exports.answer(() -> endOf(end)));
            }
            HttpResponse<String> refused = send(context, "iree/recording/export/trace", null);
            assertThat(refused.statusCode()).isEqualTo(503);
            assertThat(refused.headers().firstValue("Retry-After")).hasValue("1");
            assertThat(refused.body()).contains("1 recording is being read, and 4 requests wait; try again");
            end.countDown();
            held.forEach(CompletableFuture::join);
            for (String format : List.of("iree4j", "perfetto", "otlp", "trace", "problems")) {
                HttpResponse<String> file = send(context, "iree/recording/export/" + format, null);
                assertThat(file.statusCode()).as(format).isEqualTo(200);
                assertThat(file.headers().firstValue("Content-Type")).hasValue("application/octet-stream");
                assertThat(file.headers().firstValue("Retry-After")).isEmpty();
            }
            assertThat(send(context, "iree/recording/export/gif", null).statusCode())
                    .isEqualTo(404);
        }
    }

    private static byte[] endOf(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
        return new byte[1];
    }

    @Test
    void timelinesShowPendingOperations() throws Exception {
        try (ConfigurableApplicationContext context = start()) {
            IreeRuntime runtime = context.getBean(IreeRuntime.class);
            try (Timeline timeline = runtime.createTimeline();
                    Fence never = timeline.at(9)) {
                runtime.device().queue(0).barrier(never, null, 0);
                assertThat(send(context, "iree/timelines", null).body())
                        .contains("\"waiting\":1")
                        .contains("to reach 9, currently 0");
                timeline.semaphore().signal(9);
            }
        }
    }

    @Test
    void timelinesShowTheWaitsOfCalls() throws Exception {
        try (ConfigurableApplicationContext context =
                start("--iree.modules.waiting.location=" + TestModules.waiter(directory))) {
            IreeRuntime runtime = context.getBean(IreeRuntime.class);
            InvocationService service = context.getBean(InvocationService.class);
            try (Timeline timeline = runtime.createTimeline();
                    Fence nobodySignals = timeline.at(3);
                    Fence inputs = timeline.at(4)) {
                CompletableFuture<Results> suspended = service.invokeAsync("waiting.wait", nobodySignals);
                awaitCalls(context, "SUSPENDED");
                CompletableFuture<Results> later = service.request("waiting.wait")
                        .inputs(nobodySignals)
                        .after(inputs)
                        .invokeAsync();
                CompletableFuture<Results> inLine = service.invokeAsync("waiting.wait", nobodySignals);
                JsonNode answer = new ObjectMapper()
                        .readTree(send(context, "iree/timelines", null).body());
                assertThat(answer.get("waiting").intValue()).isZero();
                assertThat(answer.get("activeCalls").intValue()).isEqualTo(3);
                JsonNode calls = answer.get("calls");
                assertThat(calls).hasSize(3);
                assertCall(calls.get(0), "SUSPENDED", "to reach 3, currently 0; no submitted operation");
                assertCall(calls.get(1), "BEFORE_INPUTS", "to reach 4, currently 0; no submitted operation");
                assertCall(calls.get(2), "IN_LINE", "its turn");
                timeline.semaphore().signal(4);
                for (CompletableFuture<Results> call : List.of(suspended, later, inLine)) {
                    call.join().close();
                }
                assertThat(new ObjectMapper()
                                .readTree(send(context, "iree/timelines", null).body())
                                .get("calls"))
                        .isEmpty();
            }
        }
    }

    private static void awaitCalls(ConfigurableApplicationContext context, String state) throws Exception {
        while (!send(context, "iree/timelines", null).body().contains(state)) {
            Poll.pause();
        }
    }

    private static void assertCall(JsonNode call, String state, String waitsFor) {
        assertThat(call.get("program").stringValue()).isEqualTo("waiting");
        assertThat(call.get("function").stringValue()).isEqualTo("waiting.wait");
        assertThat(call.get("state").stringValue()).isEqualTo(state);
        assertThat(call.get("waitsFor").get(0).stringValue()).contains(waitsFor);
    }

    @Test
    void timelinesHaveNamesAndOperationsNameTheirSignalsAndCountsAgree() throws Exception {
        try (ConfigurableApplicationContext context =
                start("--iree.modules.waiting.location=" + TestModules.waiter(directory))) {
            IreeRuntime runtime = context.getBean(IreeRuntime.class);
            InvocationService service = context.getBean(InvocationService.class);
            Timeline speech = runtime.createTimeline("speech");
            Fence spoken = speech.at(7);
            try (Timeline copied = runtime.createTimeline("copied");
                    Fence done = copied.at(1)) {
                runtime.device().queue(0).barrier(spoken, done, 0);
                List<Thread> callers = new ArrayList<>();
                for (int i = 0; i < 3; i++) {
                    callers.add(Thread.ofVirtual()
                            .start(() -> service.invoke("waiting.wait", done).close()));
                }
                JsonNode answer = null;
                while (answer == null || answer.get("calls").size() < 3) {
                    answer = new ObjectMapper()
                            .readTree(send(context, "iree/timelines", null).body());
                }
                JsonNode operation = answer.get("operations").get(0);
                assertThat(operation.get("waitsFor").get(0).stringValue()).contains("'speech' to reach 7");
                JsonNode signal = operation.get("signals").get(0);
                assertThat(signal.get("timeline").longValue())
                        .isEqualTo(copied.semaphore().id());
                assertThat(signal.get("name").stringValue()).isEqualTo("copied");
                assertThat(signal.get("value").longValue()).isEqualTo(1);
                assertThat(answer.get("activeCalls").intValue()).isEqualTo(3);
                JsonNode root =
                        new ObjectMapper().readTree(send(context, "iree", null).body());
                assertThat(root.get("activeCalls").intValue())
                        .isEqualTo(answer.get("calls").size());
                assertThat(root.get("waitingOperations").intValue())
                        .isEqualTo(answer.get("operations").size());
                TimelineSemaphore kept = speech.semaphore();
                speech.close(); // the fence keeps it, and the operation waits for the fence
                assertThat(send(context, "iree/timelines", null).body())
                        .contains("\"name\":\"speech\"")
                        .contains("\"name\":\"copied\"");
                kept.signal(7);
                for (Thread each : callers) {
                    each.join();
                }
            }
            spoken.close();
            assertThat(send(context, "iree/timelines", null).body()).contains("\"timelines\":[]");
        }
    }

    @Test
    void aProblemShowsInTheEndpointHealthReadinessEventsAndMeters() throws Exception {
        try (ConfigurableApplicationContext context = start(
                "--iree.watchdog.after=0s",
                "--iree.watchdog.interval=5ms",
                "--management.endpoint.health.probes.enabled=true",
                "--iree.modules.waiting.location=" + TestModules.waiter(directory))) {
            IreeRuntime runtime = context.getBean(IreeRuntime.class);
            InvocationService service = context.getBean(InvocationService.class);
            CompletableFuture<ProblemEvent> heard = new CompletableFuture<>();
            context.addApplicationListener((ProblemEvent event) -> {
                if (event.problem() instanceof UnsignalledFence) { // without patience a call at its begin is a problem
                    heard.complete(event);
                }
            });
            context.getBean(Programs.class).unload("adding", null); // which would serve calls
            try (Timeline timeline = runtime.createTimeline("speech");
                    Fence never = timeline.at(3)) {
                CompletableFuture<Results> call = service.invokeAsync("waiting.wait", never);
                assertThat(heard.get().problem().kind()).isEqualTo("unsignalled-fence");
                while (!send(context, "health/readiness", null).body().contains("OUT_OF_SERVICE")) {
                    Poll.pause();
                }
                assertThat(send(context, "iree/problems", null).body())
                        .contains("\"kind\":\"unsignalled-fence\"")
                        .contains("program 'waiting'")
                        .contains("'speech'")
                        .contains("\"remedy\":\"signal the timeline");
                assertThat(send(context, "iree", null).body()).contains("\"problems\":1");
                assertThat(send(context, "health/iree/progress", null).body())
                        .contains("\"status\":\"DOWN\"")
                        .contains("nothing advances")
                        .contains("'speech'");
                assertThat(send(context, "iree/events", null).body())
                        .contains("\"type\":\"problem.unsignalled-fence\"")
                        .contains("\"type\":\"runtime.stalled\"");
                assertThat(send(context, "metrics/iree.problems?tag=problem:unsignalled-fence", null)
                                .body())
                        .contains("\"value\":1.0");
                timeline.semaphore().signal(3);
                call.join().close();
                while (!send(context, "health/readiness", null).body().contains("UP")) {
                    Poll.pause();
                }
                assertThat(send(context, "iree/problems", null).body()).isEqualTo("{\"problems\":[]}");
            }
        }
    }

    @Test
    void eventsArePolledWithTheirCursor() throws Exception {
        try (ConfigurableApplicationContext context = start()) {
            assertThat(send(context, "iree/events", null).body())
                    .contains("\"cursor\":2")
                    .contains("program.ready");
            assertThat(send(context, "iree/events?since=2", null).body()).isEqualTo("{\"cursor\":2,\"events\":[]}");
        }
    }

    @Test
    void deviceLossShowsInEventsHealthAndMeters() throws Exception {
        try (ConfigurableApplicationContext context = start(
                "--iree.devices.one.uri=local",
                "--iree.devices.two.uri=local",
                "--iree.modules.adding.devices=two",
                "--iree.watchdog.enabled=false")) { // which may report the loss first
            CompletableFuture<DeviceLostEvent> heard = new CompletableFuture<>();
            context.addApplicationListener((DeviceLostEvent event) -> heard.complete(event));
            IreeException cause = IreeException.of(StatusCode.ABORTED, "fell off the bus");
            HostDevice device = (HostDevice) context.getBean(IreeRuntime.class).device("two");
            device.lose(cause);
            DeviceLostEvent event = heard.get();
            assertThat(event.device()).isEqualTo("two");
            assertThat(event.cause()).cause().isSameAs(cause);
            assertThat(send(context, "iree/events?since=2", null).body())
                    .contains("\"cursor\":3")
                    .contains("\"type\":\"device.lost\",\"subject\":\"two\"")
                    .contains("fell off the bus");
            assertThat(send(context, "health/iree/devices/two", null).body())
                    .contains("\"status\":\"UP\"")
                    .contains("\"degraded\":true")
                    .contains("fell off the bus");
            assertThat(send(context, "health/iree/modules/adding", null).body()).contains("\"status\":\"DOWN\"");
            assertThat(send(context, "metrics/iree.device.lost?tag=device:two", null)
                            .body())
                    .contains("\"value\":1.0");
        }
    }

    @Test
    void writeOperationsAreDeniedByDefault() throws Exception {
        try (ConfigurableApplicationContext context = start()) {
            assertThat(send(context, "iree/modules/adding", "{\"action\":\"unload\"}")
                            .statusCode())
                    .isEqualTo(405);
            assertThat(send(context, "iree", null).body()).contains("READY");
        }
    }

    @Test
    void modulesAreUnloadedAndLoadedWithUnrestrictedAccess() throws Exception {
        try (ConfigurableApplicationContext context = start("--management.endpoint.iree.access=unrestricted")) {
            assertThat(send(context, "iree/modules/adding", "{\"action\":\"unload\"}")
                            .body())
                    .contains("\"state\":\"UNLOADED\"");
            assertThat(send(context, "iree/modules/adding", "{\"action\":\"load\"}")
                            .body())
                    .contains("\"state\":\"READY\"");
            assertThat(send(context, "iree/pools/local", "{\"action\":\"trim\"}")
                            .statusCode())
                    .isEqualTo(200);
            assertRefused(
                    send(context, "iree/pools/local", "{\"action\":\"burn\"}"),
                    400,
                    "action 'burn' of pools is not one of: trim");
            assertRefused(
                    send(context, "iree/modules/none", "{\"action\":\"load\"}"), 404, "there is no 'none' in modules");
        }
    }

    @Test
    void failingActionsExplainWhy() throws Exception {
        Path broken = Files.writeString(directory.resolve("broken.vmfb"), "no program");
        try (ConfigurableApplicationContext context = start(
                "--iree.modules.broken.load=lazy",
                "--iree.modules.broken.location=" + broken,
                "--management.endpoint.iree.access=unrestricted")) {
            HttpResponse<String> noProgram = send(context, "iree/modules/broken", "{\"action\":\"load\"}");
            assertThat(noProgram.statusCode()).isEqualTo(503);
            assertThat(noProgram.body())
                    .startsWith("{\"error\":\"program 'broken' could not be loaded from '" + broken + "': ");
            Files.delete(broken);
            HttpResponse<String> noFile = send(context, "iree/modules/broken", "{\"action\":\"load\"}");
            assertThat(noFile.statusCode()).isEqualTo(503);
            assertThat(noFile.body())
                    .startsWith("{\"error\":\"program 'broken' could not be loaded from '" + broken + "': ")
                    .isNotEqualTo(noProgram.body());
            for (String action : List.of("load", "unload", "warm")) {
                HttpResponse<String> noVersion =
                        send(context, "iree/modules/adding", "{\"action\":\"%s\",\"version\":\"9\"}".formatted(action));
                assertThat(noVersion.statusCode()).as(action).isEqualTo(404);
                assertThat(noVersion.body())
                        .as(action)
                        .startsWith("{\"error\":")
                        .contains("'adding'", "9");
            }
        }
    }

    private static void assertRefused(HttpResponse<String> response, int status, String reason) {
        assertThat(response.statusCode()).isEqualTo(status);
        assertThat(response.body()).isEqualTo("{\"error\":\"" + reason + "\"}");
    }

    /** Also a call whose program was unloaded, and a call on the thread of its caller. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aCallIsCancelledByItsId(boolean blocking) throws Exception {
        try (ConfigurableApplicationContext context = start(
                "--management.endpoint.iree.access=unrestricted",
                "--iree.modules.spinning.location=" + TestModules.spinner(directory))) {
            InvocationService service = context.getBean(InvocationService.class);
            CompletableFuture<Results> call = blocking
                    ? CompletableFuture.supplyAsync(() -> service.invoke("spinning.spin"))
                    : service.invokeAsync("spinning.spin");
            awaitCalls(context, "RUNNING");
            assertThat(send(context, "iree/modules/spinning", "{\"action\":\"unload\"}")
                            .body())
                    .contains("\"state\":\"UNLOADED\"", "\"activeCalls\":1");
            JsonNode listed = new ObjectMapper()
                    .readTree(send(context, "iree/calls", null).body())
                    .get("calls")
                    .get(0);
            assertThat(listed.get("program").stringValue()).isEqualTo("spinning");
            String path = "iree/calls/" + listed.get("id").longValue();
            assertThat(send(context, path, null).body()).contains("\"state\":\"RUNNING\"");
            assertRefused(
                    send(context, path, "{\"action\":\"load\"}"), 400, "action 'load' of calls is not one of: cancel");
            HttpResponse<String> cancelled = send(context, path, "{\"action\":\"cancel\"}");
            assertThat(cancelled.statusCode()).isEqualTo(200);
            assertThat(cancelled.body()).contains("\"function\":\"spinning.spin\"");
            assertThatExceptionOfType(CompletionException.class)
                    .isThrownBy(call::join)
                    .havingCause()
                    .withMessageContaining(
                            "call %d of 'spinning.spin' was cancelled",
                            listed.get("id").longValue());
            while (context.getBean(Programs.class).activeCalls() > 0) {
                Poll.pause();
            }
            assertRefused(
                    send(context, path, "{\"action\":\"cancel\"}"), // ended
                    404,
                    "there is no call '%d' in progress"
                            .formatted(listed.get("id").longValue()));
            assertRefused(
                    send(context, "iree/calls/none", "{\"action\":\"cancel\"}"),
                    404,
                    "there is no call 'none' in progress");
        }
    }

    @Test
    void exposesHealthInfoAndMetrics() throws Exception {
        try (ConfigurableApplicationContext context = start("--management.info.iree.enabled=true")) {
            assertThat(send(context, "health/iree/modules/adding", null).body())
                    .contains("\"status\":\"UP\"")
                    .contains("\"version\":\"1\"");
            assertThat(send(context, "info", null).body())
                    .contains("\"iree\":{\"version\":")
                    .contains("\"bytecode\":[")
                    .contains("\"drivers\":{")
                    .contains("\"local\":\"available\"");
            assertThat(send(context, "metrics/iree.pool.memory?tag=state:live", null)
                            .body())
                    .contains("\"baseUnit\":\"bytes\"");
            assertThat(send(context, "metrics/iree.module.load?tag=module:adding", null)
                            .body())
                    .contains("\"statistic\":\"COUNT\",\"value\":1.0");
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void applicationBecomesReadyOnceBackgroundProgramsAreLoaded(boolean virtualThreads) throws Exception {
        AtomicReference<String> early = new AtomicReference<>();
        try (ConfigurableApplicationContext context = start(
                "--iree.modules.late.load=background",
                "--iree.modules.late.location=" + TestModules.adder(directory),
                "--iree.modules.late.warm-up[0].function=add",
                "--iree.modules.late.warm-up[0].inputs=1,2",
                "--spring.threads.virtual.enabled=" + virtualThreads,
                "--management.endpoint.health.probes.enabled=true")) {
            early.set(send(context, "health/readiness", null).body());
            while (!send(context, "health/readiness", null).body().contains("\"status\":\"UP\"")) {
                Poll.pause();
            }
            assertThat(send(context, "iree", null).body()).contains("\"late\":\"READY\"");
        }
        assertThat(early.get()).containsAnyOf("\"status\":\"UP\"", "OUT_OF_SERVICE");
    }

    @Test
    void applicationIsNotReadyWhileABackgroundProgramIsMissing() throws Exception {
        Path missing = directory.resolve("missing.vmfb");
        try (ConfigurableApplicationContext context = start(
                "--iree.modules.missing.load=background",
                "--iree.modules.missing.location=" + missing,
                "--management.endpoint.health.probes.enabled=true",
                "--management.endpoint.iree.access=unrestricted")) {
            while (!send(context, "iree", null).body().contains("\"missing\":\"FAILED\"")) {
                Poll.pause();
            }
            assertThat(send(context, "health/readiness", null).statusCode()).isEqualTo(503);
            assertThat(send(context, "health/liveness", null).statusCode()).isEqualTo(200);
            assertThat(send(context, "health/iree", null).body()).contains("missing.vmfb");
            Files.copy(directory.resolve("adder.vmfb"), missing);
            send(context, "iree/modules/missing", "{\"action\":\"load\"}");
            assertThat(send(context, "health/readiness", null).statusCode()).isEqualTo(200);
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Application {}
}
