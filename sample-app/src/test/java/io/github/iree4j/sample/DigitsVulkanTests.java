package io.github.iree4j.sample;

import io.github.iree4j.spring.test.EnabledIfIreeDriver;

/** The digits program on Vulkan. */
@EnabledIfIreeDriver("vulkan")
class DigitsVulkanTests extends DigitsOnDeviceTests {
    DigitsVulkanTests() {
        super("vulkan", "vulkan-spirv-fb");
    }
}
