package io.github.iree4j.generation.sampling;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Numbers as the key of a map.
 *
 * @param values not copied, and not to be modified
 */
public record IntKey(int[] values) {
    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof IntKey key && Arrays.equals(values, key.values);
    }

    @Override
    public int hashCode() {
        return Arrays.hashCode(values);
    }
}
