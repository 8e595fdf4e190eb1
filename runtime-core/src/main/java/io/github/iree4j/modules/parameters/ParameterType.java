package io.github.iree4j.modules.parameters;

import io.github.iree4j.api.NotForApplications;
import java.util.List;
import java.util.stream.Collectors;

/**
 * The element type of a parameter in the file. Programs take bytes and ignore the type.
 *
 * @param name the type's name in the file format, for example {@code BF16} or {@code Q4_K}
 * @param shape sizes of the dimensions, outermost first; empty for a scalar
 * @param blockElements elements stored together; 1 unless the type is quantised in blocks
 * @param blockBits bits of such a block
 */
@NotForApplications
public record ParameterType(String name, List<Long> shape, int blockElements, int blockBits) {
    /** Copies the shape. */
    public ParameterType {
        shape = List.copyOf(shape);
    }

    /** Returns the shape and the type, for example {@code 4096x4096xBF16}, or {@code F32} for a scalar. */
    @Override
    public String toString() {
        return shape.stream().map(size -> size + "x").collect(Collectors.joining()) + name;
    }
}
