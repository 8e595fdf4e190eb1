package io.github.iree4j.hal.schedule;

import io.github.iree4j.hal.SchedulingDomain;
import io.github.iree4j.hal.pool.MemoryHolder;
import io.github.iree4j.status.IreeException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** The schedulers of a domain and the speculation scopes that follow their operations. Safe from any thread. */
final class DomainQueues implements SchedulingDomain.Queues {
    private final ConcurrentHashMap<Long, QueueScheduler> queues = new ConcurrentHashMap<>(); // by axis, while open
    private final CopyOnWriteArrayList<SpeculationScope> speculations = new CopyOnWriteArrayList<>(); // while open

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

    /** Notifies the speculation scopes of an operation that is about to start. */
    void submitted(QueueScheduler queue, QueueOperation operation) {
        if (!speculations.isEmpty()) {
            for (SpeculationScope scope : speculations) {
                scope.submitted(queue, operation);
            }
        }
    }

    /** Notifies the speculation scopes that an operation is complete, after its signals. */
    void over(QueueOperation operation, boolean failed) {
        if (!speculations.isEmpty()) {
            for (SpeculationScope scope : speculations) {
                scope.over(operation, failed);
            }
        }
    }
}
