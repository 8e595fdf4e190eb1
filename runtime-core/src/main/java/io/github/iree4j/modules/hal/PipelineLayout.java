package io.github.iree4j.modules.hal;

import io.github.iree4j.hal.ExecutableLayout;
import java.util.ArrayList;
import java.util.List;

/**
 * The arguments of a dispatch: a number of constants and the bindings of sets; the result of
 * {@code hal.pipeline_layout.create}. Immutable; nothing to release.
 *
 * @param constants number of 32-bit constants
 * @param sets layouts of the sets, in the order of set numbers
 */
record PipelineLayout(int constants, List<DescriptorSetLayout> sets) {
    PipelineLayout {
        sets = List.copyOf(sets);
    }

    /** Converts the layout for backends. */
    ExecutableLayout toExecutableLayout() {
        List<List<Integer>> ordinals = new ArrayList<>();
        for (DescriptorSetLayout set : sets) {
            List<Integer> own = new ArrayList<>();
            for (int i = 0; i < set.count(); i++) {
                own.add(set.ordinal(i));
            }
            ordinals.add(own);
        }
        return new ExecutableLayout(constants, ordinals);
    }

    int bindings() {
        int count = 0;
        for (DescriptorSetLayout set : sets) {
            count += set.count();
        }
        return count;
    }
}
