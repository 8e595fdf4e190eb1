package io.github.iree4j.task;

import org.jspecify.annotations.Nullable;

/** The contexts of threads that drain without being workers: each context is lent to a single thread at a time. */
final class DrainingCallers {
    private final WorkerContext[] contexts;
    private final int firstIndex;
    private final PaddedLong free = new PaddedLong(); // a bit for each free context

    DrainingCallers(int firstIndex, int count) {
        this.firstIndex = firstIndex;
        contexts = new WorkerContext[count];
        for (int i = 0; i < count; i++) {
            contexts[i] = new WorkerContext(firstIndex + i, true);
        }
        free.setVolatile(count == Long.SIZE ? -1 : (1L << count) - 1);
    }

    int count() {
        return contexts.length;
    }

    /** Borrows a context; null when all are lent. */
    @Nullable
    WorkerContext borrow() {
        for (long bits; (bits = free.getVolatile()) != 0; ) {
            long bit = Long.lowestOneBit(bits);
            if (free.compareAndSetVolatile(bits, bits & ~bit)) {
                return contexts[Long.numberOfTrailingZeros(bit)];
            }
        }
        return null;
    }

    void giveBack(WorkerContext context) {
        free.getAndOrVolatile(1L << context.index() - firstIndex);
    }
}
