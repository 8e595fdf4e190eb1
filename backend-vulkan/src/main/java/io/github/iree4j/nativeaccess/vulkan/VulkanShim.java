package io.github.iree4j.nativeaccess.vulkan;

import io.github.iree4j.nativeaccess.NativeLibrary;

/**
 * The native methods for Vulkan. The methods only convert arguments: an address is native memory kept alive by the caller for
 * the call, a handle is the result of a {@code create} or {@code open}. Callers validate all arguments. May only be used
 * after {@link NativeLibrary#bind}. In the order of {@code jni_vulkan.c}; documented in {@code shim_vulkan.h}.
 */
final class VulkanShim {
    static final int DEVICE_INFO_SIZE = 164 * 8 + 3 * 256;
    static final int PIPELINE_PARAMS_SIZE = 72;

    static final int VALIDATION = 1;
    static final int DEBUG_UTILS = 2;
    static final int EXPORTABLE = 1;

    private VulkanShim() {}

    static native int featureName(int bit, long out, int capacity);

    static native int kindName(int kind, long out, int capacity);

    static native void liveObjects(long out);

    static native long open(long name, int flags, long error);

    static native void close(long api);

    static native int flags(long api);

    static native int version(long api);

    static native long messageCount(long api);

    static native int message(long api, long number, long out, int capacity);

    static native int deviceCount(long api);

    static native int deviceQuery(long api, int index, long out, long size, long error);

    static native long deviceOpen(long api, int index, long families, int count, long features, long error);

    /** May block. */
    static native void deviceRelease(long device);

    static native long deviceFeatures(long device);

    static native int deviceIsLost(long device);

    static native void deviceLiveObjects(long device, long out);

    static native long memoryCreate(long device, long size, int type, int flags, long error);

    static native long memoryImportHost(long device, long address, long size, long error);

    static native long memoryImportFd(long device, int fd, long size, int type, long error);

    static native void memoryQuery(long memory, long out);

    static native int memoryExport(long memory, long outFd, long error);

    static native void memoryRelease(long memory);

    static native long timelineCreate(long device, long initial, int flags, long error);

    static native void timelineRelease(long timeline);

    static native int timelineValue(long timeline, long out, long error);

    static native int timelineSignal(long timeline, long value, long error);

    static native int timelineExport(long timeline, long outFd, long error);

    static native int timelineImport(long timeline, int fd, long error);

    /** May block. */
    static native int waitAny(long device, long words, int count, long timeoutNanos, long error);

    static native long pipelineCacheCreate(long device, long data, long size, long error);

    static native void pipelineCacheRelease(long cache);

    static native int pipelineCacheData(long cache, long out, long capacity, long outSize, long error);

    static native long pipelineCreate(long device, long params, long error);

    static native void pipelineRelease(long pipeline);

    static native long commandsCreate(long device, int family, long error);

    static native void commandsRelease(long commands);

    static native int commandsRecord(long commands, long words, long count, long error);

    static native int commandsBind(long commands, int ordinal, long words, long count, long error);

    static native int submit(long device, int queue, long words, long count, long error);
}
