package io.github.iree4j.hal;

import io.github.iree4j.api.NotForApplications;
import java.util.Objects;

/**
 * The kind of memory to allocate.
 *
 * @param memoryType bits of {@link MemoryType}; 0 leaves the choice to the device
 * @param usage bits of {@link BufferUsage}; 0 is {@link BufferUsage#DEFAULT}
 * @param access bits of {@link MemoryAccess}; 0 is {@link MemoryAccess#ALL}
 * @param affinity queues using the memory, see {@link QueueAffinity}
 * @param minimumAlignment in bytes, a power of two; 0 leaves the choice to the device
 * @param consumer the consumer charged for the bytes: a program's name, or empty
 */
@NotForApplications
public record BufferParams(
        int memoryType, int usage, int access, long affinity, long minimumAlignment, String consumer) {

    /** Memory for programs and for the host: device-visible, mappable where the device has such memory. */
    public static final BufferParams DEFAULT = new BufferParams(
            MemoryType.DEVICE_LOCAL | MemoryType.HOST_VISIBLE,
            BufferUsage.DEFAULT | BufferUsage.MAPPING | BufferUsage.MAPPING_OPTIONAL);

    /** Checks. */
    public BufferParams {
        Objects.requireNonNull(consumer, "consumer");
    }

    /**
     * Creates parameters of memory without a named consumer.
     *
     * @param memoryType bits of {@link MemoryType}
     * @param usage bits of {@link BufferUsage}
     * @param access bits of {@link MemoryAccess}
     * @param affinity queues using the memory
     * @param minimumAlignment in bytes, a power of two; 0 leaves the choice to the device
     */
    public BufferParams(int memoryType, int usage, int access, long affinity, long minimumAlignment) {
        this(memoryType, usage, access, affinity, minimumAlignment, "");
    }

    /**
     * Creates parameters with all accesses, any queue, default alignment.
     *
     * @param memoryType bits of {@link MemoryType}
     * @param usage bits of {@link BufferUsage}
     */
    public BufferParams(int memoryType, int usage) {
        this(memoryType, usage, MemoryAccess.ALL, QueueAffinity.ANY, 0);
    }

    /**
     * Returns these parameters with other accesses.
     *
     * @param bits bits of {@link MemoryAccess}
     * @return the new parameters
     */
    public BufferParams withAccess(int bits) {
        return new BufferParams(memoryType, usage, bits, affinity, minimumAlignment, consumer);
    }

    /**
     * Returns these parameters for other queues.
     *
     * @param queues see {@link QueueAffinity}
     * @return the new parameters
     */
    public BufferParams withAffinity(long queues) {
        return new BufferParams(memoryType, usage, access, queues, minimumAlignment, consumer);
    }

    /**
     * Returns these parameters for another consumer.
     *
     * @param name the consumer charged for the bytes
     * @return the new parameters
     */
    public BufferParams withConsumer(String name) {
        return new BufferParams(memoryType, usage, access, affinity, minimumAlignment, name);
    }
}
