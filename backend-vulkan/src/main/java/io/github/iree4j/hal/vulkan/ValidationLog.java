package io.github.iree4j.hal.vulkan;

import io.github.iree4j.nativeaccess.vulkan.VulkanApi;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Logs the messages of the validation layer, with the preceding call. Without validation the log does nothing. Safe
 * from any thread: with several polling threads a message goes to a single thread, perhaps for the call of another
 * thread.
 */
final class ValidationLog {
    private static final Logger LOG = LoggerFactory.getLogger(ValidationLog.class);

    private final VulkanApi api;
    private final boolean checking;
    private volatile long seen; // written under the lock

    /** Logs a warning when requested checks are unavailable. */
    ValidationLog(VulkanApi api, boolean wanted) {
        this.api = api;
        this.checking = api.collectsMessages();
        if (wanted && !api.validates()) {
            LOG.warn("Vulkan is not checked although iree4j.vulkan.validation asks for it: the layer"
                    + " VK_LAYER_KHRONOS_validation is not there; install the package vulkan-validationlayers");
        } else if (wanted && !checking) {
            LOG.warn("messages of the Vulkan validation layer are not logged, since VK_EXT_debug_utils is missing;"
                    + " look at what the process writes on standard output");
        }
    }

    /**
     * Polls for new messages.
     *
     * @param doing the action that has just been performed
     * @param operation the operation's name
     */
    void look(String doing, String operation) {
        if (checking && api.validationMessages() > seen) {
            log(doing, operation);
        }
    }

    private synchronized void log(String doing, String operation) {
        List<String> last = api.lastValidationMessages();
        long all = api.validationMessages();
        int recent = (int) Math.min(all - seen, last.size());
        seen = all;
        for (String message : last.subList(last.size() - recent, last.size())) {
            LOG.error("Vulkan validation, {} {}: {}", doing, operation, message);
        }
    }
}
