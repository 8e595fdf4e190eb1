package io.github.iree4j.hal.vulkan;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.hal.spi.Availability;
import org.junit.jupiter.api.Assumptions;

/** The driver used by runtimes, for tests of other packages. Tests run with the validation layers, if installed. */
public final class VulkanOfProcess {
    private VulkanOfProcess() {}

    /**
     * Skips the test where Vulkan is unavailable, with the reason, and discards earlier validation messages; fails
     * under {@code -Diree.require=vulkan}.
     */
    public static void assume() {
        Availability vulkan = VulkanDriver.ofProcess().availability();
        if (!vulkan.available()) {
            assertThat(System.getProperty("iree.require", ""))
                    .as(vulkan.reason())
                    .doesNotContain("vulkan");
            Assumptions.abort("no Vulkan: " + vulkan.reason());
        }
        VulkanDriver.ofProcess().takeValidationMessages(); // messages of other tests
    }

    /** Fails when validation has reported anything since the last call of this or {@link #assume}. */
    public static void assertNothingToComplainOf() {
        assertThat(VulkanDriver.ofProcess().takeValidationMessages())
                .as("messages of the validation layers")
                .isEmpty();
    }
}
