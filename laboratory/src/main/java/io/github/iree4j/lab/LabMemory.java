package io.github.iree4j.lab;

import io.github.iree4j.async.Fence;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.BufferParams;
import io.github.iree4j.hal.DeviceQueue;
import io.github.iree4j.hal.schedule.QueueOperation;
import io.github.iree4j.lab.LabResult.MemoryEvent;
import io.github.iree4j.lab.Scenario.Operation;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The memory of a run: allocates buffers from the devices' pools before an operation and frees buffers behind the
 * operation, in queue order, on the queue of the operation. Each allocation and release has a separate timeline.
 * Confined to a single thread.
 */
final class LabMemory implements AutoCloseable {
    /** Bytes of a unit: enough for the pools not to round up. */
    static final long UNIT = 4096;

    private final LabRun run;
    private final LabBlocks blocks;
    private final Map<String, Held> all = new LinkedHashMap<>(); // by the name of the buffer
    private final Map<String, Runnable> frees =
            new HashMap<>(); // frees of buffers allocated by a later submission, by name
    private final List<TimelineSemaphore> timelines = new ArrayList<>();

    /** A buffer. */
    private static final class Held {
        final LabRun.Work user; // allocating operation
        final long units;
        final Buffer buffer;
        final TimelineSemaphore ready;
        final @Nullable QueueOperation allocation; // the allocation, unless refused

        @Nullable
        TimelineSemaphore freed;

        @Nullable
        Operation last; // freeing operation

        LabRun.@Nullable Moment closed; // time of the free because `last` failed

        Held(
                LabRun.Work user,
                long units,
                Buffer buffer,
                TimelineSemaphore ready,
                @Nullable QueueOperation allocation) {
            this.user = user;
            this.units = units;
            this.buffer = buffer;
            this.ready = ready;
            this.allocation = allocation;
        }
    }

    LabMemory(LabRun run, LabBlocks blocks) {
        this.run = run;
        this.blocks = blocks;
    }

    private TimelineSemaphore timeline() {
        TimelineSemaphore timeline = TimelineSemaphore.create(0);
        timelines.add(timeline);
        return timeline;
    }

    /** Submits the allocations of an operation; returns the points to wait for. */
    List<Fence.Entry> allocate(LabRun.Work work, DeviceQueue queue, @Nullable Fence wait) {
        List<Fence.Entry> points = new ArrayList<>();
        work.operation.allocates().forEach((name, units) -> {
            TimelineSemaphore ready = timeline();
            try (Fence signal = Fence.at(ready, 1)) {
                Buffer buffer = queue.alloca(
                        wait,
                        signal,
                        BufferParams.DEFAULT.withConsumer(name),
                        units * UNIT,
                        DeviceQueue.ALLOCA_ALLOW_POOL_WAIT_FRONTIER);
                all.put(name, new Held(work, units, buffer, ready, run.notes.submitted));
            }
            points.add(new Fence.Entry(ready, 1));
            Runnable free = frees.remove(name);
            if (free != null) {
                free.run();
            }
        });
        return points;
    }

    /** Returns the point at the end of an operation freeing buffers; null for other operations. */
    Fence.@Nullable Entry end(Operation operation) {
        return operation.frees().isEmpty() ? null : new Fence.Entry(timeline(), 1);
    }

    /** Submits the releases behind an operation. */
    void free(Operation operation, DeviceQueue queue, Fence.Entry end) {
        for (String name : operation.frees()) {
            Held held = all.get(name);
            if (held == null) {
                frees.put(name, () -> free(Objects.requireNonNull(all.get(name)), operation, queue, end));
            } else {
                free(held, operation, queue, end);
            }
        }
    }

    private void free(Held held, Operation operation, DeviceQueue queue, Fence.Entry end) {
        TimelineSemaphore freed = timeline();
        held.freed = freed;
        held.last = operation;
        freed.whenReached(1, (_, failure) -> {
            if (failure != null) { // nothing in queue order frees the buffer any more
                held.closed = run.endOf(freed); // the memory may have been reused behind the failure
                held.buffer.close();
            }
        });
        try (Fence wait = Fence.at(end.semaphore(), end.value());
                Fence signal = Fence.at(freed, 1)) {
            queue.dealloca(wait, signal, held.buffer, 0);
        }
    }

    /** Returns the allocations and releases, in the hardware's order of execution; `values` translates frontiers. */
    List<MemoryEvent> events(Function<Frontier, @Nullable Map<String, Long>> values) {
        TreeMap<Long, MemoryEvent> events = new TreeMap<>();
        all.forEach((name, held) -> {
            Operation user = held.user.operation;
            if (held.ready.value() == 0) {
                return;
            }
            LabRun.Moment begin = run.endOf(held.ready);
            LabRun.Moment closed = held.closed;
            if (closed != null && closed.order() < begin.order()) {
                return; // the program failed while the allocation stood in line
            }
            events.put(
                    begin.order(),
                    new MemoryEvent(
                            begin.tick(),
                            user.hardware(),
                            name,
                            held.units,
                            user.id(),
                            blocks.allocated(name, values)));
            TimelineSemaphore freed = held.freed;
            LabRun.Moment end = freed != null && freed.value() > 0 ? run.endOf(freed) : held.closed;
            if (held.last != null && end != null) {
                events.put(
                        end.order(),
                        new MemoryEvent(
                                end.tick(),
                                user.hardware(),
                                name,
                                -held.units,
                                held.last.id(),
                                blocks.released(name, values)));
            }
        });
        return List.copyOf(events.values());
    }

    /**
     * Withdraws the request that has stood in line for longest, when there are no more events, and fails the operation.
     * Only this request certainly waits for memory that never comes: the failure may free memory for the next.
     *
     * @return false when no request stands in line
     */
    boolean giveUp() {
        for (String name = blocks.nextInLine(); name != null; name = blocks.nextInLine()) {
            Held held = Objects.requireNonNull(all.get(name));
            if (held.ready.failure() == null) {
                withdraw(name, held);
                return true;
            }
        }
        return false;
    }

    private void withdraw(String name, Held held) {
        Operation user = held.user.operation;
        held.user.faulted = true;
        run.schedulerOf(held.user)
                .cancel(
                        Objects.requireNonNull(held.allocation),
                        IreeException.of(
                                StatusCode.RESOURCE_EXHAUSTED,
                                "operation '%s' waits for %d units of memory of '%s' for buffer '%s', and no running operation will free memory; free buffers earlier, or raise the hardware's memory"
                                        .formatted(user.id(), held.units, user.hardware(), name)));
    }

    @Override
    public void close() {
        all.values().forEach(each -> each.buffer.close());
        timelines.forEach(TimelineSemaphore::close);
    }
}
