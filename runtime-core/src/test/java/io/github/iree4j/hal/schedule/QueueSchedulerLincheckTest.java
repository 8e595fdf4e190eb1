package io.github.iree4j.hal.schedule;

import io.github.iree4j.Effort;
import io.github.iree4j.Lincheck;
import io.github.iree4j.LincheckOptions;
import io.github.iree4j.async.Fence;
import io.github.iree4j.async.FrontierTracker;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.frontier.AxisAllocator;
import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.SchedulingDomain;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Validate;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * SCHED-1, SCHED-2, SCHED-3: whatever threads do with a queue concurrently, in the end every operation was issued at most once,
 * has ended exactly once or has reason to wait, and no listener was notified twice.
 */
@Lincheck
public class QueueSchedulerLincheckTest {
    /** Asked for the name only. Not a virtual device: Lincheck cannot instrument the internals. */
    private static final Device DEVICE = (Device) Proxy.newProxyInstance(
            Device.class.getClassLoader(),
            new Class<?>[] {Device.class},
            (proxy, method, arguments) -> switch (method.getName()) {
                case "equals" -> proxy == arguments[0];
                case "hashCode" -> 0;
                default -> "device";
            });

    private static final class Counted extends QueueOperation {
        final TimelineSemaphore done = TimelineSemaphore.create(0);
        final Fence signal = Fence.at(done, 1);
        final AtomicInteger issued = new AtomicInteger();
        final AtomicInteger failures = new AtomicInteger();
        final AtomicInteger holds = new AtomicInteger();

        Counted() {
            super("counted");
        }

        @Override
        protected void retain() {
            holds.incrementAndGet();
        }

        @Override
        protected void release() {
            holds.decrementAndGet();
        }

        @Override
        protected void failed(IreeException cause) {
            failures.incrementAndGet();
        }
    }

    /** Hardware with completion of operations on demand. */
    private static final class Stream implements FifoBackend {
        private final Consumer<QueueOperation> issued;

        Stream(Consumer<QueueOperation> issued) {
            this.issued = issued;
        }

        @Override
        public boolean issue(Issue next) {
            issued.accept(next.operation());
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

    /** A queue, and the actions of threads on the queue. */
    public abstract static class Racing {
        private final TimelineSemaphore awaited = TimelineSemaphore.create(0);
        private final Fence wait = Fence.at(awaited, 1);
        private final ConcurrentLinkedQueue<QueueOperation> onHardware = new ConcurrentLinkedQueue<>();
        private final QueueScheduler scheduler;
        private final List<Counted> submitted = new ArrayList<>();
        private final Counted first = new Counted();
        private volatile boolean ended;

        Racing(Function<Consumer<QueueOperation>, QueueBackend> hardware) {
            SchedulingDomain domain = SchedulingDomain.create(
                    AxisAllocator.create(9, 0), FrontierTracker.create(), Frontier.DEFAULT_CAPACITY);
            scheduler = QueueScheduler.create(domain, DEVICE, DEVICE, hardware.apply(operation -> {
                ((Counted) operation).issued.incrementAndGet();
                onHardware.add(operation);
            }));
            submit(first);
        }

        private void submit(Counted operation) {
            synchronized (submitted) {
                submitted.add(operation);
            }
            scheduler.submit(wait, operation.signal, () -> operation);
        }

        /** Submits another waiting operation. */
        @Operation
        public void submitAnother() {
            submit(new Counted());
        }

        /** Reaches the awaited value; returns whether accepted. */
        @Operation
        public boolean reach() {
            try {
                awaited.signal(1);
                return true;
            } catch (IreeException refused) {
                return false;
            }
        }

        @Operation
        public void failTheWait() {
            awaited.fail(IreeException.of(StatusCode.DATA_LOSS, "lost on purpose"));
        }

        @Operation
        public void cancelTheFirst() {
            scheduler.cancel(first, IreeException.of(StatusCode.CANCELLED, "no longer wanted"));
        }

        @Operation
        public void close() {
            scheduler.close();
            ended = true;
        }

        @Operation
        public void lose() {
            scheduler.lost(IreeException.of(StatusCode.UNAVAILABLE, "unplugged"));
            ended = true;
        }

        /** The hardware completes the operations. */
        @Operation
        public void complete() {
            for (QueueOperation operation; (operation = onHardware.poll()) != null; ) {
                scheduler.completed(operation, null);
            }
        }

        /** Every operation has ended, or has reason to wait. */
        @Validate
        public void everyOperationEndedOnceOrWaits() {
            complete();
            boolean resolved = awaited.value() >= 1 || awaited.failure() != null;
            for (Counted each : submitted) {
                boolean reached = each.done.value() == 1 && each.done.failure() == null;
                boolean failed = each.done.value() == 0 && each.done.failure() != null;
                boolean waits = each.done.value() == 0 && each.done.failure() == null && !resolved && !ended;
                boolean right = each.issued.get() <= 1
                        && each.failures.get() <= 1
                        && each.holds.get() == (waits ? 1 : 0)
                        && (reached ? each.issued.get() == 1 && each.failures.get() == 0 : failed || waits);
                if (!right) {
                    throw new IllegalStateException("issued " + each.issued + ", failed " + each.failures + ", held "
                            + each.holds + ", value " + each.done.value() + ", failure " + each.done.failure());
                }
            }
        }
    }

    /** On a stream. */
    public static class OnAStream extends Racing {
        /** For Lincheck. */
        public OnAStream() {
            super(Stream::new);
        }
    }

    /** On an unordered queue. */
    public static class OnAnUnorderedQueue extends Racing {
        /** For Lincheck. */
        public OnAnUnorderedQueue() {
            super(issued -> (UnorderedBackend) issued::accept);
        }
    }

    @ParameterizedTest
    @ValueSource(classes = {OnAStream.class, OnAnUnorderedQueue.class})
    void operationsEndOnceUnderModelChecking(Class<?> queue) {
        LincheckOptions.modelChecking()
                .iterations(Effort.rounds(1, 10))
                .invocationsPerIteration(400)
                .threads(2)
                .actorsPerThread(3)
                .check(queue);
    }

    @ParameterizedTest
    @ValueSource(classes = {OnAStream.class, OnAnUnorderedQueue.class})
    void operationsEndOnceUnderStress(Class<?> queue) {
        LincheckOptions.stress()
                .iterations(Effort.rounds(1, 10))
                .invocationsPerIteration(1_000)
                .threads(3)
                .actorsPerThread(2)
                .check(queue);
    }
}
