package io.github.iree4j.hal.local;

import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.hal.Collective;
import io.github.iree4j.hal.record.CollectiveCommand;
import io.github.iree4j.status.IreeException;
import java.lang.foreign.MemorySegment;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/** A participant of a collective with its memory, which stays pinned until the collective is complete. */
final class CollectiveArrival extends Arrival {
    final Collective operation;
    final int parameter;
    final long elementCount;
    final @Nullable MemorySegment source;
    final @Nullable MemorySegment target;
    private final Runnable unpin;
    private final BiConsumer<@Nullable IreeException, Frontier> then;

    CollectiveArrival(
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

    @Override
    void over(@Nullable IreeException failure, Frontier outcome) {
        unpin.run();
        then.accept(failure, outcome);
    }
}
