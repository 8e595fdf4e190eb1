package io.github.iree4j.hal.schedule;

import io.github.iree4j.async.Fence;
import io.github.iree4j.async.FrontierTracker;
import io.github.iree4j.frontier.AxisAllocator;
import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.hal.SchedulingDomain;
import io.github.iree4j.hal.virtual.VirtualClock;
import io.github.iree4j.hal.virtual.VirtualDevice;
import io.github.iree4j.status.IreeException;
import java.util.concurrent.ConcurrentLinkedQueue;

/** A queue with hardware completing operations on command. */
final class ManualQueue {
    /** Provides a name for messages. */
    private static final VirtualDevice DEVICE =
            VirtualDevice.builder().clock(VirtualClock.stepped()).build();

    final QueueScheduler scheduler;
    private final ConcurrentLinkedQueue<QueueOperation> onHardware = new ConcurrentLinkedQueue<>();

    private ManualQueue(SchedulingDomain domain, boolean stream) {
        QueueBackend backend = stream ? new Stream() : (UnorderedBackend) this::issue;
        this.scheduler = QueueScheduler.create(domain, DEVICE, DEVICE, backend);
    }

    static SchedulingDomain domain() {
        return SchedulingDomain.create(AxisAllocator.create(9, 0), FrontierTracker.create(), Frontier.DEFAULT_CAPACITY);
    }

    static ManualQueue stream(SchedulingDomain domain) {
        return new ManualQueue(domain, true);
    }

    static ManualQueue unordered(SchedulingDomain domain) {
        return new ManualQueue(domain, false);
    }

    static ManualQueue stream() {
        return new ManualQueue(domain(), true);
    }

    static ManualQueue unordered() {
        return new ManualQueue(domain(), false);
    }

    private void issue(QueueOperation operation) {
        ((CountedOperation) operation).issued.incrementAndGet();
        onHardware.add(operation);
    }

    /** A stream unable to wait for other streams. */
    private final class Stream implements FifoBackend {
        @Override
        public boolean issue(Issue next) {
            ManualQueue.this.issue(next.operation());
            return true;
        }

        @Override
        public boolean canWaitFor(FifoBackend producer, long epoch) {
            return false;
        }

        @Override
        public boolean canWaitForExternal(Object primitive) {
            return false;
        }
    }

    CountedOperation submit(Fence wait) {
        CountedOperation operation = new CountedOperation();
        submit(wait, operation);
        return operation;
    }

    void submit(Fence wait, CountedOperation operation) {
        scheduler.submit(wait, operation.signal, () -> operation);
    }

    /** Completes the issued operations. */
    void complete(IreeException failure) {
        for (QueueOperation operation; (operation = onHardware.poll()) != null; ) {
            scheduler.completed(operation, failure);
        }
    }
}
