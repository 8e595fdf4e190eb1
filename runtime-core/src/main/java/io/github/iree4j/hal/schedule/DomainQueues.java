package io.github.iree4j.hal.schedule;

import io.github.iree4j.async.Fence;
import io.github.iree4j.hal.SchedulingDomain;
import io.github.iree4j.hal.pool.MemoryHolder;
import io.github.iree4j.hal.pool.Reservation;
import io.github.iree4j.hal.storage.StorageRelease;
import io.github.iree4j.hal.storage.StorageRequest;
import io.github.iree4j.status.IreeException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** Schedulers of a domain and the speculation scopes following the operations. Safe from any thread. */
final class DomainQueues implements SchedulingDomain.Queues {
    private final ConcurrentHashMap<Long, QueueScheduler> queues = new ConcurrentHashMap<>(); // by axis, while open
    private final CopyOnWriteArrayList<QueueScheduler> left = new CopyOnWriteArrayList<>(); // closed, perhaps not idle
    private final CopyOnWriteArrayList<SpeculationScope> speculations = new CopyOnWriteArrayList<>(); // while open

    private final AtomicReference<@Nullable QueueObserver> observer =
            new AtomicReference<>(); // null while not observed

    private volatile boolean shortOfMemory; // set once an operation has waited for memory; never reset

    private DomainQueues() {}

    /** Returns the queues of a domain. */
    static DomainQueues of(SchedulingDomain domain) {
        return (DomainQueues) domain.queues(DomainQueues::new);
    }

    @Override
    public void withdraw(Predicate<MemoryHolder> calls, IreeException cause) {
        queues.values().forEach(queue -> queue.withdraw(calls, cause));
    }

    @Override
    public int heldByMemory(MemoryHolder call) {
        return MemoryWaits.holding(call, queues.values());
    }

    @Override
    public long awaitedBytes(MemoryHolder call) {
        List<QueueOperation> held = new ArrayList<>();
        queues.values().forEach(queue -> queue.addHeldBack(call, held));
        long bytes = 0;
        for (QueueOperation each : held) {
            if (each instanceof StorageRequest request && (each.wait == null || each.wait.isReached())) {
                bytes += request.bytes();
            }
        }
        return bytes;
    }

    /** Records that an operation waits for memory: from now on idle queues are reported. */
    void shortOfMemory() {
        shortOfMemory = true;
    }

    boolean isShortOfMemory() {
        return shortOfMemory;
    }

    void add(QueueScheduler queue) {
        queues.put(queue.axis(), queue);
    }

    /** Replaces the observer; returns false when the current observer is not the expected observer. */
    boolean observe(@Nullable QueueObserver expected, @Nullable QueueObserver next) {
        return observer.compareAndSet(expected, next);
    }

    /** Returns the observer; null for none. */
    @Nullable
    QueueObserver observer() {
        return observer.getAcquire();
    }

    void remove(QueueScheduler queue) {
        queues.remove(queue.axis());
    }

    /** Keeps a closed queue while operations are in flight, for {@link #all}. */
    void closed(QueueScheduler queue) {
        left.removeIf(each -> each.open().isEmpty());
        if (!queue.open().isEmpty()) {
            left.add(queue);
        }
    }

    /** Returns the open queue of an axis, or null if there is no such queue in this domain. */
    @Nullable
    QueueScheduler queue(long axis) {
        return queues.get(axis);
    }

    /** Returns the open queues, and closed queues with operations in flight. */
    List<QueueScheduler> all() {
        List<QueueScheduler> all = new ArrayList<>(queues.values());
        left.removeIf(each -> each.open().isEmpty());
        all.addAll(left);
        return all;
    }

    void add(SpeculationScope scope) {
        speculations.add(scope);
    }

    void remove(SpeculationScope scope) {
        speculations.remove(scope);
    }

    /** Notifies the observer, if any, of an operation about to start. */
    void submitted(QueueScheduler queue, QueueOperation operation) {
        QueueObserver observing = observer();
        if (observing != null) {
            operation.number = observing.submitted(queue, operation, operation.wait, operation.signal);
        }
    }

    /** Notifies the observer, if any, of an operation issued at once; returns false when the reports follow one by one. */
    boolean submittedAndIssued(QueueScheduler queue, QueueOperation operation) {
        QueueObserver observing = observer();
        if (observing == null) {
            return false;
        }
        Fence wait = operation.wait;
        operation.number = observing.submittedAndIssued(
                queue,
                operation,
                wait,
                operation.signal,
                wait == null ? null : new ReachedWaits(wait),
                memory(operation));
        return operation.number != 0;
    }

    /** Notifies the speculation scopes of an operation about to start. */
    void begins(QueueScheduler queue, QueueOperation operation) {
        if (!speculations.isEmpty()) {
            for (SpeculationScope scope : speculations) {
                scope.submitted(queue, operation);
            }
        }
    }

    /** Notifies the observer, if any, of an operation held back until memory is available. */
    void heldForMemory(QueueOperation operation, StorageRequest request) {
        QueueObserver observing = observer();
        if (observing != null && operation.number != 0) {
            observing.heldForMemory(operation, request.bytes());
        }
    }

    /** Returns whether an operation is reported to an observer. */
    boolean observes(QueueOperation operation) {
        return observer() != null && operation.number != 0;
    }

    /** Notifies the observer, if any, of the end of a wait holding an operation back. */
    void waitOver(QueueOperation operation, int index) {
        QueueObserver observing = observer();
        if (observing != null && operation.number != 0) {
            observing.waitOver(operation, index);
        }
    }

    /** Notifies the observer, if any, of the decisions about the waits of an operation. */
    void decided(QueueOperation operation, QueueObserver.Decisions decisions) {
        QueueObserver observing = observer();
        if (observing != null && operation.number != 0) {
            observing.decided(operation, decisions);
        }
    }

    /** Notifies the observer, if any, of an issued operation, even if submitted before the observation. */
    void issued(QueueOperation operation) {
        QueueObserver observing = observer();
        if (observing != null) {
            observing.issued(operation, memory(operation));
        }
    }

    private static @Nullable Reservation memory(QueueOperation operation) {
        return switch (operation) {
            case StorageRequest request -> request.memory();
            case StorageRelease release -> release.memory();
            default -> null;
        };
    }

    /** Notifies the observer, if any, of an operation whose end is known to the host. */
    void completed(QueueOperation operation) {
        QueueObserver observing = observer();
        if (observing != null && operation.number != 0) {
            observing.completed(operation);
        }
    }

    /** Notifies the observer, if any, of the coming end of an operation completed before its waits were resolved. */
    void ending(QueueOperation operation) {
        QueueObserver observing = observer();
        if (observing != null && operation.number != 0) {
            observing.ending(operation);
        }
    }

    /** Notifies the observer of an operation begun by the hardware; returns whether there is an observer. */
    boolean began(QueueOperation operation) {
        QueueObserver observing = observer();
        if (observing != null && operation.number != 0) {
            observing.began(operation);
        }
        return observing != null;
    }

    /** Notifies the observer, if any, of the loss of a device. */
    void lost(QueueScheduler queue, IreeException cause) {
        QueueObserver observing = observer();
        if (observing != null) {
            observing.lost(queue, cause);
        }
    }

    /** Notifies the observer and the speculation scopes of a complete operation, after its signals. */
    void over(QueueOperation operation, @Nullable IreeException failure, List<Fence.Entry> refused) {
        QueueObserver observing = observer();
        if (observing != null) {
            observing.over(operation, failure, refused);
        }
        if (!speculations.isEmpty()) {
            for (SpeculationScope scope : speculations) {
                scope.over(operation, failure != null);
            }
        }
    }
}
