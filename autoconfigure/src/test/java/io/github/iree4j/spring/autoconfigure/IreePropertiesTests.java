package io.github.iree4j.spring.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.hal.spi.CpuOptions;
import io.github.iree4j.hal.spi.DeviceOptions;
import io.github.iree4j.spring.LoadPolicy;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.source.MapConfigurationPropertySource;

class IreePropertiesTests {

    @Test
    void defaultsMatchTheRuntime() {
        IreeProperties properties = bind(Map.of());
        assertThat(properties.enabled()).isTrue();
        assertThat(properties.device()).isNull();
        assertThat(properties.defaultDevice()).isEqualTo("local");
        assertThat(properties.allDevices()).containsOnlyKeys("local");
        assertThat(properties.modules()).isEmpty();
        assertThat(properties.task()).isEqualTo(new IreeProperties.Task(0, "auto"));
        IreeProperties.Advanced advanced = properties.advanced();
        assertThat(advanced.task().affinity()).isFalse();
        assertThat(advanced.frontier().capacity()).isEqualTo(Frontier.DEFAULT_CAPACITY);
        assertThat(properties.executables().allowedFormats()).isEmpty();
        assertThat(advanced.device("any").inlineWork()).isEqualTo(CpuOptions.DEFAULTS.inlineWork());
        IreeProperties.Advanced.Pool pool = advanced.pool("any");
        assertThat(pool.trim().idleAfter()).isEqualTo(DeviceOptions.DEFAULTS.memoryIdle());
        assertThat(pool.trim().retained().toBytes()).isEqualTo(DeviceOptions.DEFAULTS.memoryRetained());
        assertThat(pool.waiting().limit()).isEqualTo(DeviceOptions.DEFAULTS.memoryWait());
        assertThat(pool.waiting().host()).isEqualTo(DeviceOptions.DEFAULTS.memoryHostWait());
    }

    @Test
    void partialDeviceAndPoolPropertiesKeepTheOtherDefaults() {
        IreeProperties.Advanced advanced = bind(Map.of(
                        "iree.advanced.devices.x.queue-count", "2", "iree.advanced.pools.x.waiting.limit", "1s"))
                .advanced();
        assertThat(advanced.device("x"))
                .isEqualTo(new IreeProperties.Advanced.Device(
                        2,
                        advanced.device("y").inlineWork(),
                        advanced.device("y").channel()));
        assertThat(advanced.pool("x").trim()).isEqualTo(advanced.pool("y").trim());
        assertThat(advanced.pool("x").waiting().host())
                .isEqualTo(advanced.pool("y").waiting().host());
    }

    @Test
    void modulesWithDevicesAndParameters() {
        IreeProperties properties = bind(Map.of(
                "iree.device", "local",
                "iree.modules.a.location", "classpath:a.vmfb",
                "iree.modules.a.parameters.model", "one.irpa, two.irpa",
                "iree.modules.a.parameters.bias[0]", "three.irpa",
                "iree.modules.b.location", "b.vmfb",
                "iree.modules.b.devices", "local-sync",
                "iree.advanced.modules.b.overlapping-calls", "true",
                "iree.modules.b.load", "background",
                "iree.modules.b.warm-up[0].function", "f"));
        IreeProperties.Module a = properties.modules().get("a");
        assertThat(a.location()).isEqualTo("classpath:a.vmfb");
        assertThat(a.parameters())
                .isEqualTo(Map.of("model", List.of("one.irpa", "two.irpa"), "bias", List.of("three.irpa")));
        assertThat(a.load()).isEqualTo(LoadPolicy.EAGER);
        assertThat(a.contexts()).isEqualTo(1);
        assertThat(a.batching().enabled()).isFalse();
        IreeProperties.Module b = properties.modules().get("b");
        assertThat(b.devices()).containsExactly("local-sync");
        assertThat(properties.advanced().overlappingCalls("b")).isTrue();
        assertThat(properties.advanced().overlappingCalls("a")).isFalse();
        assertThat(b.load()).isEqualTo(LoadPolicy.BACKGROUND);
        assertThat(b.warmUp()).containsExactly(new IreeProperties.Module.WarmUp("f", List.of(), 1));
        assertThat(properties.allDevices()).containsOnlyKeys("local", "local-sync");
    }

    @Test
    void otherDevicesAreNotTheDefaultDevice() {
        IreeProperties properties = bind(Map.of("iree.devices.cpu.uri", "local"));
        assertThat(properties.allDevices()).containsOnlyKeys("local", "cpu");
        assertThat(properties.defaultDevice()).isEqualTo("local");
    }

    @Test
    void queueCountDefaultsToTheDevices() {
        IreeProperties properties =
                bind(Map.of("iree.devices.a.uri", "vulkan", "iree.advanced.queues.copies.device", "b"));
        assertThat(properties.queueCount("a")).isZero();
        assertThat(properties.queueCount("b")).isEqualTo(1);
    }

    @Test
    void namedQueuesRaiseTheQueueCount() {
        IreeProperties properties = bind(Map.of(
                "iree.advanced.queues.copies.index", "2",
                "iree.advanced.queues.other.device", "b",
                "iree.advanced.devices.b.queue-count", "4"));
        assertThat(properties.queueCount("local")).isEqualTo(3);
        assertThat(properties.queueCount("b")).isEqualTo(4);
    }

    @Test
    void workers() {
        IreeProperties properties = bind(Map.of(
                "iree.task.workers", "3",
                "iree.task.topology", "each=0-3",
                "iree.advanced.task.affinity", "true"));
        assertThat(properties.task()).isEqualTo(new IreeProperties.Task(3, "each=0-3"));
        assertThat(properties.advanced().task().affinity()).isTrue();
    }

    @Test
    void eachPropertyIsDescribedInTheMetadata() throws Exception {
        try (InputStream in = getClass().getResourceAsStream("/META-INF/spring-configuration-metadata.json")) {
            assertThat(new String(in.readAllBytes(), StandardCharsets.UTF_8))
                    .contains("\"iree.enabled\"", "\"Whether to configure the runtime.\"")
                    .contains("\"iree.device\"", "Default device of programs.")
                    .contains("\"iree.modules\"", "\"Compiled programs by name.\"")
                    .contains("\"iree.task.workers\"", "Number of workers.")
                    .contains("\"iree.task.topology\"", "Placement of workers")
                    .contains("\"iree.advanced.task.affinity\"", "Whether to pin each worker");
        }
    }

    private static IreeProperties bind(Map<String, String> properties) {
        return new Binder(new MapConfigurationPropertySource(properties)).bindOrCreate("iree", IreeProperties.class);
    }
}
