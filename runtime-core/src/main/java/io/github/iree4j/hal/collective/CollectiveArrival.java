package io.github.iree4j.hal.collective;

import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.hal.Collective;
import io.github.iree4j.hal.record.CollectiveCommand;
import io.github.iree4j.status.IreeException;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/** A participant of a collective with its memory, which stays pinned until the collective is complete. */
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
     * @param frontier what happens before
     * @param command the collective
     * @param source what it sends: memory of the host, or, on other devices, an empty segment at its address there; null for nothing
     * @param target where it receives
     * @param unpin called once when the memory is not used any more
     * @param then told the outcome after that
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
     * Tells the participant of a failure at once, while the memory is still in use.
     *
     * @param cause the cause
     */
    public void tell(IreeException cause) {
        if (told.compareAndSet(false, true)) {
            then.accept(cause, Frontier.EMPTY);
        }
    }

    /** It will not arrive after all. */
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
     * Returns what it sends.
     *
     * @return as passed to the constructor
     */
    public @Nullable MemorySegment source() {
        return source;
    }

    /**
     * Returns where it receives.
     *
     * @return as passed to the constructor
     */
    public @Nullable MemorySegment target() {
        return target;
    }
}
