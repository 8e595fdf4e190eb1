package io.github.iree4j.modules.hal;

import java.util.List;

/**
 * What a dispatch takes: so many constants and the bindings of these sets. What {@code hal.pipeline_layout.create} makes. Immutable, and
 * nothing to release.
 *
 * @param constants number of 32-bit constants
 * @param sets layouts of the sets, in the order of their numbers
 */
record PipelineLayout(int constants, List<DescriptorSetLayout> sets) {
    PipelineLayout {
        sets = List.copyOf(sets);
    }

    int bindings() {
        int count = 0;
        for (DescriptorSetLayout set : sets) {
            count += set.count();
        }
        return count;
    }
}
