package io.github.iree4j.vm.bytecode;

import java.util.List;

/**
 * What code proves about a view of a buffer.
 *
 * @param elementType the encoding of the type of its elements
 * @param dimensions each dimension, -1 where it is not known to be constant
 */
public record ProvenShape(int elementType, List<Long> dimensions) {
    /** Keeps its own copy. */
    public ProvenShape {
        dimensions = List.copyOf(dimensions);
    }
}
