package io.github.iree4j.nativeaccess.gpu;

import io.github.iree4j.nativeaccess.NativeLibrary;

/**
 * The native methods for CUDA and HIP. The methods only convert arguments: an address is native memory kept alive by the caller for
 * the call, a handle is the result of a {@code create} or {@code open}. Callers validate all arguments. May only be used
 * after {@link NativeLibrary#bind}. In the order of {@code jni_gpu.c}; documented in {@code shim_gpu.h}.
 */
final class GpuShim {
    static final int DEVICE_INFO_SIZE = 256 + 16 + 8 + 16 * 4;

    private GpuShim() {}

    static native int kindName(int kind, long out, int capacity);

    static native long open(int kind, long name, long error);

    static native void close(long api);

    static native int version(long api);

    static native int deviceCount(long api);

    static native int deviceQuery(long api, int index, long out, long size, long error);

    static native long deviceOpen(long api, int index, long error);

    static native void deviceRelease(long device);

    static native int deviceIsLost(long device);

    static native int deviceReach(long device, long other, long error);

    static native void deviceLiveObjects(long device, long out);

    static native int memoryAllocate(long device, long size, int managed, long out, long error);

    static native int memoryFree(long device, long address, int managed, long error);

    static native int memoryAvailable(long device, long out, long error);

    static native int memoryCheck(long device, long address, long size, long error);

    static native int hostAllocate(long device, long size, long out, long error);

    static native void hostFree(long device, long host);

    static native int hostRegister(long device, long host, long size, int readOnly, long out, long error);

    static native void hostUnregister(long device, long host);

    static native int moduleLoad(long device, long image, long log, long logSize, long out, long error);

    static native int link(long device, long text, long size, long out, long error);

    static native void linkRelease(long device, long link);

    static native void moduleUnload(long device, long module);

    static native int moduleFunction(long device, long module, long name, int shared, long out, long error);

    static native int streamCreate(long device, long out, long error);

    /** May block. */
    static native void streamRelease(long device, long stream);

    static native int eventCreate(long device, long out, long error);

    static native void eventRelease(long device, long event);

    /** May block. */
    static native int eventWait(long device, long event, long spinNanos, long error);

    static native int eventQuery(long device, long event, long out, long error);

    /** May block. */
    static native int run(long device, long stream, long words, long count, long error);

    static native int graphMake(
            long device, long branches, long branchCount, long words, long count, long graph, long error);

    static native void graphRelease(long device, long graph);

    static native long commOpen(int kind, long name, long error);

    static native int commUniqueId(long library, long out, long error);

    static native int commJoin(long library, long device, long id, int rank, int count, long out, long error);

    static native int commState(long library, long device, long comm, long out, long error);

    static native int commFinalize(long library, long device, long comm, long error);

    static native void commEnd(long library, long device, long comm, int aborts);

    static native int commRun(long library, long calls, long count, long error);
}
