package io.example.threads;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.spi.Availability;
import io.github.iree4j.hal.spi.DeviceOptions;
import io.github.iree4j.hal.spi.DriverProvider;
import java.util.ServiceLoader;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class ThreadDriverTest {
    @Test
    void aServiceOpensTheDeviceByName() {
        DriverProvider provider = ServiceLoader.load(DriverProvider.class).stream()
                .map(ServiceLoader.Provider::get)
                .filter(ThreadDriverProvider.class::isInstance)
                .findAny()
                .orElseThrow();
        assertThat(provider.availability()).isEqualTo(Availability.AVAILABLE);
        try (Device device = provider.open("threads", DeviceOptions.DEFAULTS)) {
            assertThat(device.info()).isEqualTo(provider.devices().getFirst());
        }
        assertThatThrownBy(() -> provider.open("threads:7", DeviceOptions.DEFAULTS))
                .hasMessageContaining("has no device 'threads:7'");
    }

    /** The device frees everything taken for lost. */
    @Test
    void isLostOnceNoLaneRunsAnything() {
        Clock clock = new Clock();
        synchronized (clock) {
            assertThat(clock.begin()).isTrue();
            assertThat(clock.begin()).isTrue();
            clock.end(new IllegalStateException("a kernel failed"));
            assertThat(clock.isLost()).as("lost while another lane runs").isFalse();
            assertThat(clock.begin()).as("begins after a failure").isFalse();
            clock.end(null);
            assertThat(clock.isLost()).isTrue();
        }
    }
}
