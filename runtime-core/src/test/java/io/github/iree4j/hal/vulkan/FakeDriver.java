package io.github.iree4j.hal.vulkan;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.hal.spi.DeviceOptions;
import io.github.iree4j.nativeaccess.FakeVulkan;
import java.nio.file.Path;

/** A driver over a Vulkan library without hardware. */
record FakeDriver(FakeVulkan library, VulkanDriver driver) {

    /** With settings and state of its own, see {@link FakeVulkan}. */
    static FakeDriver in(Path directory, String settings) {
        FakeVulkan library = FakeVulkan.in(directory, settings);
        VulkanDriver driver = new VulkanDriver(library.library(), true);
        assertThat(driver.availability().reason()).isNull();
        return new FakeDriver(library, driver);
    }

    VulkanDevice open(DeviceOptions.Builder options) {
        return driver.open("vulkan", options.build());
    }

    void assertNothingToComplainOf() {
        assertThat(driver.takeValidationMessages()).as("misuse").isEmpty();
    }
}
