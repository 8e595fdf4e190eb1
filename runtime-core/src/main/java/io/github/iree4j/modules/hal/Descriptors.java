package io.github.iree4j.modules.hal;

import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.BufferRef;
import io.github.iree4j.hal.CommandBuffer;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Constants, and buffers by set and binding, pushed by a program to a command buffer for later dispatches. A buffer is
 * retained until replaced or until {@link #close()}.
 */
final class Descriptors implements AutoCloseable {
    static final int MAX_SETS = 8;

    private final int[] constants = new int[CommandBuffer.MAXIMUM_CONSTANTS];
    private final @Nullable BufferRef[] bindings = new BufferRef[MAX_SETS * CommandBuffer.MAXIMUM_BINDINGS];

    void constant(int index, int value) {
        constants[index] = value;
    }

    void bind(int set, int ordinal, BufferRef ref) {
        int index = set * CommandBuffer.MAXIMUM_BINDINGS + ordinal;
        if (ref.buffer() != null) {
            ref.buffer().retain();
        }
        release(bindings[index]);
        bindings[index] = ref;
    }

    int[] constants(PipelineLayout layout) {
        return Arrays.copyOf(constants, layout.constants());
    }

    /** Returns the bindings of a layout without gaps: sets in order, and bindings in order within each. */
    List<BufferRef> bindings(PipelineLayout layout) {
        List<BufferRef> dense = new ArrayList<>(layout.bindings());
        for (int set = 0; set < layout.sets().size(); set++) {
            DescriptorSetLayout bound = layout.sets().get(set);
            for (int i = 0; i < bound.count(); i++) {
                int ordinal = bound.ordinal(i);
                BufferRef ref = bindings[set * CommandBuffer.MAXIMUM_BINDINGS + ordinal];
                if (ref == null) {
                    throw IreeException.of(
                            StatusCode.FAILED_PRECONDITION,
                            "nothing was pushed to binding %d of descriptor set %d".formatted(ordinal, set));
                }
                dense.add(ref);
            }
        }
        return dense;
    }

    private static void release(@Nullable BufferRef ref) {
        Buffer buffer = ref == null ? null : ref.buffer();
        if (buffer != null) {
            buffer.release();
        }
    }

    @Override
    public void close() {
        for (int i = 0; i < bindings.length; i++) {
            release(bindings[i]);
            bindings[i] = null;
        }
    }
}
