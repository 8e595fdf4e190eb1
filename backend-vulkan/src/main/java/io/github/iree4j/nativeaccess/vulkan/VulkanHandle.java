package io.github.iree4j.nativeaccess.vulkan;

import io.github.iree4j.lifetime.Resource;
import io.github.iree4j.lifetime.UseGuard;
import io.github.iree4j.nativeaccess.NativeScratch;
import io.github.iree4j.status.DeviceLost;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.ref.Reference;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.function.LongFunction;
import org.jspecify.annotations.Nullable;

/**
 * An open Vulkan device. Safe from any thread; submissions to the same queue are serialized.
 *
 * <p>The device's objects hold references to the device: the device is destroyed when the device and the last object
 * are closed, after waiting until the device is idle. A lost device stays lost, and each call needing the device throws
 * ABORTED; closing still works.
 */
public final class VulkanHandle extends Resource {
    /** Result of {@link #waitAny}: a timeline reached the timeline's value. */
    public static final int REACHED = 0;
    /** Result of {@link #waitAny}: the timeout expired. */
    public static final int TIMED_OUT = 1;

    /** Flag of {@link #allocate} and {@link #createTimeline(long, int)}: the object can be exported. */
    public static final int EXPORTABLE = VulkanShim.EXPORTABLE;

    private static final int KINDS = VulkanApi.KINDS.size();

    final NativeScratch.Pool scratch;
    private final VulkanDeviceProperties properties;
    private final List<Integer> queueFamilies;
    private final long handle;
    private final long features;
    private final UseGuard guard;
    private volatile long @Nullable [] lastCounts;
    private volatile boolean wasLost;

    /** Takes ownership of the native device and of a reference to the library. */
    VulkanHandle(VulkanApi api, VulkanDeviceProperties properties, VulkanDeviceRequest request, long handle) {
        this.properties = properties;
        this.scratch = new NativeScratch.Pool(
                status -> status == StatusCode.ABORTED.number() ? new DeviceLost(properties.name()) : null);
        this.queueFamilies = request.queueFamilies();
        this.handle = handle;
        this.features = VulkanShim.deviceFeatures(handle);
        this.guard = UseGuard.of(this::describe, () -> {
            long[] counts = readCounts();
            counts[VulkanApi.KINDS.indexOf("DEVICES")] = 0;
            wasLost = VulkanShim.deviceIsLost(handle) != 0;
            lastCounts = counts;
            VulkanShim.deviceRelease(handle);
            api.release();
        });
    }

    /**
     * Returns the properties of the device.
     *
     * @return the properties
     */
    public VulkanDeviceProperties properties() {
        return properties;
    }

    /**
     * Returns the enabled features.
     *
     * @return bits of {@link VulkanFeature}
     */
    public long features() {
        return features;
    }

    /**
     * Returns whether a feature was enabled.
     *
     * @param feature the feature
     * @return true if the feature can be used
     */
    public boolean has(VulkanFeature feature) {
        return feature.in(features);
    }

    /**
     * Returns the number of queues.
     *
     * @return the number requested
     */
    public int queueCount() {
        return queueFamilies.size();
    }

    /**
     * Returns the family of a queue.
     *
     * @param queue less than {@link #queueCount}
     * @return index into {@link VulkanDeviceProperties#queueFamilies}
     */
    public int queueFamily(int queue) {
        return queueFamilies.get(queue);
    }

    /**
     * Returns whether a call found the device lost.
     *
     * @return permanently true after such a call
     */
    public boolean isLost() {
        if (!guard.tryEnter()) {
            return wasLost;
        }
        try {
            return VulkanShim.deviceIsLost(handle) != 0;
        } finally {
            guard.exit();
        }
    }

    /** A native method creating an object. */
    private interface Creator {
        long create(long device, long error);
    }

    private <T> T create(Creator creator, LongFunction<T> wrap) {
        retain(); // for the object
        NativeScratch call = scratch.take();
        long object = 0;
        try {
            object = creator.create(handle, call.error.address());
            if (object == 0) {
                throw call.error.toException();
            }
        } finally {
            scratch.give(call);
            if (object == 0) {
                release();
            }
        }
        return wrap.apply(object);
    }

    /**
     * Allocates memory, with a single buffer over all bytes for all usages of this runtime.
     *
     * @param size bytes, more than 0
     * @param memoryType index into {@link VulkanDeviceProperties#memoryTypes}
     * @param flags 0 or {@link #EXPORTABLE}
     * @return the memory; the caller closes it
     * @throws IreeException RESOURCE_EXHAUSTED beyond a limit or out of memory; INVALID_ARGUMENT for a type without
     *     support for buffers; OUT_OF_RANGE for an unknown type; UNIMPLEMENTED for an export unsupported by the device
     */
    public VulkanAllocation allocate(long size, int memoryType, int flags) {
        return create(
                (device, error) -> VulkanShim.memoryCreate(device, size, memoryType, flags, error),
                object -> new VulkanAllocation(this, object));
    }

    /**
     * Imports host memory for use in place. The memory must outlive the result.
     *
     * @param address a multiple of {@link VulkanLimits#minImportedHostPointerAlignment}
     * @param size bytes, also such a multiple
     * @return a view of the memory; the caller closes it
     * @throws IreeException UNIMPLEMENTED without {@link VulkanFeature#EXTERNAL_MEMORY_HOST}; INVALID_ARGUMENT for
     *     memory of an unsupported kind or alignment
     */
    public VulkanAllocation importHost(long address, long size) {
        return create(
                (device, error) -> VulkanShim.memoryImportHost(device, address, size, error),
                object -> new VulkanAllocation(this, object));
    }

    /**
     * Imports memory exported by {@link VulkanAllocation#exportDescriptor}.
     *
     * @param descriptor the file descriptor; owned by the driver after a return, by the caller after an exception
     * @param size bytes, as at creation
     * @param memoryType memory type, as at creation
     * @return the same memory; the caller closes it
     * @throws IreeException UNIMPLEMENTED without {@link VulkanFeature#EXTERNAL_MEMORY_FD}; INVALID_ARGUMENT for a
     *     descriptor of another kind
     */
    public VulkanAllocation importDescriptor(int descriptor, long size, int memoryType) {
        return create(
                (device, error) -> VulkanShim.memoryImportFd(device, descriptor, size, memoryType, error),
                object -> new VulkanAllocation(this, object));
    }

    /**
     * Creates a timeline.
     *
     * @param initial the initial value
     * @return the timeline; the caller closes it
     */
    public VulkanTimeline createTimeline(long initial) {
        return createTimeline(initial, 0);
    }

    /**
     * Creates a timeline.
     *
     * @param initial the initial value
     * @param flags 0 or {@link #EXPORTABLE}
     * @return the timeline; the caller closes it
     * @throws IreeException UNIMPLEMENTED for an export unsupported by the device, naming the extension
     */
    public VulkanTimeline createTimeline(long initial, int flags) {
        return create(
                (device, error) -> VulkanShim.timelineCreate(device, initial, flags, error),
                object -> new VulkanTimeline(this, object));
    }

    /**
     * Blocks until any of several timelines reaches its value or the timeout expires. A timeline closed meanwhile is
     * destroyed when this returns.
     *
     * @param timelines timelines of this device
     * @param values a value for each
     * @param count the number of elements of both arrays to use, at least 1
     * @param timeoutNanos the longest wait; negative is forever
     * @return {@link #REACHED} or {@link #TIMED_OUT}
     * @throws IreeException ABORTED when the device is lost; FAILED_PRECONDITION when the device or a timeline is
     *     closed, or on a virtual thread, because the wait would block the carrier; OUT_OF_RANGE for a count below 1,
     *     above the lengths of the arrays, or above 65536
     */
    public int waitAny(VulkanTimeline[] timelines, long[] values, int count, long timeoutNanos) {
        if (Thread.currentThread().isVirtual()) {
            throw IreeException.of(
                    StatusCode.FAILED_PRECONDITION,
                    "a virtual thread may not wait for timelines; use a platform thread");
        }
        if (count < 1 || count > timelines.length || count > values.length) {
            throw IreeException.of(
                    StatusCode.OUT_OF_RANGE,
                    "%d timelines to wait for, of %d with %d values".formatted(count, timelines.length, values.length));
        }
        guard.enter();
        int entered = 0;
        NativeScratch call = scratch.take();
        try {
            while (entered < count) {
                timelines[entered].guard.enter();
                entered++;
            }
            return wait(call, timelines, values, count, timeoutNanos);
        } finally {
            scratch.give(call);
            while (entered > 0) {
                timelines[--entered].guard.exit();
            }
            guard.exit();
        }
    }

    private int wait(NativeScratch call, VulkanTimeline[] timelines, long[] values, int count, long timeoutNanos) {
        long bytes = 2L * count * Long.BYTES;
        MemorySegment words =
                bytes <= NativeScratch.SIZE ? call.memory : Arena.ofAuto().allocate(bytes, 8);
        for (int i = 0; i < count; i++) {
            words.setAtIndex(ValueLayout.JAVA_LONG, i, timelines[i].handle);
            words.setAtIndex(ValueLayout.JAVA_LONG, (long) count + i, values[i]);
        }
        int status = VulkanShim.waitAny(handle, words.address(), count, timeoutNanos, call.error.address());
        Reference.reachabilityFence(words);
        if (status == StatusCode.DEADLINE_EXCEEDED.number()) {
            return TIMED_OUT;
        }
        call.check(status);
        return REACHED;
    }

    /**
     * Creates a cache of compiled pipelines.
     *
     * @param data the result of {@link VulkanPipelineCache#data}, or null for an empty cache
     * @return the cache; the caller closes it
     * @throws IreeException INCOMPATIBLE when the data is damaged or from another device or driver
     */
    public VulkanPipelineCache createPipelineCache(byte @Nullable [] data) {
        try (Arena arena = Arena.ofConfined()) {
            int size = data == null ? 0 : data.length;
            MemorySegment copy = arena.allocate(size + 1L, 8);
            if (data != null) {
                MemorySegment.copy(data, 0, copy, ValueLayout.JAVA_BYTE, 0, size);
            }
            return create(
                    (device, error) -> VulkanShim.pipelineCacheCreate(device, copy.address(), size, error),
                    object -> new VulkanPipelineCache(this, object));
        }
    }

    /**
     * Compiles a function of a SPIR-V module. Only the module's header is checked: drivers do not validate code.
     *
     * @param spirv the module; copied, may be heap memory
     * @param entryPoint name of the function
     * @param layout the pipeline's layout
     * @param specialization element i is specialization constant i
     * @param subgroupSize the required subgroup size, or 0
     * @param cache the cache to use, or null
     * @return the pipeline; the caller closes it
     * @throws IreeException INVALID_ARGUMENT for code other than SPIR-V or an inconsistent layout; OUT_OF_RANGE beyond
     *     a limit; UNIMPLEMENTED for push descriptors or a subgroup size unsupported by the device; the driver's error
     *     otherwise
     */
    public VulkanPipeline createPipeline(
            MemorySegment spirv,
            String entryPoint,
            VulkanLayout layout,
            int[] specialization,
            int subgroupSize,
            @Nullable VulkanPipelineCache cache) {
        if (cache != null) {
            cache.guard.enter();
        }
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment code = arena.allocate(spirv.byteSize() + 4, 8);
            MemorySegment.copy(spirv, 0, code, 0, spirv.byteSize());
            MemorySegment name = arena.allocateFrom(entryPoint, StandardCharsets.UTF_8);
            MemorySegment words = layout.words(arena);
            MemorySegment constants = arena.allocate(4L * specialization.length + 4, 4);
            MemorySegment.copy(specialization, 0, constants, ValueLayout.JAVA_INT, 0, specialization.length);
            MemorySegment params = arena.allocate(VulkanShim.PIPELINE_PARAMS_SIZE, 8);
            params.set(ValueLayout.JAVA_LONG, 0, code.address());
            params.set(ValueLayout.JAVA_LONG, 8, spirv.byteSize());
            params.set(ValueLayout.JAVA_LONG, 16, name.address());
            params.set(ValueLayout.JAVA_LONG, 24, words.address());
            params.set(ValueLayout.JAVA_LONG, 32, words.byteSize() / Long.BYTES);
            params.set(ValueLayout.JAVA_INT, 40, layout.pushConstantBytes());
            params.set(ValueLayout.JAVA_INT, 44, layout.pushDescriptors() ? 1 : 0);
            params.set(ValueLayout.JAVA_LONG, 48, constants.address());
            params.set(ValueLayout.JAVA_INT, 56, specialization.length);
            params.set(ValueLayout.JAVA_INT, 60, subgroupSize);
            params.set(ValueLayout.JAVA_LONG, 64, cache == null ? 0 : cache.handle);
            return create(
                    (device, error) -> VulkanShim.pipelineCreate(device, params.address(), error),
                    object -> new VulkanPipeline(this, object));
        } finally {
            if (cache != null) {
                cache.guard.exit();
            }
        }
    }

    /**
     * Creates commands without a recording.
     *
     * @param family the queue family of an opened queue
     * @return the commands; the caller closes it
     * @throws IreeException OUT_OF_RANGE for another family
     */
    public VulkanCommands createCommands(int family) {
        return create(
                (device, error) -> VulkanShim.commandsCreate(device, family, error),
                object -> new VulkanCommands(this, object, family));
    }

    /**
     * Submits commands, in a single driver call. Objects named in the words must stay open until the work has
     * completed; waits may precede the matching signals on other queues.
     *
     * @param queue less than {@link #queueCount}
     * @param words one or more consecutive submissions: numbers of waits, signals and commands; then (timeline, value)
     *     for each wait and each signal; then the commands. Native memory, used in full; read during the call only
     * @throws IreeException INVALID_ARGUMENT for malformed words; FAILED_PRECONDITION for commands without a recording
     *     or when closed; ABORTED when the device is lost; RESOURCE_EXHAUSTED
     */
    public void submit(int queue, MemorySegment words) {
        long count = words.byteSize() / Long.BYTES;
        VulkanCommands.checkWords(words, count);
        guard.enter();
        NativeScratch call = scratch.take();
        try {
            call.check(VulkanShim.submit(handle, queue, words.address(), count, call.error.address()));
        } finally {
            scratch.give(call);
            guard.exit();
            Reference.reachabilityFence(words);
        }
    }

    /**
     * Returns how many objects of each kind this device has, in the order of {@link VulkanApi#KINDS}.
     *
     * @return the counts; for a destroyed device the leaked objects
     */
    public long[] liveObjects() {
        if (guard.tryEnter()) {
            try {
                return readCounts();
            } finally {
                guard.exit();
            }
        }
        long[] counts = lastCounts;
        return counts == null ? new long[KINDS] : counts.clone();
    }

    private long[] readCounts() {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment out = arena.allocate(ValueLayout.JAVA_LONG, KINDS);
            VulkanShim.deviceLiveObjects(handle, out.address());
            return out.toArray(ValueLayout.JAVA_LONG);
        }
    }

    @Override
    protected String describe() {
        return "device '" + properties.name() + "'";
    }

    @Override
    protected void destroy() {
        guard.close();
    }
}
