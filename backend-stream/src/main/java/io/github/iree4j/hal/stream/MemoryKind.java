package io.github.iree4j.hal.stream;

import io.github.iree4j.hal.MemoryType;

/**
 * A kind of driver memory in use, and its properties.
 *
 * @param name as in the names of pools
 * @param type the driver's number of the kind
 * @param heap number of the kind's heap; kinds with the same number share capacity
 * @param heapSize capacity, bytes
 * @param halType the kind's bits of {@link MemoryType}
 */
public record MemoryKind(String name, int type, int heap, long heapSize, int halType) {

    /**
     * Returns whether the host can map the memory.
     *
     * @return whether allocations of this kind have a host address
     */
    public boolean isMappable() {
        return (halType & MemoryType.HOST_VISIBLE) != 0;
    }
}
