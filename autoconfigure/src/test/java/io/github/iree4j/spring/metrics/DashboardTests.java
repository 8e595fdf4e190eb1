package io.github.iree4j.spring.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.spring.InvocationService;
import io.github.iree4j.spring.TestModules;
import io.github.iree4j.spring.autoconfigure.IreeAutoConfiguration;
import io.github.iree4j.spring.autoconfigure.http.IreeHttpAutoConfiguration;
import io.github.iree4j.spring.autoconfigure.metrics.IreeMetricsAutoConfiguration;
import io.github.iree4j.spring.autoconfigure.observation.IreeObservationAutoConfiguration;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.binder.MeterBinder;
import io.micrometer.core.instrument.config.MeterFilter;
import io.micrometer.core.instrument.distribution.DistributionStatisticConfig;
import io.micrometer.core.instrument.observation.DefaultMeterObservationHandler;
import io.micrometer.observation.ObservationRegistry;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.yaml.snakeyaml.Yaml;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.ObjectMapper;

/**
 * The dashboard and the alert rules ask for meters exposed by an application to Prometheus, by existing labels. {@code
 * GenerationDashboardTests} of spring-ai-autoconfigure has the series of text generation, and {@code
 * ClusterDashboardTests} of cluster the series of a node.
 */
class DashboardTests {

    private static final Path DOCS = Path.of("../docs/grafana");

    /** Labels added by Prometheus itself. */
    private static final Set<String> OF_THE_SERVER = Set.of("instance", "job");

    private static final Pattern SERIES =
            Pattern.compile("\\b(iree_(?!generation_|cluster_)[a-z_]+)(?:\\{([^}]*)\\})?");
    private static final Pattern LABEL = Pattern.compile("([a-z_]+)(?==|!=|=~)");
    private static final Pattern GROUPING = Pattern.compile("\\bby \\(([^)]*)\\)");
    private static final Pattern EXPOSED = Pattern.compile("(?m)^(iree_[a-z_]+)(?:\\{(.*)\\})? \\S+$");

    /** The name and the tags of a meter; spans have further tags. */
    private static final Pattern ROW =
            Pattern.compile("(?m)^\\| `[^`]+` \\| `(iree_[a-z_]+)` \\|[^|]*\\|[^|]*\\|([^|;]*)");

    private static final Pattern TAG = Pattern.compile("`([a-z_]+)`");

    @TempDir
    Path directory;

    private final ApplicationContextRunner runner = new ApplicationContextRunner()
            .withUserConfiguration(Registry.class)
            .withConfiguration(AutoConfigurations.of(
                    IreeAutoConfiguration.class,
                    IreeHttpAutoConfiguration.class,
                    IreeMetricsAutoConfiguration.class,
                    IreeObservationAutoConfiguration.class));

    /** The labels of each series exposed by an application. */
    private Map<String, Set<String>> exposed() throws Exception {
        Map<String, Set<String>> exposed = new HashMap<>();
        String adder = TestModules.adder(directory).toUri().toString();
        runner.withPropertyValues("iree.modules.adding.location=" + adder).run(context -> {
            PrometheusMeterRegistry registry = context.getBean(PrometheusMeterRegistry.class);
            context.getBeansOfType(MeterBinder.class).values().forEach(each -> each.bindTo(registry));
            context.getBean(InvocationService.class).invoke("adding.add", 1, 2).close();
            context.getBean(BatchMetrics.class).batched("adding", "add", 2, 3, 4, 5_000_000);
            context.getBean(VariantMetrics.class).called("adding", "add", "add_8", 8, 3);
            Matcher series = EXPOSED.matcher(registry.scrape());
            while (series.find()) {
                Set<String> labels = exposed.computeIfAbsent(series.group(1), _ -> new HashSet<>(OF_THE_SERVER));
                Matcher label = Pattern.compile("([a-z_]+)=\"").matcher(String.valueOf(series.group(2)));
                while (label.find()) {
                    labels.add(label.group(1));
                }
            }
        });
        return exposed;
    }

    private static void assertExposed(List<String> expressions, Map<String, Set<String>> exposed) {
        assertThat(expressions).isNotEmpty();
        for (String expression : expressions) {
            Set<String> grouping = new HashSet<>();
            Matcher by = GROUPING.matcher(expression);
            while (by.find()) {
                grouping.addAll(List.of(by.group(1).split(", ")));
            }
            Matcher series = SERIES.matcher(expression);
            while (series.find()) {
                assertThat(exposed).as(expression).containsKey(series.group(1));
                Set<String> wanted = new HashSet<>(grouping);
                Matcher label = LABEL.matcher(series.group(2) == null ? "" : series.group(2));
                while (label.find()) {
                    wanted.add(label.group(1));
                }
                assertThat(exposed.get(series.group(1))).as(expression).containsAll(wanted);
            }
        }
    }

    /** The expressions of the dashboard. */
    static List<String> panels() throws IOException {
        JsonNode dashboard = new ObjectMapper().readTree(Files.readString(DOCS.resolve("iree4j.json")));
        List<String> expressions = new ArrayList<>();
        dashboard
                .get("panels")
                .forEach(panel -> panel.path("targets") // a row has none
                        .forEach(target -> expressions.add(target.get("expr").stringValue())));
        return expressions;
    }

    @Test
    void eachPanelAsksForExposedMeters() throws Exception {
        List<String> expressions = panels();
        assertExposed(expressions, exposed());
        assertThat(expressions)
                .as("percentiles, instances, batches, memory by program, requests")
                .anyMatch(each -> each.startsWith("histogram_quantile(0.99"))
                .allMatch(each -> each.contains("instance=~"))
                .anyMatch(each -> each.contains("iree_batch_size_rows_sum"))
                .anyMatch(each -> each.contains("by (device, module) (iree_pool_usage_bytes"))
                .anyMatch(each -> each.contains("by (state) (iree_requests_memory_bytes"))
                .anyMatch(each -> each.contains("by (reason) (rate(iree_requests_refused_requests_total"));
    }

    @Test
    void eachAlertAsksForExposedMeters() throws Exception {
        List<String> expressions = new ArrayList<>();
        for (Map<String, Object> rule : rules()) {
            assertThat(rule).containsKeys("alert", "expr", "labels", "annotations");
            expressions.add(String.valueOf(rule.get("expr")));
        }
        assertExposed(expressions, exposed());
    }

    /** Handlers of observations add tags. */
    @Test
    void theTableOfMetersHasAllTags() throws Exception {
        Map<String, Set<String>> exposed = exposed();
        List<String> compared = new ArrayList<>();
        Matcher row = ROW.matcher(Files.readString(DOCS.resolve("../metrics.md")));
        while (row.find()) {
            String meter = row.group(1);
            Set<String> labels = exposed.getOrDefault(meter, exposed.get(meter + "_count"));
            if (labels != null) {
                Set<String> documented = new HashSet<>(OF_THE_SERVER);
                documented.add("application"); // common to all
                Matcher tag = TAG.matcher(row.group(2));
                while (tag.find()) {
                    documented.add(tag.group(1));
                }
                assertThat(documented).as(meter).isEqualTo(labels);
                compared.add(meter);
            }
        }
        assertThat(compared).contains("iree_invocations_seconds", "iree_queue_depth_operations");
    }

    /** The alert rules. */
    @SuppressWarnings("unchecked")
    static List<Map<String, Object>> rules() throws IOException {
        Map<String, Object> file = new Yaml().load(Files.readString(DOCS.resolve("alerts.yaml")));
        List<Map<String, Object>> all = new ArrayList<>();
        for (Map<String, Object> group : (List<Map<String, Object>>) file.get("groups")) {
            all.addAll((List<Map<String, Object>>) group.get("rules"));
        }
        return all;
    }

    /** As in Spring Boot's actuator, with the properties named by the page on metrics. */
    @Configuration(proxyBeanMethods = false)
    static class Registry {
        @Bean
        PrometheusMeterRegistry registry() {
            PrometheusMeterRegistry registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
            registry.config().commonTags("application", "test").meterFilter(new MeterFilter() {
                @Override
                public DistributionStatisticConfig configure(Meter.Id id, DistributionStatisticConfig config) {
                    return id.getName().equals("iree.invocations")
                            ? DistributionStatisticConfig.builder()
                                    .percentilesHistogram(true)
                                    .build()
                                    .merge(config)
                            : config;
                }
            });
            return registry;
        }

        @Bean
        ObservationRegistry observations(PrometheusMeterRegistry registry) {
            ObservationRegistry observations = ObservationRegistry.create();
            observations.observationConfig().observationHandler(new DefaultMeterObservationHandler(registry));
            return observations;
        }
    }
}
