package io.github.iree4j.hal.record;

import io.github.iree4j.hal.BufferRef;
import io.github.iree4j.hal.Channel;
import io.github.iree4j.hal.Collective;
import org.jspecify.annotations.Nullable;

/**
 * A collective in a command buffer. The ranges are as long as needed, and null where this participant sends or receives
 * nothing.
 *
 * @param position number of regions of the recording before the collective; collectives at the same position run
 *     concurrently
 * @param channel the participants, retained by the command buffer
 * @param operation the operation
 * @param parameter rank of the root or the peer
 * @param source the range to send
 * @param target the range to receive
 * @param elementCount number of elements
 */
public record CollectiveCommand(
        int position,
        Channel channel,
        Collective operation,
        int parameter,
        @Nullable BufferRef source,
        @Nullable BufferRef target,
        long elementCount) {}
