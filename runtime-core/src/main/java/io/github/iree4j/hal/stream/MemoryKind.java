package io.github.iree4j.hal.stream;

import io.github.iree4j.hal.MemoryType;

/**
 * A kind of memory of the driver that is used, and what for.
 *
 * @param name as in the names of pools
 * @param type the driver's number for it
 * @param heap which kinds share their capacity: those of the same number
 * @param heapSize capacity, bytes
 * @param halType bits of {@link MemoryType} that it has
 */
public record MemoryKind(String name, int type, int heap, long heapSize, int halType) {

    /**
     * Returns whether the host can map it.
     *
     * @return whether its allocations have an address of the host
     */
    public boolean isMappable() {
        return (halType & MemoryType.HOST_VISIBLE) != 0;
    }
}
