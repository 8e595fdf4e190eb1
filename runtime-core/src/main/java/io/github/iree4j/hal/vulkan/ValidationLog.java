package io.github.iree4j.hal.vulkan;

import io.github.iree4j.nativeaccess.VulkanApi;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Brings what validation complains of to the log, with what was being done. Nothing without validation. Safe from any thread: of several that
 * look at once one has the message, so it may be another's.
 */
final class ValidationLog {
    private static final Logger LOG = LoggerFactory.getLogger(ValidationLog.class);

    private final VulkanApi api;
    private final boolean checking;
    private volatile long seen; // written under the lock

    /** Says so in the log when checks were asked for that there will not be. */
    ValidationLog(VulkanApi api, boolean wanted) {
        this.api = api;
        this.checking = api.collectsMessages();
        if (wanted && !api.validates()) {
            LOG.warn("Vulkan is not checked although iree4j.vulkan.validation asks for it: the layer"
                    + " VK_LAYER_KHRONOS_validation is not there; install the package vulkan-validationlayers");
        } else if (wanted && !checking) {
            LOG.warn("what the Vulkan validation layer finds does not get here, since VK_EXT_debug_utils is not there;"
                    + " look at what the process writes on standard output");
        }
    }

    /**
     * Looks whether there are new messages.
     *
     * @param doing what has just been done
     * @param operation its name, or of what it was done for
     */
    void look(String doing, String operation) {
        if (checking && api.validationMessages() > seen) {
            tell(doing, operation);
        }
    }

    private synchronized void tell(String doing, String operation) {
        List<String> last = api.lastValidationMessages();
        long all = api.validationMessages();
        int recent = (int) Math.min(all - seen, last.size());
        seen = all;
        for (String message : last.subList(last.size() - recent, last.size())) {
            LOG.error("Vulkan validation, {} {}: {}", doing, operation, message);
        }
    }
}
