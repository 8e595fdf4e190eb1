package io.github.iree4j.modules.hal;

import java.util.Arrays;

/**
 * Which bindings of a descriptor set a program uses; what {@code hal.descriptor_set_layout.create} makes. Immutable, and nothing to
 * release.
 */
final class DescriptorSetLayout {
    private final int[] ordinals;

    DescriptorSetLayout(int[] ordinals) {
        this.ordinals = ordinals.clone();
        Arrays.sort(this.ordinals);
    }

    int count() {
        return ordinals.length;
    }

    /** The number within the set of the binding that comes at an index, in ascending order. */
    int ordinal(int index) {
        return ordinals[index];
    }
}
