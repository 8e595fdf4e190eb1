package io.github.iree4j.hal;

import io.github.iree4j.api.NotForApplications;

/** Bits for the permitted uses of a buffer ({@code iree/hal/buffer.h}). */
@NotForApplications
public final class BufferUsage {
    /** Source of copies. */
    public static final int TRANSFER_SOURCE = 0x1;
    /** Target of copies, fills and updates. */
    public static final int TRANSFER_TARGET = 0x2;
    /** Both ends of transfers. */
    public static final int TRANSFER = TRANSFER_SOURCE | TRANSFER_TARGET;
    /** Holds workgroup counts of indirect dispatches. */
    public static final int DISPATCH_INDIRECT_PARAMETERS = 0x100;
    /** Read by dispatches as uniform memory. */
    public static final int DISPATCH_UNIFORM_READ = 0x200;
    /** Read by dispatches. */
    public static final int DISPATCH_STORAGE_READ = 0x400;
    /** Written by dispatches. */
    public static final int DISPATCH_STORAGE_WRITE = 0x800;
    /** Read and written by dispatches. */
    public static final int DISPATCH_STORAGE = DISPATCH_STORAGE_READ | DISPATCH_STORAGE_WRITE;
    /** Read as an image. */
    public static final int DISPATCH_IMAGE_READ = 0x1000;
    /** Written as an image. */
    public static final int DISPATCH_IMAGE_WRITE = 0x2000;
    /** May be exported. */
    public static final int SHARING_EXPORT = 0x1_0000;
    /** May be copied to every device reading the buffer. */
    public static final int SHARING_REPLICATE = 0x2_0000;
    /** Used by several queues at once. */
    public static final int SHARING_CONCURRENT = 0x4_0000;
    /** Never written after its creation. */
    public static final int SHARING_IMMUTABLE = 0x8_0000;
    /** May be mapped for the duration of a call. */
    public static final int MAPPING_SCOPED = 0x100_0000;
    /** May be mapped while the device uses it. */
    public static final int MAPPING_PERSISTENT = 0x200_0000;
    /** Mapping is optional. */
    public static final int MAPPING_OPTIONAL = 0x400_0000;
    /** Accessed by the host in any order. */
    public static final int MAPPING_ACCESS_RANDOM = 0x800_0000;
    /** Written by the host front to back. */
    public static final int MAPPING_ACCESS_SEQUENTIAL_WRITE = 0x1000_0000;
    /** Transfers and dispatch storage. */
    public static final int DEFAULT = TRANSFER | DISPATCH_STORAGE;
    /** Mapped for a call, accessed in any order. */
    public static final int MAPPING = MAPPING_SCOPED | MAPPING_ACCESS_RANDOM;

    private static final Flags FLAGS = new Flags(
            new int[] {
                TRANSFER,
                DISPATCH_STORAGE,
                MAPPING,
                TRANSFER_SOURCE,
                TRANSFER_TARGET,
                DISPATCH_INDIRECT_PARAMETERS,
                DISPATCH_UNIFORM_READ,
                DISPATCH_STORAGE_READ,
                DISPATCH_STORAGE_WRITE,
                DISPATCH_IMAGE_READ,
                DISPATCH_IMAGE_WRITE,
                SHARING_EXPORT,
                SHARING_REPLICATE,
                SHARING_CONCURRENT,
                SHARING_IMMUTABLE,
                MAPPING_SCOPED,
                MAPPING_PERSISTENT,
                MAPPING_OPTIONAL,
                MAPPING_ACCESS_RANDOM,
                MAPPING_ACCESS_SEQUENTIAL_WRITE
            },
            new String[] {
                "TRANSFER",
                "DISPATCH_STORAGE",
                "MAPPING",
                "TRANSFER_SOURCE",
                "TRANSFER_TARGET",
                "DISPATCH_INDIRECT_PARAMETERS",
                "DISPATCH_UNIFORM_READ",
                "DISPATCH_STORAGE_READ",
                "DISPATCH_STORAGE_WRITE",
                "DISPATCH_IMAGE_READ",
                "DISPATCH_IMAGE_WRITE",
                "SHARING_EXPORT",
                "SHARING_REPLICATE",
                "SHARING_CONCURRENT",
                "SHARING_IMMUTABLE",
                "MAPPING_SCOPED",
                "MAPPING_PERSISTENT",
                "MAPPING_OPTIONAL",
                "MAPPING_ACCESS_RANDOM",
                "MAPPING_ACCESS_SEQUENTIAL_WRITE"
            });

    private BufferUsage() {}

    /**
     * Prints bits by name.
     *
     * @param bits usage bits
     * @return for example {@code TRANSFER|DISPATCH_STORAGE}
     */
    public static String format(int bits) {
        return FLAGS.format(bits);
    }
}
