package io.github.iree4j.spring.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.source.MapConfigurationPropertySource;

class IreePropertiesTests {

    @Test
    void defaults() {
        IreeProperties properties = bind(Map.of());
        assertThat(properties)
                .isEqualTo(new IreeProperties(
                        true,
                        "local",
                        Map.of(),
                        new IreeProperties.Task(0, "auto", false, IreeProperties.Task.ScanOrder.ROUND_ROBIN)));
        assertThat(properties.devices()).containsExactly("local");
    }

    @Test
    void modulesWithDevicesAndParameters() {
        IreeProperties properties = bind(Map.of(
                "iree.device", "local",
                "iree.modules.a.location", "classpath:a.vmfb",
                "iree.modules.a.parameters.model", "one.irpa, two.irpa",
                "iree.modules.a.parameters.bias[0]", "three.irpa",
                "iree.modules.b.location", "b.vmfb",
                "iree.modules.b.device", "local-sync",
                "iree.modules.b.overlapping-calls", "true"));
        assertThat(properties.modules())
                .containsEntry(
                        "a",
                        new IreeProperties.Module(
                                "classpath:a.vmfb",
                                null,
                                Map.of("model", List.of("one.irpa", "two.irpa"), "bias", List.of("three.irpa")),
                                false))
                .containsEntry("b", new IreeProperties.Module("b.vmfb", "local-sync", Map.of(), true));
        assertThat(properties.devices()).containsExactly("local", "local-sync");
    }

    @Test
    void workers() {
        IreeProperties properties = bind(Map.of(
                "iree.task.workers", "3",
                "iree.task.topology", "each=0-3",
                "iree.task.affinity", "true",
                "iree.task.scan-policy", "priority"));
        assertThat(properties.task())
                .isEqualTo(new IreeProperties.Task(3, "each=0-3", true, IreeProperties.Task.ScanOrder.PRIORITY));
    }

    @Test
    void eachPropertyIsDescribedInTheMetadata() throws Exception {
        try (InputStream in = getClass().getResourceAsStream("/META-INF/spring-configuration-metadata.json")) {
            assertThat(new String(in.readAllBytes(), StandardCharsets.UTF_8))
                    .contains("\"iree.enabled\"", "\"Whether to configure the runtime.\"")
                    .contains("\"iree.device\"", "\"Device that runs programs.\"")
                    .contains("\"iree.modules\"", "\"Compiled programs by name.\"")
                    .contains("\"iree.task.workers\"", "Number of workers.")
                    .contains("\"iree.task.topology\"", "Where workers are")
                    .contains("\"iree.task.affinity\"", "Whether to bind each worker")
                    .contains("\"iree.task.scan-policy\"", "Order in which workers look");
        }
    }

    private static IreeProperties bind(Map<String, String> properties) {
        return new Binder(new MapConfigurationPropertySource(properties)).bindOrCreate("iree", IreeProperties.class);
    }
}
