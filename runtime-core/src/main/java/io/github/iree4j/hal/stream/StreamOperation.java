package io.github.iree4j.hal.stream;

import io.github.iree4j.hal.pool.MemoryHolder;
import io.github.iree4j.hal.schedule.QueueOperation;
import org.jspecify.annotations.Nullable;

/**
 * What a {@link StreamQueue} carries out: a part for the hardware, then one for the host, both of which it may lack. What has neither only
 * has its place in the order.
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
     * Says what the hardware is to run. Called once, when the operation is issued, with no lock of the scheduler held. Everything that
     * was issued before runs before it, and so does what this operation waits for.
     *
     * @return recorded commands; null for nothing
     * @throws io.github.iree4j.status.IreeException why the operation fails
     */
    @Nullable
    StreamWork prepare() {
        return null;
    }

    /**
     * Says what the host has to do in the order of the queue: after the hardware's part of this operation and everything before it, and
     * before anything issued behind it. Called once, after {@link #prepare}.
     *
     * @return the step; null for nothing
     */
    @Nullable
    HostStep hostStep() {
        return null;
    }
}
