package io.github.iree4j.spring.metrics;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.sun.net.httpserver.HttpServer;
import io.github.iree4j.spring.InvocationService;
import io.github.iree4j.spring.TestModules;
import io.github.iree4j.spring.autoconfigure.IreeAutoConfiguration;
import io.github.iree4j.spring.autoconfigure.http.IreeHttpAutoConfiguration;
import io.github.iree4j.spring.autoconfigure.metrics.IreeMetricsAutoConfiguration;
import io.github.iree4j.spring.autoconfigure.observation.IreeObservationAutoConfiguration;
import io.micrometer.core.instrument.binder.MeterBinder;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.io.File;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.ObjectMapper;

/** A Prometheus server that scrapes an application answers each panel of the dashboard and takes the alert rules. */
@Timeout(180)
class PrometheusServerTests {

    private static final ObjectMapper JSON = new ObjectMapper();

    @TempDir
    Path directory;

    private final HttpClient client = HttpClient.newHttpClient();

    private static Optional<Path> program() {
        return Stream.concat(
                        Arrays.stream(System.getenv("PATH").split(File.pathSeparator))
                                .map(each -> Path.of(each, "prometheus")),
                        Stream.of(Path.of("../target/prometheus/usr/bin/prometheus")
                                .toAbsolutePath()
                                .normalize())) // from bin/prepare-machine
                .filter(Files::isExecutable)
                .findFirst();
    }

    private static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        }
    }

    private Process start(Path program, int port, int target) throws IOException {
        Path rules = Path.of("../docs/grafana/alerts.yaml").toAbsolutePath().normalize();
        Path configuration = Files.writeString(directory.resolve("prometheus.yaml"), """
                rule_files: ["%s"]
                scrape_configs:
                  - job_name: test
                    scrape_interval: 1s
                    static_configs:
                      - targets: ["127.0.0.1:%d"]
                """.formatted(rules, target));
        return new ProcessBuilder(
                        program.toString(),
                        "--config.file=" + configuration,
                        "--storage.tsdb.path=" + directory.resolve("data"),
                        "--web.listen-address=127.0.0.1:" + port)
                .redirectErrorStream(true)
                .redirectOutput(directory.resolve("log").toFile())
                .start();
    }

    private static HttpServer serve(PrometheusMeterRegistry registry) throws IOException {
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/metrics", exchange -> {
            byte[] body = registry.scrape().getBytes(StandardCharsets.UTF_8);
            exchange.getResponseHeaders().set("Content-Type", "text/plain; version=0.0.4");
            exchange.sendResponseHeaders(200, body.length);
            exchange.getResponseBody().write(body);
            exchange.close();
        });
        server.start();
        return server;
    }

    private JsonNode get(int port, String path) throws IOException, InterruptedException {
        HttpRequest request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path))
                .timeout(Duration.ofSeconds(30))
                .build();
        HttpResponse<String> answer = client.send(request, BodyHandlers.ofString());
        if (answer.statusCode() == 503) {
            throw new IOException("it reads its storage and does not answer yet: " + answer.body());
        }
        return JSON.readTree(answer.body());
    }

    private JsonNode query(int port, String expression) throws IOException, InterruptedException {
        JsonNode answer = get(port, "/api/v1/query?query=" + URLEncoder.encode(expression, StandardCharsets.UTF_8));
        assertThat(answer.get("status").stringValue()).as(expression).isEqualTo("success");
        return answer.get("data").get("result");
    }

    private boolean hasScraped(int port) {
        try {
            JsonNode scrapes = query(port, "count_over_time(iree_calls_active_calls[1m])");
            return !scrapes.isEmpty()
                    && Integer.parseInt(scrapes.get(0).get("value").get(1).stringValue()) >= 3;
        } catch (IOException e) {
            return false; // not up yet
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    @Test
    void eachPanelHasDataAndEachRuleIsTaken() throws Exception {
        Optional<Path> program = program();
        assumeTrue(program.isPresent(), "no prometheus on the path; bin/prepare-machine --optional unpacks Debian's");
        String adder = TestModules.adder(directory).toUri().toString();
        new ApplicationContextRunner()
                .withUserConfiguration(DashboardTests.Registry.class)
                .withConfiguration(AutoConfigurations.of(
                        IreeAutoConfiguration.class,
                        IreeHttpAutoConfiguration.class,
                        IreeMetricsAutoConfiguration.class,
                        IreeObservationAutoConfiguration.class))
                .withPropertyValues("iree.modules.adding.location=" + adder)
                .run(context -> {
                    PrometheusMeterRegistry registry = context.getBean(PrometheusMeterRegistry.class);
                    context.getBeansOfType(MeterBinder.class).values().forEach(each -> each.bindTo(registry));
                    InvocationService invocations = context.getBean(InvocationService.class);
                    BatchMetrics batches = context.getBean(BatchMetrics.class);
                    VariantMetrics variants = context.getBean(VariantMetrics.class);
                    HttpServer server = serve(registry);
                    int port = freePort();
                    Process process = start(
                            program.orElseThrow(), port, server.getAddress().getPort());
                    try {
                        while (!hasScraped(port)) {
                            assertThat(process.isAlive())
                                    .as(Files.readString(directory.resolve("log")))
                                    .isTrue();
                            invocations.invoke("adding.add", 1, 2).close();
                            batches.batched("adding", "add", 2, 3, 4, 5_000_000);
                            variants.called("adding", "add", "add_8", 8, 3);
                        }
                        for (String expression : DashboardTests.panels()) {
                            String asked = expression
                                    .replace("$application", "test")
                                    .replace("$instance", ".*")
                                    .replace("$__rate_interval", "1m");
                            assertThat(query(port, asked))
                                    .as(asked)
                                    .satisfiesAnyOf(
                                            result -> assertThat(result).isNotEmpty(),
                                            _ -> assertThat(asked).contains("outcome!="),
                                            _ -> assertThat(asked).contains("gen_ai_request_model"),
                                            _ -> assertThat(asked).contains("iree_cluster_")); // of nodes only
                        }
                        JsonNode groups = get(port, "/api/v1/rules").get("data").get("groups");
                        assertThat(groups.get(0).get("rules"))
                                .hasSize(DashboardTests.rules().size());
                        groups.get(0)
                                .get("rules")
                                .forEach(rule -> assertThat(rule.get("health").stringValue())
                                        .isIn("ok", "unknown"));
                    } finally {
                        process.destroy();
                        process.waitFor();
                        server.stop(0);
                    }
                });
    }
}
