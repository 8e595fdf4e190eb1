package io.github.iree4j.spring.ai.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.spring.ai.IreeChatMetrics;
import io.github.iree4j.spring.ai.IreeChatModel;
import io.github.iree4j.spring.ai.SmallDecoder;
import io.github.iree4j.spring.autoconfigure.IreeAutoConfiguration;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.config.MeterFilter;
import io.micrometer.core.instrument.distribution.DistributionStatisticConfig;
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
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.yaml.snakeyaml.Yaml;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * The dashboard and the alert rules ask for meters exposed by the generator of a chat model to Prometheus. {@code
 * DashboardTests} of autoconfigure has the other series.
 */
@Timeout(300)
class GenerationDashboardTests {
    private static final Path DOCS = Path.of("../docs/grafana");

    /** Labels that Prometheus adds itself. */
    private static final Set<String> OF_THE_SERVER = Set.of("instance", "job");

    private static final Pattern SERIES =
            Pattern.compile("\\b((?:iree_generation|gen_ai_server)_[a-z_]+)(?:\\{([^}]*)\\})?");
    private static final Pattern GROUPING = Pattern.compile("\\bby \\(([^)]*)\\) ");
    private static final Pattern LABEL = Pattern.compile("([a-z_]+)(=~|!=|=)\"([^\"]*)\"");
    private static final Pattern EXPOSED = Pattern.compile("(?m)^([a-z_]+)\\{(.*)\\} \\S+$");

    @TempDir
    private Path folder;

    /** For each series, the values of each label. */
    private Map<String, Map<String, Set<String>>> exposed() {
        PrometheusMeterRegistry registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
        registry.config().commonTags("application", "test").meterFilter(new MeterFilter() {
            @Override // as the property does that the page on metrics names
            public DistributionStatisticConfig configure(Meter.Id id, DistributionStatisticConfig config) {
                DistributionStatisticConfig histogram = DistributionStatisticConfig.builder()
                        .percentilesHistogram(id.getName().startsWith("gen_ai.server"))
                        .build();
                return histogram.merge(config);
            }
        });
        new ApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(
                        IreeAutoConfiguration.class,
                        IreeChatAutoConfiguration.class,
                        IreeChatMetricsAutoConfiguration.class))
                .withPropertyValues(SmallDecoder.properties(folder))
                .withBean(PrometheusMeterRegistry.class, () -> registry)
                .run(context -> {
                    context.getBean(IreeChatMetrics.class).bindTo(registry); // as Spring Boot does
                    context.getBean(IreeChatModel.class).call("Hello, who is there?");
                });
        Map<String, Map<String, Set<String>>> exposed = new HashMap<>();
        Matcher series = EXPOSED.matcher(registry.scrape());
        while (series.find()) {
            Map<String, Set<String>> labels = exposed.computeIfAbsent(series.group(1), _ -> new HashMap<>());
            Matcher label = LABEL.matcher(series.group(2));
            while (label.find()) {
                labels.computeIfAbsent(label.group(1), _ -> new HashSet<>()).add(label.group(3));
            }
        }
        return exposed;
    }

    /** Returns the names of the series that the expressions ask for. */
    private static Set<String> assertExposed(List<String> expressions, Map<String, Map<String, Set<String>>> exposed) {
        Set<String> names = new HashSet<>();
        for (String expression : expressions) {
            Set<String> grouping = new HashSet<>();
            Matcher by = GROUPING.matcher(expression);
            while (by.find()) {
                grouping.addAll(List.of(by.group(1).split(", ")));
            }
            grouping.removeAll(OF_THE_SERVER);
            Matcher series = SERIES.matcher(expression);
            while (series.find()) {
                names.add(series.group(1));
                assertThat(exposed).as(expression).containsKey(series.group(1));
                Map<String, Set<String>> labels = exposed.get(series.group(1));
                assertThat(labels.keySet()).as(expression).containsAll(grouping);
                Matcher label = LABEL.matcher(series.group(2) == null ? "" : series.group(2));
                while (label.find()) {
                    if (label.group(2).equals("=") && !label.group(3).startsWith("$")) {
                        assertThat(labels.get(label.group(1))).as(expression).contains(label.group(3));
                    } else if (!OF_THE_SERVER.contains(label.group(1))) {
                        assertThat(labels).as(expression).containsKey(label.group(1));
                    }
                }
            }
        }
        return names;
    }

    @Test
    void eachPanelOfTheRowAsksForExposedMeters() throws IOException {
        JsonNode dashboard = JsonMapper.shared().readTree(Files.readString(DOCS.resolve("iree4j.json")));
        List<String> row = null;
        for (JsonNode panel : dashboard.get("panels")) {
            if (panel.get("type").asString().equals("row")) {
                assertThat(panel.get("title").asString()).isEqualTo("Text generation");
                row = new ArrayList<>();
            } else if (row != null) {
                for (JsonNode target : panel.get("targets")) {
                    row.add(target.get("expr").asString());
                }
            }
        }
        assertThat(row).isNotNull().allMatch(each -> SERIES.matcher(each).find());
        assertThat(assertExposed(row, exposed()))
                .containsExactlyInAnyOrder(
                        "gen_ai_server_time_to_first_token_seconds_bucket",
                        "gen_ai_server_time_per_output_token_seconds_bucket",
                        "gen_ai_server_request_duration_seconds_count",
                        "iree_generation_delay_seconds_sum",
                        "iree_generation_delay_seconds_count",
                        "iree_generation_tokens_total",
                        "iree_generation_sequences",
                        "iree_generation_pages",
                        "iree_generation_steps_total",
                        "iree_generation_preemptions_total");
    }

    @Test
    @SuppressWarnings("unchecked")
    void eachAlertAsksForExposedMeters() throws IOException {
        Map<String, List<Map<String, Object>>> file = new Yaml().load(Files.readString(DOCS.resolve("alerts.yaml")));
        List<String> expressions = new ArrayList<>();
        for (Map<String, Object> rule :
                (List<Map<String, Object>>) file.get("groups").getFirst().get("rules")) {
            if (String.valueOf(rule.get("alert")).startsWith("IreeGeneration")) {
                expressions.add(String.valueOf(rule.get("expr")));
            }
        }
        assertThat(assertExposed(expressions, exposed()))
                .containsExactlyInAnyOrder(
                        "iree_generation_sequences",
                        "iree_generation_preemptions_total",
                        "gen_ai_server_request_duration_seconds_count");
    }
}
