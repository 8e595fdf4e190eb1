package io.github.iree4j.nativeaccess.gpu;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.HexFormat;

/**
 * A driver's description of a device: {@code shim_gpu_device_info_t}. Attributes unknown to the driver are 0.
 *
 * @param index number of the device
 * @param name name of the product
 * @param uuid the device's identity in hexadecimal; zeros where the driver has no identity; older drivers of CUDA have
 *     the same identity for all instances (MIG) of a device
 * @param memory bytes
 * @param maxThreads threads of a workgroup
 * @param maxBlockX size of a workgroup
 * @param maxBlockY size of a workgroup
 * @param maxBlockZ size of a workgroup
 * @param maxGridX workgroups of a dispatch
 * @param maxGridY workgroups of a dispatch
 * @param maxGridZ workgroups of a dispatch
 * @param sharedBytes shared memory of a workgroup
 * @param sharedBytesOptIn shared memory of a workgroup for functions requesting more
 * @param warpSize threads running in step
 * @param multiprocessors units running workgroups
 * @param mapsHostMemory whether the device uses memory of the host
 * @param registersHostMemory whether such memory may have been allocated elsewhere; HIP does not report this
 * @param concurrentManagedMemory whether host and device use the same memory at a time; the memory moves as needed
 * @param major major number of the architecture
 * @param minor minor number of the architecture
 */
public record GpuProperties(
        int index,
        String name,
        String uuid,
        long memory,
        int maxThreads,
        int maxBlockX,
        int maxBlockY,
        int maxBlockZ,
        int maxGridX,
        int maxGridY,
        int maxGridZ,
        int sharedBytes,
        int sharedBytesOptIn,
        int warpSize,
        int multiprocessors,
        boolean mapsHostMemory,
        boolean registersHostMemory,
        boolean concurrentManagedMemory,
        int major,
        int minor) {
    private static final int NAME_BYTES = 256;
    private static final int UUID_BYTES = 16;

    static GpuProperties read(int index, MemorySegment info) {
        byte[] uuid = info.asSlice(NAME_BYTES, UUID_BYTES).toArray(ValueLayout.JAVA_BYTE);
        int[] values = info.asSlice(NAME_BYTES + UUID_BYTES + Long.BYTES).toArray(ValueLayout.JAVA_INT);
        return new GpuProperties(
                index,
                info.getString(0),
                HexFormat.of().formatHex(uuid),
                info.get(ValueLayout.JAVA_LONG, NAME_BYTES + UUID_BYTES),
                values[0],
                values[1],
                values[2],
                values[3],
                values[4],
                values[5],
                values[6],
                values[7],
                values[8],
                values[9],
                values[10],
                values[11] != 0,
                values[12] != 0,
                values[13] != 0,
                values[14],
                values[15]);
    }

    /** Returns the most shared memory available to a function on request, in bytes. */
    public int maxSharedBytes() {
        return Math.max(sharedBytes, sharedBytesOptIn);
    }
}
