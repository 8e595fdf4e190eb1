package io.github.iree4j.status;

import io.github.iree4j.api.NotForApplications;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.function.LongSupplier;

/**
 * The highest value of a number since a reader last asked, for numbers that a reader would see by chance only, such as
 * operations in flight for microseconds. Raising the mark costs a read where the mark is high enough already. Safe from
 * any thread.
 */
@NotForApplications
public final class HighWater {
    private static final VarHandle MARK;

    static {
        try {
            MARK = MethodHandles.lookup().findVarHandle(HighWater.class, "mark", long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    @SuppressWarnings("unused") // through MARK
    private volatile long mark;

    /** Creates a mark at 0. */
    public HighWater() {}

    /**
     * Raises the mark to a value of the number. The number must have the value already, as seen by other threads:
     * {@link #take} reads the number after lowering the mark, so one thread notes the value.
     *
     * @param value the value, at least 0
     */
    public void raise(long value) {
        for (long seen = mark; value > seen; seen = mark) {
            if (MARK.compareAndSet(this, seen, value)) {
                return;
            }
        }
    }

    /**
     * Returns the highest value since the last call of this method, and lowers the mark to the present value.
     *
     * @param present reads the number
     * @return at least the present value
     */
    public long take(LongSupplier present) {
        long highest = (long) MARK.getAndSet(this, 0L);
        long now = present.getAsLong();
        raise(now);
        return Math.max(highest, now);
    }
}
