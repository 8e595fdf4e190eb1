package io.github.iree4j.spring.actuate.endpoint;

import io.github.iree4j.IreeRuntime;
import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.pool.MemoryMap;
import io.github.iree4j.spring.actuate.endpoint.FrontierDescriptor.Entry;
import io.github.iree4j.spring.problems.QueueNames;
import java.util.List;
import org.springframework.boot.actuate.endpoint.OperationResponseBody;

/**
 * The blocks of a device's memory, in bytes, without addresses.
 *
 * @param device the device's name
 * @param slabs the memory taken from the system
 * @param omitted number of blocks beyond the limit of {@value #LISTED} per device
 */
public record MemoryDescriptor(String device, List<Slab> slabs, long omitted) {

    /** The maximum number of listed blocks per device. */
    static final int LISTED = 512;

    /**
     * A slab.
     *
     * @param number of the slab, as in recordings
     * @param pool name of the slab's pool
     * @param size of the slab
     * @param blocks in the order of offsets
     */
    public record Slab(int number, String pool, long size, List<Block> blocks) {}

    /**
     * A block.
     *
     * @param offset start in the slab
     * @param length size of the block
     * @param state use of the block
     * @param tainted whether the entries are incomplete
     * @param death for a free block, the work that must complete before others reuse the block; for a reserved block,
     *     the work after which the block's user runs
     */
    public record Block(long offset, long length, MemoryMap.State state, boolean tainted, List<Entry> death) {}

    /**
     * The memory of all devices.
     *
     * @param devices by device
     */
    public record All(List<MemoryDescriptor> devices) implements OperationResponseBody {}

    static MemoryDescriptor of(IreeRuntime runtime, Device device, QueueNames names) {
        MemoryMap map = device.allocator().memoryMap(LISTED);
        return new MemoryDescriptor(
                runtime.monitor().devices().nameOf(device),
                map.slabs().stream()
                        .map(slab -> new Slab(
                                slab.number(),
                                slab.pool(),
                                slab.size(),
                                slab.blocks().stream()
                                        .map(block -> block(block, names))
                                        .toList()))
                        .toList(),
                map.omitted());
    }

    private static Block block(MemoryMap.Span span, QueueNames names) {
        return new Block(
                span.offset(),
                span.length(),
                span.state(),
                span.death() != null && span.death().isTainted(),
                span.death() == null ? List.of() : FrontierDescriptor.named(span.death(), names));
    }
}
