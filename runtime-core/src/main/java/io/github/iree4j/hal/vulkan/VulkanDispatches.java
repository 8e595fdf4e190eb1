package io.github.iree4j.hal.vulkan;

import io.github.iree4j.hal.BindingTable;
import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.BufferRef;
import io.github.iree4j.hal.CommandBuffer;
import io.github.iree4j.hal.DispatchConfig;
import io.github.iree4j.hal.Executable;
import io.github.iree4j.nativeaccess.VulkanCommands;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/** The operations of a queue that run shaders. */
final class VulkanDispatches {
    private VulkanDispatches() {}

    /** Executes a command buffer. */
    static VulkanOperation execute(VulkanQueue queue, CommandBuffer commands, @Nullable BindingTable bindings) {
        if (!(commands instanceof VulkanCommandBuffer own) || own.device() != queue.vulkanDevice()) {
            throw new IreeException(
                    StatusCode.INVALID_ARGUMENT, "command buffer was not created by " + queue.vulkanDevice());
        }
        return new Execution("execute", queue, own, bindings);
    }

    /**
     * Runs one dispatch.
     *
     * @param commands made for this, not recorded yet; the caller closes it after the submission
     */
    static VulkanOperation dispatch(
            VulkanQueue queue,
            VulkanCommandBuffer commands,
            Executable executable,
            int export,
            DispatchConfig config,
            int[] constants,
            BindingTable bindings,
            long flags) {
        queue.checkComputes();
        List<BufferRef> refs = new ArrayList<>(bindings.size());
        for (int i = 0; i < bindings.size(); i++) {
            refs.add(BufferRef.slot(i, 0, Buffer.WHOLE));
        }
        commands.dispatch(executable, export, config, constants, refs, flags);
        commands.finish();
        return new Execution("dispatch", queue, commands, bindings);
    }

    /** A command buffer of one command. */
    static VulkanCommandBuffer forDispatch(VulkanDevice device, BindingTable bindings) {
        return new VulkanCommandBuffer(device, CommandBuffer.ONE_SHOT, CommandBuffer.DISPATCH, bindings.size());
    }

    /*
     * VULKAN-5: native commands, and the buffers that they use, are one execution's from its submission until its operation is over and
     * the hardware is done with it, whichever comes last: `holders` counts the two.
     */
    private static final class Execution extends VulkanOperation implements VulkanWork {
        private final int family;
        private final VulkanCommandBuffer commands;
        private @Nullable BindingTable bindings;
        private @Nullable NativeCommands lent; // while it is retained
        private @Nullable VulkanCommands prepared;
        private final AtomicInteger holders = new AtomicInteger(1);

        Execution(String name, VulkanQueue queue, VulkanCommandBuffer commands, @Nullable BindingTable bindings) {
            super(name);
            this.family = queue.family();
            this.commands = commands;
            this.bindings = bindings;
            commands.checkSubmission(bindings);
            for (int slot : commands.recording().slots()) {
                if (bindings != null && bindings.buffer(slot) instanceof Buffer buffer) {
                    VulkanBuffer.usable(commands.device(), "bound buffer", buffer);
                }
            }
            if (commands.recording().kernels().length > 0) {
                queue.checkComputes();
            }
            commands.claimSubmission();
        }

        private boolean isEmpty() {
            return commands.recording().commands().length == 0;
        }

        @Override
        protected void retain() {
            commands.retain();
            BindingTable table = bindings == null ? null : bindings.copy();
            int retained = 0;
            try {
                for (int slot : commands.recording().slots()) {
                    if (table != null && table.buffer(slot) instanceof Buffer buffer) {
                        buffer.retain();
                    }
                    retained++;
                }
                lent = isEmpty() ? null : commands.lend(family);
                if (lent != null) {
                    lent.claim(call(), table);
                }
            } catch (RuntimeException e) {
                if (lent != null) {
                    lent.over();
                    commands.giveBack(lent);
                    lent = null;
                }
                release(table, retained);
                commands.release();
                throw e;
            }
            bindings = table;
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
            NativeCommands own = lent;
            if (own != null) {
                lent = null;
                own.over();
                commands.giveBack(own);
            }
            if (bindings != null) {
                release(bindings, commands.recording().slots().length);
            }
            commands.release();
        }

        private void release(@Nullable BindingTable table, int count) {
            for (int i = 0; i < count; i++) {
                if (table != null && table.buffer(commands.recording().slots()[i]) instanceof Buffer buffer) {
                    buffer.release();
                }
            }
        }
    }
}
