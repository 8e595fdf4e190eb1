package io.github.iree4j.hal.stream;

import io.github.iree4j.hal.pool.MemoryHolder;
import io.github.iree4j.hal.schedule.QueueOperation;
import org.jspecify.annotations.Nullable;

/**
 * An operation of a {@link StreamQueue}: a hardware part, then a host part, both optional. An operation with neither
 * part only has its place in the order.
 */
abstract class StreamOperation extends QueueOperation {

    StreamOperation(String name) {
        super(name);
    }

    /** Returns the call of the operation, or null. */
    final @Nullable MemoryHolder call() {
        return holder();
    }

    /**
     * Prepares the hardware part. Called once, when the operation is issued, with no lock of the scheduler held. All
     * operations issued before, and all operations waited for, run before this operation.
     *
     * @return recorded commands; null for no hardware part
     * @throws io.github.iree4j.status.IreeException if the operation fails
     */
    @Nullable
    StreamWork prepare() {
        return null;
    }

    /**
     * Returns the host part. The step runs in the order of the queue: after this operation's hardware part and
     * everything before, and before any operation issued later. Called once, after {@link #prepare}.
     *
     * @return the step; null for no host part
     */
    @Nullable
    HostStep hostStep() {
        return null;
    }
}
