package io.github.iree4j.spring.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.hal.ChannelParams;
import io.github.iree4j.hal.spi.ChannelOptions;
import io.github.iree4j.hal.spi.DeviceOptions;
import io.github.iree4j.hal.spi.GpuOptions;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

/** Properties of single drivers, and of participants in collectives, reach the options of their device. */
class DevicePropertiesTests {
    private final Map<String, DeviceOptions> opened = new ConcurrentHashMap<>();

    private final ApplicationContextRunner runner = new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(IreeAutoConfiguration.class))
            .withBean(IreeDeviceCustomizer.class, () -> (name, options) -> opened.put(name, options.build()))
            .withPropertyValues("iree.devices.one.uri=local", "iree.device=one");

    private DeviceOptions options(String... properties) {
        runner.withPropertyValues(properties).run(context -> assertThat(context).hasNotFailed());
        return opened.get("one");
    }

    @Test
    void nothingSetLeavesTheDefaults() {
        DeviceOptions options = options();
        assertThat(options.driver(GpuOptions.DEFAULTS)).isSameAs(GpuOptions.DEFAULTS);
        assertThat(options.driver(ChannelOptions.DEFAULTS)).isSameAs(ChannelOptions.DEFAULTS);
    }

    @Test
    void placeOfCompiledCode() {
        assertThat(options("iree.devices.one.gpu.compiled-code=/var/cache/app")
                        .driver(GpuOptions.DEFAULTS)
                        .compiledCode())
                .isEqualTo("/var/cache/app");
    }

    @Test
    void participantOfAGroup() {
        assertThat(options(
                                "iree.advanced.devices.one.channel.id=training",
                                "iree.advanced.devices.one.channel.group=left",
                                "iree.advanced.devices.one.channel.rank=1",
                                "iree.advanced.devices.one.channel.count=4")
                        .driver(ChannelOptions.DEFAULTS)
                        .channel())
                .isEqualTo(new ChannelParams("training", "left", 1, 4));
        assertThat(options("iree.advanced.devices.one.channel.count=4")
                        .driver(ChannelOptions.DEFAULTS)
                        .channel())
                .isEqualTo(ChannelParams.of(ChannelParams.DEFAULT, 4));
    }

    @Test
    void idOfAGroupAcrossProcesses() {
        byte[] id = new byte[128];
        for (int i = 0; i < id.length; i++) {
            id[i] = (byte) (i * 37);
        }
        assertThat(options(
                                "iree.advanced.devices.one.channel.count=2",
                                "iree.advanced.devices.one.channel.id=base64:"
                                        + Base64.getEncoder().encodeToString(id))
                        .driver(ChannelOptions.DEFAULTS)
                        .channel()
                        .id())
                .isEqualTo(new String(id, StandardCharsets.ISO_8859_1));
    }

    @ParameterizedTest
    @CsvSource({
        "count, 0, is not within [1",
        "rank, 1, It must be set where 'iree.advanced.devices.one.channel' is",
        "id, training, It must be set where 'iree.advanced.devices.one.channel' is",
    })
    void aGroupWithoutParticipantsIsRefused(String property, String value, String reason) {
        assertRefused("count", reason, "iree.advanced.devices.one.channel." + property + "=" + value);
    }

    @Test
    void unsuitableValuesNameTheirProperty() {
        assertRefused(
                "rank",
                "is not within [0, 3]",
                "iree.advanced.devices.one.channel.count=4",
                "iree.advanced.devices.one.channel.rank=4");
        assertRefused(
                "id",
                "base64",
                "iree.advanced.devices.one.channel.count=4",
                "iree.advanced.devices.one.channel.id=base64:%");
    }

    private void assertRefused(String property, String reason, String... properties) {
        runner.withPropertyValues(properties).run(context -> {
            Throwable cause = context.getStartupFailure();
            while (cause != null && !(cause instanceof InvalidConfigurationPropertyValueException)) {
                cause = cause.getCause();
            }
            assertThat(cause).isInstanceOfSatisfying(InvalidConfigurationPropertyValueException.class, failure -> {
                assertThat(failure.getName()).isEqualTo("iree.advanced.devices.one.channel." + property);
                assertThat(failure.getReason()).contains(reason);
            });
        });
    }
}
