package io.github.iree4j.hal.record;

import io.github.iree4j.hal.BufferRef;
import io.github.iree4j.hal.Channel;
import io.github.iree4j.hal.Collective;
import org.jspecify.annotations.Nullable;

/**
 * A collective in a command buffer. The ranges are as long as needed, and null where this participant sends or receives nothing.
 *
 * @param position how many regions of the recording are in front of it; collectives at the same position run at once
 * @param channel the participants, retained by the command buffer
 * @param operation what to do
 * @param parameter rank of the root or the peer
 * @param source what is sent
 * @param target what is received
 * @param elementCount elements
 */
public record CollectiveCommand(
        int position,
        Channel channel,
        Collective operation,
        int parameter,
        @Nullable BufferRef source,
        @Nullable BufferRef target,
        long elementCount) {}
