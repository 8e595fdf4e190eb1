package io.github.iree4j.hal.collective;

import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.hal.Collective;
import io.github.iree4j.hal.record.CollectiveCommand;
import io.github.iree4j.status.IreeException;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/** A participant of a collective with memory pinned until the collective is complete. */
public class CollectiveArrival extends Arrival {
    private final Collective operation;
    private final int parameter;
    private final long elementCount;
    private final @Nullable MemorySegment source;
    private final @Nullable MemorySegment target;
    private final Runnable unpin;
    private final BiConsumer<@Nullable IreeException, Frontier> then;
    private final AtomicBoolean told = new AtomicBoolean();

    /**
     * Creates an arrival.
     *
     * @param frontier predecessors of the arrival
     * @param command the collective
     * @param source bytes to send: host memory, or, on other devices, an empty segment at the device address; null for
     *     nothing
     * @param target target of the received bytes
     * @param unpin called once after the last use of the memory
     * @param then notified of the outcome after the unpinning
     */
    public CollectiveArrival(
            Frontier frontier,
            CollectiveCommand command,
            @Nullable MemorySegment source,
            @Nullable MemorySegment target,
            Runnable unpin,
            BiConsumer<@Nullable IreeException, Frontier> then) {
        super(frontier);
        this.operation = command.operation();
        this.parameter = command.parameter();
        this.elementCount = command.elementCount();
        this.source = source;
        this.target = target;
        this.unpin = unpin;
        this.then = then;
    }

    /**
     * Notifies the participant of a failure at once, while the memory is still in use.
     *
     * @param cause the cause
     */
    public void notifyFailed(IreeException cause) {
        if (told.compareAndSet(false, true)) {
            then.accept(cause, Frontier.EMPTY);
        }
    }

    /** Withdraws a participant before the arrival. */
    void withdraw() {
        unpin.run();
    }

    @Override
    protected void over(@Nullable IreeException failure, Frontier outcome) {
        unpin.run();
        if (told.compareAndSet(false, true)) {
            then.accept(failure, outcome);
        }
    }

    /**
     * Returns the operation.
     *
     * @return the operation
     */
    public Collective operation() {
        return operation;
    }

    /**
     * Returns the rank of the root or the peers.
     *
     * @return the parameter
     */
    public int parameter() {
        return parameter;
    }

    /**
     * Returns the number of elements.
     *
     * @return elements
     */
    public long elementCount() {
        return elementCount;
    }

    /**
     * Returns the bytes to send.
     *
     * @return as passed to the constructor
     */
    public @Nullable MemorySegment source() {
        return source;
    }

    /**
     * Returns the target of the received bytes.
     *
     * @return as passed to the constructor
     */
    public @Nullable MemorySegment target() {
        return target;
    }
}
