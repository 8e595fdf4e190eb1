package io.github.iree4j.spring.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.async.SemaphoreOptions;
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
    void defaultsAreThoseOfTheRuntime() {
        IreeProperties properties = bind(Map.of());
        assertThat(properties.enabled()).isTrue();
        assertThat(properties.device()).isNull();
        assertThat(properties.defaultDevice()).isEqualTo("local");
        assertThat(properties.allDevices()).containsOnlyKeys("local");
        assertThat(properties.modules()).isEmpty();
        assertThat(properties.task())
                .isEqualTo(new IreeProperties.Task(0, "auto", false, IreeProperties.Task.ScanOrder.ROUND_ROBIN));
        assertThat(properties.frontier().capacity()).isEqualTo(Frontier.DEFAULT_CAPACITY);
        assertThat(properties.frontier().history()).isEqualTo(SemaphoreOptions.DEFAULT_HISTORY);
        assertThat(properties.executables().allowedFormats()).isEmpty();
        assertThat(IreeProperties.Device.DEFAULT.inlineWork().toNanos()).isEqualTo(CpuOptions.DEFAULT.inlineNanos());
        assertThat(IreeProperties.Pool.DEFAULT.trim().idleAfter()).isEqualTo(DeviceOptions.DEFAULT.memoryIdle());
        assertThat(IreeProperties.Pool.DEFAULT.trim().retained().toBytes())
                .isEqualTo(DeviceOptions.DEFAULT.memoryRetained());
    }

    @Test
    void partialDeviceAndPoolPropertiesKeepTheOtherDefaults() {
        IreeProperties properties = bind(Map.of("iree.devices.x.uri", "local", "iree.pools.x.quotas.a", "1MB"));
        assertThat(properties.devices().get("x"))
                .isEqualTo(new IreeProperties.Device(
                        "local",
                        0,
                        IreeProperties.Device.DEFAULT.inlineWork(),
                        IreeProperties.Device.Gpu.DEFAULT,
                        IreeProperties.Device.Channel.DEFAULT));
        assertThat(properties.pools().get("x").trim()).isEqualTo(IreeProperties.Pool.Trim.DEFAULT);
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
                "iree.modules.b.overlapping-calls", "true",
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
        assertThat(b.overlappingCalls()).isTrue();
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
    void queueCountDefaultsToThatOfTheDevice() {
        IreeProperties properties = bind(Map.of("iree.devices.a.uri", "vulkan", "iree.queues.copies.device", "b"));
        assertThat(properties.queueCount("a")).isZero();
        assertThat(properties.queueCount("b")).isEqualTo(1);
    }

    @Test
    void namedQueuesRaiseTheQueueCount() {
        IreeProperties properties = bind(Map.of(
                "iree.queues.copies.index", "2",
                "iree.queues.other.device", "b",
                "iree.devices.b.queue-count", "4"));
        assertThat(properties.queueCount("local")).isEqualTo(3);
        assertThat(properties.queueCount("b")).isEqualTo(4);
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
                    .contains("\"iree.device\"", "Default device of programs.")
                    .contains("\"iree.modules\"", "\"Compiled programs by name.\"")
                    .contains("\"iree.task.workers\"", "Number of workers.")
                    .contains("\"iree.task.topology\"", "Placement of workers")
                    .contains("\"iree.task.affinity\"", "Whether to pin each worker")
                    .contains("\"iree.task.scan-policy\"", "Order in which workers scan");
        }
    }

    private static IreeProperties bind(Map<String, String> properties) {
        return new Binder(new MapConfigurationPropertySource(properties)).bindOrCreate("iree", IreeProperties.class);
    }
}
