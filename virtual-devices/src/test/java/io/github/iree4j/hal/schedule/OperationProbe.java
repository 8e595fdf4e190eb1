package io.github.iree4j.hal.schedule;

import io.github.iree4j.async.Fence;
import io.github.iree4j.hal.SchedulingDomain;
import io.github.iree4j.status.IreeException;
import java.lang.reflect.Field;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** The needs of a test of all orders beyond the devices' views: the identity of operations, and cancellation. */
public final class OperationProbe {
    private OperationProbe() {}

    /** The fence signalled by an operation, as its identity. */
    public static @Nullable Fence signal(QueueOperation operation) {
        return operation.signal;
    }

    /** Finds the operation with that signal among the operations held back by a queue. */
    @SuppressWarnings("ReferenceEquality") // fences are told apart by identity
    public static @Nullable QueueOperation heldBack(SchedulingDomain domain, long axis, Fence signal) {
        for (Deferral each : pending(queue(domain, axis)).all()) {
            if (each.operation.signal == signal) {
                return each.operation;
            }
        }
        return null;
    }

    /** Cancels an operation of a queue. */
    public static void cancel(SchedulingDomain domain, long axis, QueueOperation operation, IreeException cause) {
        queue(domain, axis).cancel(operation, cause);
    }

    private static QueueScheduler queue(SchedulingDomain domain, long axis) {
        return Objects.requireNonNull(DomainQueues.of(domain).queue(axis), "queue");
    }

    private static PendingList pending(QueueScheduler scheduler) {
        try {
            Field pending = QueueScheduler.class.getDeclaredField("pending");
            pending.setAccessible(true);
            return (PendingList) pending.get(scheduler);
        } catch (ReflectiveOperationException e) {
            throw new AssertionError(e);
        }
    }
}
