package io.github.iree4j.spirv;

import java.util.ArrayList;
import java.util.List;

/**
 * The layout of a pipeline: descriptor sets, and push constants from 0 on.
 *
 * @param sets the sets by number; the bindings of each set in ascending order
 * @param pushConstantBytes bytes, a multiple of 4
 */
public record SpirvLayout(List<List<SpirvBinding>> sets, int pushConstantBytes) {

    /**
     * A binding of a descriptor set.
     *
     * @param binding number of the binding
     * @param type {@link SpirvResource#UNIFORM_BUFFER} or {@link SpirvResource#STORAGE_BUFFER}
     * @param count number of buffers in the binding
     */
    public record SpirvBinding(int binding, int type, int count) {}

    /** Copies. */
    public SpirvLayout {
        sets = sets.stream().map(List::copyOf).toList();
    }

    /**
     * Returns the total number of buffers.
     *
     * @return buffers
     */
    public int bufferCount() {
        return sets.stream().flatMap(List::stream).mapToInt(SpirvBinding::count).sum();
    }

    /**
     * Returns the smallest layout for an entry point.
     *
     * @param entry the entry point
     * @return the layout of the entry point
     */
    public static SpirvLayout of(SpirvEntryPoint entry) {
        List<List<SpirvBinding>> sets = new ArrayList<>();
        for (SpirvResource resource : entry.resources()) {
            while (sets.size() <= resource.set()) {
                if (sets.size() == SpirvExecutable.SETS_LIMIT) {
                    throw SpirvExecutable.tooMany("descriptor sets", resource.set() + 1L, SpirvExecutable.SETS_LIMIT);
                }
                sets.add(new ArrayList<>());
            }
            sets.get(resource.set()).add(new SpirvBinding(resource.binding(), resource.type(), resource.count()));
        }
        return new SpirvLayout(sets, (int) Math.min(Integer.MAX_VALUE - 3L, entry.pushConstantBytes() + 3L & ~3L));
    }
}
