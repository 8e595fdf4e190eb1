package io.github.iree4j.hal.vulkan;

import io.github.iree4j.hal.contract.BackendContract;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(NothingWrong.class)
class VulkanContractTest extends BackendContract {
    VulkanContractTest() {
        super(VulkanBackend.withAllChecks());
    }
}
