package io.github.iree4j;

import io.github.iree4j.vm.VmModule;
import io.github.iree4j.vm.bytecode.BytecodeModule;
import java.util.List;
import java.util.Set;
import org.slf4j.LoggerFactory;

/**
 * A compiler bug: programs that use a buffer after its {@code hal.device.queue.dealloca}.
 *
 * <dl>
 *   <dt>Releases
 *   <dd>3.11.0, for loops on the host with tensors as values ({@code scf.while}); not in 3.10.0 and 3.12.0.
 *   <dt>Recognised
 *   <dd>when a module is loaded, by following references through registers ({@link BytecodeModule#usesAfter}).
 *   <dt>Workaround
 *   <dd>in such a program deallocations only have their place in the order of the queue; the last reference frees a buffer. IREE's
 *       runtime does the same for all programs on the CPU. Other programs keep the release in queue order.
 *   <dt>Fixture
 *   <dd>{@code 3.11.0/cpu/while_tensor.vmfb}, and the VMVX and Vulkan counterparts.
 * </dl>
 */
final class UseAfterDealloca {
    private static final String DEALLOCA = "hal.device.queue.dealloca";
    private static final int BUFFER = 3; // after the device and two fences
    private static final Set<String> VIEWS =
            Set.of("hal.buffer.subspan", "hal.buffer_view.create", "hal.buffer_view.buffer");

    private UseAfterDealloca() {}

    /** Returns whether a module of a program has this fault, and logs the finding. */
    static boolean isIn(List<VmModule> modules) {
        boolean any = false;
        for (VmModule module : modules) {
            if (module instanceof BytecodeModule compiled && compiled.usesAfter(DEALLOCA, BUFFER, VIEWS)) {
                LoggerFactory.getLogger(UseAfterDealloca.class)
                        .info(
                                "module '{}' uses buffers after it has deallocated them, a fault of iree-compile 3.11.0: their memory lives until nothing refers to them; compile it with 3.12 or later for release in queue order",
                                module.name());
                any = true;
            }
        }
        return any;
    }
}
