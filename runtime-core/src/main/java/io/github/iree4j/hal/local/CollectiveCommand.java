package io.github.iree4j.hal.local;

import io.github.iree4j.hal.BufferRef;
import io.github.iree4j.hal.Collective;
import org.jspecify.annotations.Nullable;

/**
 * A collective in a command buffer. The ranges are as long as needed, and null where this participant sends or receives nothing.
 *
 * @param position how many regions of the recording are in front of it; collectives at the same position run at once
 */
record CollectiveCommand(
        int position,
        LocalChannel channel,
        Collective operation,
        int parameter,
        @Nullable BufferRef source,
        @Nullable BufferRef target,
        long elementCount) {}
