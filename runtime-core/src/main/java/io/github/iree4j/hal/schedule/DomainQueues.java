package io.github.iree4j.hal.schedule;

import io.github.iree4j.hal.SchedulingDomain;
import io.github.iree4j.hal.pool.MemoryHolder;
import io.github.iree4j.status.IreeException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** The schedulers of a domain and the speculation scopes that follow their operations. Safe from any thread. */
final class DomainQueues implements SchedulingDomain.Queues {
    private final ConcurrentHashMap<Long, QueueScheduler> queues = new ConcurrentHashMap<>(); // by axis, while open
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

    /** Replaces the observer; returns false when it is another than expected. */
    boolean observe(@Nullable QueueObserver expected, @Nullable QueueObserver next) {
        return observer.compareAndSet(expected, next);
    }

    /** Returns the observer; null while there is none. */
    @Nullable
    QueueObserver observer() {
        return observer.getAcquire();
    }

    void remove(QueueScheduler queue) {
        queues.remove(queue.axis());
    }

    /** Returns the open queue of an axis, or null when no open queue of this domain has it. */
    @Nullable
    QueueScheduler queue(long axis) {
        return queues.get(axis);
    }

    void add(SpeculationScope scope) {
        speculations.add(scope);
    }

    void remove(SpeculationScope scope) {
        speculations.remove(scope);
    }

    /** Notifies the observer and the speculation scopes of an operation that is about to start. */
    void submitted(QueueScheduler queue, QueueOperation operation) {
        QueueObserver observing = observer();
        if (observing != null) {
            operation.number = observing.submitted(queue, operation, operation.wait, operation.signal);
        }
        if (!speculations.isEmpty()) {
            for (SpeculationScope scope : speculations) {
                scope.submitted(queue, operation);
            }
        }
    }

    /** Tells the observer, if there is one, that an operation is held back until there is memory. */
    void heldForMemory(QueueOperation operation, StorageRequest request) {
        QueueObserver observing = observer();
        if (observing != null && operation.number != 0) {
            observing.heldForMemory(operation, request.bytes());
        }
    }

    /** Whether the observer, if there is one, is told of an operation. */
    boolean observes(QueueOperation operation) {
        return observer() != null && operation.number != 0;
    }

    /** Tells the observer, if there is one, that a wait that holds an operation back is over. */
    void waitOver(QueueOperation operation, int index) {
        QueueObserver observing = observer();
        if (observing != null && operation.number != 0) {
            observing.waitOver(operation, index);
        }
    }

    /** Tells the observer, if there is one, the decisions about the waits of an operation. */
    void decided(QueueOperation operation, QueueObserver.Decisions decisions) {
        QueueObserver observing = observer();
        if (observing != null && operation.number != 0) {
            observing.decided(operation, decisions);
        }
    }

    /** Tells the observer, if there is one, that an operation is issued: also if it was submitted before there was one. */
    void issued(QueueOperation operation) {
        QueueObserver observing = observer();
        if (observing != null) {
            observing.issued(
                    operation,
                    switch (operation) {
                        case StorageRequest request -> request.memory();
                        case StorageRelease release -> release.memory();
                        default -> null;
                    });
        }
    }

    /** Tells the observer, if there is one, that the host has learnt of the end of an operation. */
    void completed(QueueOperation operation) {
        QueueObserver observing = observer();
        if (observing != null && operation.number != 0) {
            observing.completed(operation);
        }
    }

    /** Tells the observer, if there is one, that an operation is about to end that was completed before its waits were resolved. */
    void ending(QueueOperation operation) {
        QueueObserver observing = observer();
        if (observing != null && operation.number != 0) {
            observing.ending(operation);
        }
    }

    /** Tells the observer that the hardware begins an operation; returns whether there is one. */
    boolean began(QueueOperation operation) {
        QueueObserver observing = observer();
        if (observing != null && operation.number != 0) {
            observing.began(operation);
        }
        return observing != null;
    }

    /** Tells the observer, if there is one, that a device is lost. */
    void lost(QueueScheduler queue, IreeException cause) {
        QueueObserver observing = observer();
        if (observing != null) {
            observing.lost(queue, cause);
        }
    }

    /** Notifies the observer and the speculation scopes that an operation is complete, after its signals. */
    void over(QueueOperation operation, @Nullable IreeException failure) {
        QueueObserver observing = observer();
        if (observing != null) {
            observing.over(operation, failure);
        }
        if (!speculations.isEmpty()) {
            for (SpeculationScope scope : speculations) {
                scope.over(operation, failure != null);
            }
        }
    }
}
