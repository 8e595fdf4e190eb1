package io.github.iree4j.modules.hal;

import io.github.iree4j.async.Fence;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.hal.Allocator;
import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.BufferView;
import io.github.iree4j.hal.Channel;
import io.github.iree4j.hal.CommandBuffer;
import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.Executable;
import io.github.iree4j.hal.HalFile;
import io.github.iree4j.vm.VmTypes;

/** The HAL's reference types in programs. */
public final class HalTypes {
    private HalTypes() {}

    /**
     * Adds the HAL's types.
     *
     * @param types the types so far
     * @return these types and the HAL's
     */
    public static VmTypes register(VmTypes types) {
        return types.with("hal.allocator", Allocator.class)
                .with("hal.buffer", Buffer.class)
                .with("hal.buffer_view", BufferView.class)
                .with("hal.channel", Channel.class)
                .with("hal.command_buffer", CommandBuffer.class)
                .with("hal.descriptor_set_layout", DescriptorSetLayout.class)
                .with("hal.device", Device.class)
                .with("hal.event", Event.class)
                .with("hal.executable", Executable.class)
                .with("hal.fence", Fence.class)
                .with("hal.file", HalFile.class)
                .with("hal.pipeline_layout", PipelineLayout.class)
                .with("hal.semaphore", TimelineSemaphore.class);
    }

    /** Stands for events in type tables; programs name the type but never create an event. */
    static final class Event {
        private Event() {}
    }
}
