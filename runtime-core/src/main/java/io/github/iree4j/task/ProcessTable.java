package io.github.iree4j.task;

import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The live processes of an executor, asleep or not. {@code close()} uses the table to find and cancel processes that
 * nothing else will wake.
 *
 * <p>Lock-free; grows by parts of doubling size, never shrinks, and allocates only during growth.
 */
final class ProcessTable {
    private static final int FIRST_BITS = 8;
    private static final int PARTS = 32 - FIRST_BITS;
    private static final int PROBES = 8;

    private final PaddedLong live = new PaddedLong();
    private final PaddedLong hint = new PaddedLong();
    private final AtomicReferenceArray<@Nullable AtomicReferenceArray<@Nullable TaskProcess>> parts =
            new AtomicReferenceArray<>(PARTS);

    ProcessTable() {
        parts.set(0, new AtomicReferenceArray<>(1 << FIRST_BITS));
    }

    /** Returns the number of processes in the table, or about to be. */
    long liveVolatile() {
        return live.getVolatile();
    }

    void add(TaskProcess process) {
        live.getAndAddVolatile(1);
        int start = (int) hint.getAndAddVolatile(1);
        for (int part = 0; ; part++) {
            AtomicReferenceArray<@Nullable TaskProcess> cells = part(part);
            int mask = cells.length() - 1;
            int tries = part == PARTS - 1 ? cells.length() : Math.min(cells.length(), PROBES << part);
            for (int i = 0; i < tries; i++) {
                int cell = start + i & mask;
                if (cells.getOpaque(cell) == null) {
                    process.tableIndex = part << 26 | cell;
                    if (cells.compareAndSet(cell, null, process)) {
                        return;
                    }
                }
            }
        }
    }

    /** Removes a process; returns the number of remaining processes. */
    long remove(TaskProcess process) {
        int index = process.tableIndex;
        AtomicReferenceArray<@Nullable TaskProcess> cells = parts.get(index >>> 26);
        if (cells != null) {
            cells.setRelease(index & (1 << 26) - 1, null);
        }
        return live.getAndAddVolatile(-1) - 1;
    }

    void forEach(Consumer<TaskProcess> action) {
        for (int part = 0; part < PARTS; part++) {
            AtomicReferenceArray<@Nullable TaskProcess> cells = parts.get(part);
            if (cells == null) {
                return;
            }
            for (int i = 0; i < cells.length(); i++) {
                TaskProcess process = cells.get(i);
                if (process != null) {
                    action.accept(process);
                }
            }
        }
    }

    private AtomicReferenceArray<@Nullable TaskProcess> part(int part) {
        AtomicReferenceArray<@Nullable TaskProcess> cells = parts.get(part);
        if (cells == null) {
            AtomicReferenceArray<@Nullable TaskProcess> fresh =
                    new AtomicReferenceArray<>(1 << Math.min(FIRST_BITS + part, 26));
            AtomicReferenceArray<@Nullable TaskProcess> before = parts.compareAndExchange(part, null, fresh);
            cells = before == null ? fresh : before;
        }
        return cells;
    }
}
