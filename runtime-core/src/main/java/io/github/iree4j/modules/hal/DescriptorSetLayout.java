package io.github.iree4j.modules.hal;

import java.util.Arrays;

/** The bindings of a descriptor set used by a program; the result of {@code hal.descriptor_set_layout.create}. Immutable; nothing to release. */
final class DescriptorSetLayout {
    private final int[] ordinals;

    DescriptorSetLayout(int[] ordinals) {
        this.ordinals = ordinals.clone();
        Arrays.sort(this.ordinals);
    }

    int count() {
        return ordinals.length;
    }

    /** Returns the number within the set of the binding at an index, in ascending order. */
    int ordinal(int index) {
        return ordinals[index];
    }
}
