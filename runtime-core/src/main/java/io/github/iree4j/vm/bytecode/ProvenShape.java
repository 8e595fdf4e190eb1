package io.github.iree4j.vm.bytecode;

import io.github.iree4j.api.NotForApplications;
import java.util.List;

/**
 * The shape of a view of a buffer, as proven by code.
 *
 * @param elementType the encoding of the element type
 * @param dimensions each dimension, or -1 for a dimension not known to be constant
 */
@NotForApplications
public record ProvenShape(int elementType, List<Long> dimensions) {
    /** Copies the dimensions. */
    public ProvenShape {
        dimensions = List.copyOf(dimensions);
    }
}
