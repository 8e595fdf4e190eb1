package io.github.iree4j.hal.vulkan;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.nativeaccess.vulkan.VulkanApi;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * After each test class: Khronos's validation layer, if installed, has reported nothing, and no Vulkan object is left
 * except the driver's own.
 */
public final class NothingWrong implements AfterAllCallback {
    @Override
    public void afterAll(ExtensionContext context) {
        if (!VulkanDrivers.isAvailable()) {
            return;
        }
        VulkanDrivers.assertNothingToComplainOf();
        long[] live = VulkanApi.liveObjects();
        for (int i = 1; i < live.length; i++) { // the first are instances
            assertThat(live[i])
                    .as("%s left by %s", VulkanApi.KINDS.get(i), context.getDisplayName())
                    .isZero();
        }
    }
}
