package io.github.iree4j.hal.vulkan;

import io.github.iree4j.hal.BindingTable;
import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.CommandBuffer;
import io.github.iree4j.hal.record.RecordedCommandBuffer;
import io.github.iree4j.nativeaccess.VulkanCommands;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/** The operations of a queue that run shaders. */
final class VulkanDispatches {
    private VulkanDispatches() {}

    /** Executes a command buffer. */
    static VulkanOperation execute(VulkanQueue queue, CommandBuffer commands, @Nullable BindingTable bindings) {
        VulkanDevice device = queue.vulkanDevice();
        if (!NativeForms.isOf(device, commands)) {
            throw new IreeException(StatusCode.INVALID_ARGUMENT, "command buffer was not created by " + device);
        }
        return new Execution("execute", queue, (RecordedCommandBuffer) commands, bindings);
    }

    /**
     * Runs one dispatch.
     *
     * @param commands recorded for this; the caller closes it after the submission
     */
    static VulkanOperation dispatch(VulkanQueue queue, RecordedCommandBuffer commands, BindingTable bindings) {
        return new Execution("dispatch", queue, commands, bindings);
    }

    /*
     * VULKAN-5: native commands, and the buffers that they use, are one execution's from its submission until its operation is over and
     * the hardware is done with it, whichever comes last: `holders` counts the two.
     */
    private static final class Execution extends VulkanOperation implements VulkanWork {
        private final int family;
        private final RecordedCommandBuffer commands;
        private final NativeForms forms;
        private @Nullable BindingTable bindings;
        private @Nullable NativeCommands lent; // while it is retained
        private @Nullable VulkanCommands prepared;
        private final AtomicInteger holders = new AtomicInteger(1);

        Execution(String name, VulkanQueue queue, RecordedCommandBuffer commands, @Nullable BindingTable bindings) {
            super(name);
            this.family = queue.family();
            this.commands = commands;
            this.forms = NativeForms.of(commands);
            this.bindings = bindings;
            commands.checkSubmission(bindings);
            for (int slot : commands.recording().slots()) {
                if (bindings != null && bindings.buffer(slot) instanceof Buffer buffer) {
                    VulkanBuffer.usable(forms.device(), "bound buffer", buffer);
                }
            }
            if (commands.recording().dispatches()) {
                queue.checkComputes();
            }
            commands.claimSubmission();
        }

        private boolean isEmpty() {
            return commands.recording().commands().length == 0;
        }

        @Override
        protected void retain() {
            BindingTable own = commands.retainBindings(bindings);
            try {
                lent = isEmpty() ? null : forms.lend(family);
                if (lent != null) {
                    lent.claim(call(), own);
                }
            } catch (RuntimeException e) {
                giveBack();
                commands.releaseBindings(own);
                throw e;
            }
            bindings = own;
        }

        private void giveBack() {
            NativeCommands own = lent;
            if (own != null) {
                lent = null;
                own.over();
                forms.giveBack(own);
            }
        }

        private NativeCommands lent() {
            NativeCommands own = lent;
            if (own == null) {
                throw new IllegalStateException("execution is issued without being retained");
            }
            return own;
        }

        @Override
        protected void placed() {
            if (!isEmpty()) {
                lent().resolve(this, bindings);
            }
        }

        @Override
        @Nullable
        VulkanWork prepare() {
            IreeException cause = stopCause();
            if (cause != null) {
                throw cause;
            }
            if (isEmpty()) {
                return null;
            }
            prepared = lent().prepare(name());
            holders.incrementAndGet();
            return this;
        }

        @Override
        public VulkanCommands commands() {
            VulkanCommands ready = prepared;
            if (ready == null) {
                throw new IllegalStateException("execution is submitted without being prepared");
            }
            return ready;
        }

        @Override
        public void over() {
            drop();
        }

        @Override
        protected void release() {
            drop();
        }

        private void drop() {
            if (holders.decrementAndGet() != 0) {
                return;
            }
            giveBack();
            commands.releaseBindings(bindings);
        }
    }
}
