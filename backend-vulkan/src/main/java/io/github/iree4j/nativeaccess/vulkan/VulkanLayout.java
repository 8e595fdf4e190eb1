package io.github.iree4j.nativeaccess.vulkan;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;

/**
 * The layout of a pipeline. Descriptors are numbered consecutively: by set, then as listed, then by element; the number
 * is the position of a binding in the words of a dispatch.
 *
 * @param sets descriptor sets, by number; empty sets count
 * @param pushConstantBytes size of the push constants, a multiple of 4
 * @param pushDescriptors whether descriptors are recorded with each dispatch; allows a single set only
 */
public record VulkanLayout(List<List<Binding>> sets, int pushConstantBytes, boolean pushDescriptors) {
    /** Vulkan's descriptor type of a uniform buffer. */
    public static final int UNIFORM_BUFFER = 6;
    /** Vulkan's descriptor type of a storage buffer. */
    public static final int STORAGE_BUFFER = 7;

    /**
     * An entry of a set.
     *
     * @param binding the binding's number, below 1024
     * @param type {@link #UNIFORM_BUFFER} or {@link #STORAGE_BUFFER}
     * @param count length of the binding's array, 1 if not an array
     */
    public record Binding(int binding, int type, int count) {}

    /** Copies the lists. */
    public VulkanLayout {
        sets = sets.stream().map(List::copyOf).toList();
    }

    /** The words of {@code shim_vulkan_pipeline_params_t}. */
    MemorySegment words(Arena arena) {
        long count = 1 + sets.size() + 3 * sets.stream().mapToLong(List::size).sum();
        MemorySegment words = arena.allocate(ValueLayout.JAVA_LONG, count);
        long at = 0;
        words.setAtIndex(ValueLayout.JAVA_LONG, at++, sets.size());
        for (List<Binding> set : sets) {
            words.setAtIndex(ValueLayout.JAVA_LONG, at++, set.size());
            for (Binding binding : set) {
                words.setAtIndex(ValueLayout.JAVA_LONG, at++, Integer.toUnsignedLong(binding.binding()));
                words.setAtIndex(ValueLayout.JAVA_LONG, at++, Integer.toUnsignedLong(binding.type()));
                words.setAtIndex(ValueLayout.JAVA_LONG, at++, Integer.toUnsignedLong(binding.count()));
            }
        }
        return words;
    }
}
