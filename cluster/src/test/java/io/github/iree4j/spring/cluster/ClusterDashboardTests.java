package io.github.iree4j.spring.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.cluster.FreePorts;
import io.github.iree4j.spring.autoconfigure.IreeAutoConfiguration;
import io.github.iree4j.spring.cluster.autoconfigure.IreeClusterAutoConfiguration;
import io.github.iree4j.spring.cluster.autoconfigure.IreeClusterMetricsAutoConfiguration;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

/** The dashboard and the alert rules ask for meters exposed to Prometheus. */
class ClusterDashboardTests {
    private static final Path DOCS = Path.of("../docs/grafana");
    private static final Pattern SERIES = Pattern.compile("\\biree_cluster_[a-z_]+");
    private static final Pattern EXPOSED = Pattern.compile("(?m)^(iree_cluster_[a-z_]+)(?:\\{.*})? \\S+$");

    @TempDir
    private Path directory;

    private static Set<String> asked(String file) throws IOException {
        return SERIES.matcher(Files.readString(DOCS.resolve(file)))
                .results()
                .map(MatchResult::group)
                .collect(Collectors.toCollection(TreeSet::new));
    }

    @Test
    void panelsAndAlertsAskForExposedMeters() throws IOException {
        PrometheusMeterRegistry registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
        new ApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(
                        IreeAutoConfiguration.class,
                        IreeClusterAutoConfiguration.class,
                        IreeClusterMetricsAutoConfiguration.class))
                .withBean(PrometheusMeterRegistry.class, () -> registry)
                .withPropertyValues(
                        "iree.cluster.enabled=true",
                        "iree.cluster.identity.machine=0",
                        "iree.cluster.identity.file=" + directory.resolve("identity"),
                        "iree.cluster.bind.port="
                                + FreePorts.from(
                                        30_000 + (int) (ProcessHandle.current().pid() % 10_000)))
                .run(context -> {
                    context.getBean(ClusterMetrics.class).bindTo(registry); // as Spring Boot does
                    Set<String> exposed = EXPOSED.matcher(registry.scrape())
                            .results()
                            .map(series -> series.group(1))
                            .collect(Collectors.toSet());
                    assertThat(exposed).containsAll(asked("iree4j.json")).containsAll(asked("alerts.yaml"));
                });
        assertThat(asked("iree4j.json")).contains("iree_cluster_members_nodes");
        assertThat(asked("alerts.yaml")).containsExactly("iree_cluster_fenced_nodes");
    }
}
