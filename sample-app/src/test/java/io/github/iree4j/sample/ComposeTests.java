package io.github.iree4j.sample;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.Reader;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.junit.jupiter.api.Test;
import org.yaml.snakeyaml.LoaderOptions;
import org.yaml.snakeyaml.Yaml;
import org.yaml.snakeyaml.constructor.SafeConstructor;
import tools.jackson.databind.ObjectMapper;

/** Checks that {@code compose.yaml} is consistent with the application. Starts nothing. */
class ComposeTests {

    private static final String DASHBOARDS = "/var/lib/grafana/dashboards";

    private final Map<String, Object> services = map(read(Path.of("compose.yaml")), "services");

    ComposeTests() throws IOException {}

    private static Map<String, Object> read(Path file) throws IOException {
        try (Reader in = Files.newBufferedReader(file)) {
            return new Yaml(new SafeConstructor(new LoaderOptions())).load(in);
        }
    }

    @SuppressWarnings("unchecked") // as YAML has it
    private static Map<String, Object> map(Object of, String key) {
        return (Map<String, Object>) ((Map<String, Object>) of).get(key);
    }

    @SuppressWarnings("unchecked") // as YAML has it
    private static <T> List<T> list(Object of, String key) {
        return (List<T>) ((Map<String, Object>) of).get(key);
    }

    @Test
    void everyMountedFileExists() {
        for (Object service : services.values()) {
            for (String volume : ComposeTests.<String>list(service, "volumes")) {
                Path mounted = Path.of(volume.split(":")[0]);
                if (mounted.startsWith("./target")) {
                    assertThat(mounted.getFileName()).hasToString("iree4j-sample-app.jar"); // what the build makes
                } else {
                    assertThat(mounted).exists();
                }
            }
        }
    }

    @Test
    void dependenciesNameServices() {
        for (Object service : services.values()) {
            List<String> others = list(service, "depends_on");
            if (others != null) {
                assertThat(services).containsKeys(others.toArray(String[]::new));
            }
        }
    }

    @Test
    void prometheusScrapesTheApplicationsEndpoint() throws IOException {
        Object job = list(read(Path.of("src/main/docker/prometheus.yaml")), "scrape_configs")
                .getFirst();
        assertThat(job)
                .asInstanceOf(InstanceOfAssertFactories.MAP)
                .containsEntry("metrics_path", "/actuator/prometheus");
        List<String> targets = list(list(job, "static_configs").getFirst(), "targets");
        assertThat(targets).containsExactly("sample:8080");
        assertThat(ComposeTests.<String>list(services.get("sample"), "ports")).contains("8080:8080");
        assertThat(map(services.get("sample"), "environment")).containsEntry("SERVER_ADDRESS", "0.0.0.0");
        Object web =
                map(map(map(read(Path.of("src/main/resources/application.yaml")), "management"), "endpoints"), "web");
        assertThat(map(web, "exposure").get("include").toString()).contains("prometheus");
    }

    @Test
    void grafanaFindsPrometheusAndTheDashboard() throws IOException {
        Path provisioning = Path.of("src/main/docker/grafana/provisioning");
        Map<String, Object> source = ComposeTests.<Map<String, Object>>list(
                        read(provisioning.resolve("datasources/prometheus.yaml")), "datasources")
                .getFirst();
        assertThat(services)
                .containsKey(URI.create(source.get("url").toString()).getHost());
        assertThat(source).containsEntry("type", "prometheus").containsEntry("isDefault", true);
        Object provider = list(read(provisioning.resolve("dashboards/iree4j.yaml")), "providers")
                .getFirst();
        assertThat(map(provider, "options")).containsEntry("path", DASHBOARDS);
        String mounted = ComposeTests.<String>list(services.get("grafana"), "volumes").stream()
                .filter(volume -> volume.contains(DASHBOARDS))
                .findFirst()
                .orElseThrow();
        new ObjectMapper().readTree(Files.readString(Path.of(mounted.split(":")[0])));
    }
}
