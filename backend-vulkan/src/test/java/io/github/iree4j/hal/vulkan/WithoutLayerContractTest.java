package io.github.iree4j.hal.vulkan;

import io.github.iree4j.hal.contract.BackendContract;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * Without the validation layer, as in production. The layer, used by all other tests, makes handles unique, takes time
 * and locks, and so hides everything that depends on these.
 */
@Tag("nightly")
@ExtendWith(NothingWrong.class)
class WithoutLayerContractTest extends BackendContract {
    WithoutLayerContractTest() {
        super(VulkanBackend.withoutLayer());
    }
}
