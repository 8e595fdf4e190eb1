package io.github.iree4j.hal.vulkan;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.github.iree4j.hal.spi.Availability;
import io.github.iree4j.hal.spi.DeviceOptions;
import io.github.iree4j.hal.stream.StreamDevice;
import io.github.iree4j.hal.stream.StreamDevices;
import io.github.iree4j.nativeaccess.vulkan.VulkanApi;
import io.github.iree4j.nativeaccess.vulkan.VulkanHandle;

/**
 * The Vulkan driver of this machine, for tests; without a driver these are skipped, unless {@code
 * -Diree.require=vulkan} says otherwise.
 */
public final class VulkanDrivers {
    /** With the validation layers, if installed. */
    private static final class OfTests {
        private static final VulkanDriver INSTANCE = new VulkanDriver(null, true);
    }

    /** With synchronization validation, a slower check. The layer reads the variable when an instance is created. */
    private static final class WithAllChecks {
        private static final VulkanDriver INSTANCE;

        static {
            Environment.set("VK_LAYER_ENABLES", "VK_VALIDATION_FEATURE_ENABLE_SYNCHRONIZATION_VALIDATION_EXT");
            INSTANCE = new VulkanDriver(null, true);
            Environment.unset("VK_LAYER_ENABLES");
        }
    }

    /** Without the layers, as in production: layers make handles unique, while drivers reuse them. */
    private static final class WithoutLayer {
        private static final VulkanDriver INSTANCE = new VulkanDriver(null, false);
    }

    private VulkanDrivers() {}

    /** The driver; skips the test when there is none. */
    static VulkanDriver driver() {
        return checked(OfTests.INSTANCE);
    }

    /** The driver with synchronization validation; skips the test when there is none. */
    public static VulkanDriver withAllChecks() {
        return checked(WithAllChecks.INSTANCE);
    }

    /** The driver without validation; skips the test when there is none. */
    public static VulkanDriver withoutLayer() {
        return checked(WithoutLayer.INSTANCE);
    }

    private static VulkanDriver checked(VulkanDriver driver) {
        Availability availability = driver.availability();
        if (System.getProperty("iree.require", "").contains("vulkan")) {
            assertThat(availability).isEqualTo(Availability.AVAILABLE);
        }
        assumeTrue(availability.available(), "no Vulkan: " + availability.reason());
        return driver;
    }

    /** Whether tests run at all. */
    public static boolean isAvailable() {
        return OfTests.INSTANCE.availability().available();
    }

    /** Opens the first device, or the device named by {@code -Diree.vulkan.device}. */
    public static StreamDevice open(DeviceOptions.Builder options) {
        return driver().open(System.getProperty("iree.vulkan.device", "vulkan"), options.build());
    }

    /** The same, with synchronization validation. */
    public static StreamDevice openWithAllChecks(DeviceOptions.Builder options) {
        return withAllChecks().open(System.getProperty("iree.vulkan.device", "vulkan"), options.build());
    }

    /** The same, without validation. */
    public static StreamDevice openWithoutLayer(DeviceOptions.Builder options) {
        return withoutLayer().open(System.getProperty("iree.vulkan.device", "vulkan"), options.build());
    }

    /** The native device of one of these, or of a {@link FakeDriver}. */
    public static VulkanHandle handle(StreamDevice device) {
        return ((VulkanHardware) StreamDevices.driver(device)).handle();
    }

    /** Fails when validation has reported anything since the last call. */
    public static void assertNothingToComplainOf() {
        assertThat(driver().takeValidationMessages())
                .as("messages of the validation layers")
                .isEmpty();
        assertThat(withAllChecks().takeValidationMessages())
                .as("messages of the validation layers, with synchronization")
                .isEmpty();
    }

    /** Fails unless a closed device has left nothing behind. */
    public static void assertNothingLeft(StreamDevice closed) {
        long[] counts = VulkanDrivers.handle(closed).liveObjects();
        for (int i = 0; i < counts.length; i++) {
            assertThat(counts[i]).as(VulkanApi.KINDS.get(i)).isZero();
        }
    }
}
