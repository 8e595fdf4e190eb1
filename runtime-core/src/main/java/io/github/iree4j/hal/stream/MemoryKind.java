package io.github.iree4j.hal.stream;

import io.github.iree4j.hal.MemoryType;

/**
 * A kind of driver memory in use, and its properties.
 *
 * @param name as in the names of pools
 * @param type the driver's number for it
 * @param heap number of its heap; kinds with the same number share capacity
 * @param heapSize capacity, bytes
 * @param halType bits of {@link MemoryType} that it has
 */
public record MemoryKind(String name, int type, int heap, long heapSize, int halType) {

    /**
     * Returns whether the host can map it.
     *
     * @return whether its allocations have a host address
     */
    public boolean isMappable() {
        return (halType & MemoryType.HOST_VISIBLE) != 0;
    }
}
