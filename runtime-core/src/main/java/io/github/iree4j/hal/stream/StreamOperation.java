package io.github.iree4j.hal.stream;

import io.github.iree4j.hal.pool.MemoryHolder;
import io.github.iree4j.hal.schedule.QueueOperation;
import org.jspecify.annotations.Nullable;

/**
 * An operation of a {@link StreamQueue}: a hardware part, then a host part, both optional. An operation with neither only has its
 * place in the order.
 */
abstract class StreamOperation extends QueueOperation {

    StreamOperation(String name) {
        super(name);
    }

    /** The call that it belongs to, or null. */
    final @Nullable MemoryHolder call() {
        return holder();
    }

    /**
     * Prepares the hardware part. Called once, when the operation is issued, with no lock of the scheduler held. Everything
     * issued before runs before it, and so does everything that this operation waits for.
     *
     * @return recorded commands; null for none
     * @throws io.github.iree4j.status.IreeException if the operation fails
     */
    @Nullable
    StreamWork prepare() {
        return null;
    }

    /**
     * Returns the host part. It runs in the order of the queue: after the hardware part of this operation and everything before
     * it, and before anything issued behind it. Called once, after {@link #prepare}.
     *
     * @return the step; null for none
     */
    @Nullable
    HostStep hostStep() {
        return null;
    }
}
