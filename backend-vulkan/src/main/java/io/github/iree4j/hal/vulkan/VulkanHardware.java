package io.github.iree4j.hal.vulkan;

import io.github.iree4j.hal.Executable;
import io.github.iree4j.hal.ExecutableParams;
import io.github.iree4j.hal.spi.DeviceOptions;
import io.github.iree4j.hal.stream.DriverLimits;
import io.github.iree4j.hal.stream.DriverMemory;
import io.github.iree4j.hal.stream.DriverTimeline;
import io.github.iree4j.hal.stream.Lane;
import io.github.iree4j.hal.stream.MemoryKind;
import io.github.iree4j.hal.stream.MemoryKinds;
import io.github.iree4j.hal.stream.StreamDriver;
import io.github.iree4j.hal.stream.StreamEncoder;
import io.github.iree4j.hal.stream.StreamMemory;
import io.github.iree4j.nativeaccess.vulkan.VulkanAllocation;
import io.github.iree4j.nativeaccess.vulkan.VulkanFeature;
import io.github.iree4j.nativeaccess.vulkan.VulkanHandle;
import io.github.iree4j.nativeaccess.vulkan.VulkanLimits;
import io.github.iree4j.nativeaccess.vulkan.VulkanTimeline;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A device of the Vulkan library. */
final class VulkanHardware implements StreamDriver {
    private final String id;
    private final VulkanHandle handle;
    private final ValidationLog messages;
    private final MemoryKinds kinds;
    private final DriverLimits limits;
    private final VulkanCode code;
    private final List<VulkanLane> lanes = new ArrayList<>();
    private VulkanTimeline[] waited = new VulkanTimeline[4]; // scratch of the waiting thread

    /**
     * Wraps an open device.
     *
     * @param id name for messages
     * @param handle ownership passes to this object unless the call throws
     * @param messages log of validation messages
     */
    VulkanHardware(String id, VulkanHandle handle, DeviceOptions options, ValidationLog messages) {
        this.id = id;
        this.handle = handle;
        this.messages = messages;
        this.kinds = VulkanMemoryKinds.choose(handle.properties());
        VulkanLimits own = handle.properties().limits();
        this.limits = new DriverLimits(
                Math.max(own.minStorageBufferOffsetAlignment(), own.nonCoherentAtomSize()),
                own.maxMemoryAllocationSize() <= 0 ? Long.MAX_VALUE : own.maxMemoryAllocationSize(),
                own.maxMemoryAllocationCount(),
                own.minImportedHostPointerAlignment());
        this.code = new VulkanCode(handle, PipelineCacheFile.configured(options));
        boolean made = false;
        try {
            for (int i = 0; i < handle.queueCount(); i++) {
                lanes.add(new VulkanLane(handle, i, messages));
            }
            made = true;
        } finally {
            if (!made) {
                lanes.forEach(VulkanLane::close);
                code.close();
            }
        }
    }

    /** Returns the native device, borrowed. */
    VulkanHandle handle() {
        return handle;
    }

    @Override
    public List<Lane> lanes() {
        return List.copyOf(lanes);
    }

    @Override
    public DriverTimeline createTimeline(long value, boolean shared) {
        return new NativeTimeline(handle.createTimeline(value, shared ? VulkanHandle.EXPORTABLE : 0));
    }

    @Override
    public void awaitAny(DriverTimeline[] timelines, long[] values, int count, long timeoutNanos) {
        if (waited.length < count) {
            waited = new VulkanTimeline[count * 2];
        }
        for (int i = 0; i < count; i++) {
            waited[i] = ((NativeTimeline) timelines[i]).timeline();
        }
        handle.waitAny(waited, values, count, timeoutNanos);
    }

    @Override
    public boolean isLost() {
        return handle.isLost();
    }

    @Override
    public MemoryKinds memoryKinds() {
        return kinds;
    }

    @Override
    public DriverLimits limits() {
        return limits;
    }

    @Override
    public String identity() {
        return handle.properties().deviceUuid();
    }

    @Override
    public DriverMemory allocate(long size, MemoryKind kind, boolean shared) {
        return new NativeMemory(handle.allocate(size, kind.type(), shared ? VulkanHandle.EXPORTABLE : 0));
    }

    @Override
    public @Nullable String hostMemoryObstacle() {
        return handle.has(VulkanFeature.EXTERNAL_MEMORY_HOST) && limits.hostAlignment() > 0
                ? null
                : "its driver has no VK_EXT_external_memory_host";
    }

    @Override
    public DriverMemory importHost(long address, long size, boolean readOnly) {
        return new NativeMemory(handle.importHost(address, size));
    }

    @Override
    public DriverMemory importDescriptor(int descriptor, long size, MemoryKind kind) {
        return new NativeMemory(handle.importDescriptor(descriptor, size, kind.type()));
    }

    @Override
    public void discardDescriptor(int descriptor) {
        VulkanAllocation.closeDescriptor(descriptor);
    }

    @Override
    public List<String> formats() {
        return VulkanExecutable.formats(handle);
    }

    @Override
    public String compileFlags(String format) {
        return "--iree-hal-target-device=vulkan";
    }

    @Override
    public String remedy(String format) {
        return format.equals(VulkanExecutable.ADDRESSES)
                ? "it lacks feature '%s'; compile the program for %s"
                        .formatted(VulkanFeature.BUFFER_DEVICE_ADDRESS.specName(), VulkanExecutable.DESCRIPTORS)
                : "compile the program for Vulkan or choose another device";
    }

    @Override
    public Executable load(ExecutableParams params) {
        try {
            return VulkanExecutable.load(code, params);
        } finally {
            messages.look("loading executables of", params.format());
        }
    }

    @Override
    public StreamEncoder encoder(StreamMemory memory) {
        return new VulkanEncoder(id, code, memory, messages);
    }

    @Override
    public void close() {
        lanes.forEach(VulkanLane::close);
        code.close();
        handle.close(); // open children keep the native device alive
        messages.look("closing", id);
    }
}
