package io.github.iree4j.hal.schedule;

import io.github.iree4j.async.Fence;
import io.github.iree4j.async.FrontierTracker;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.frontier.AxisAllocator;
import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.hal.SchedulingDomain;
import io.github.iree4j.hal.virtual.VirtualDevice;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/**
 * How much does an operation's premise cost, by kind?
 *
 * <p>An operation of a producer's stream and an operation of a consumer's stream, submitted together, then completed
 * together, without hardware. Each operation of the producer signals a value of a timeline; the methods differ in the
 * consumer's wait. With {@code -prof gc}.
 */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(1)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@State(Scope.Thread)
public class PremiseBenchmark {
    private static final int OPERATIONS = 1000;

    private final NoHardware producing = new NoHardware();
    private final NoHardware consuming = new NoHardware();
    private FrontierTracker tracker;
    private VirtualDevice device;
    private QueueScheduler producer;
    private QueueScheduler consumer;
    private TimelineSemaphore produced;
    private TimelineSemaphore consumed;
    private TimelineSemaphore reached;
    private long epoch;

    /** For JMH. */
    @SuppressWarnings("NullAway.Init") // JMH calls open()
    public PremiseBenchmark() {}

    /** Creates the streams. */
    @Setup
    public void open() {
        tracker = FrontierTracker.create();
        device = VirtualDevice.builder().build();
        SchedulingDomain domain =
                SchedulingDomain.create(AxisAllocator.create(9, 0), tracker, Frontier.DEFAULT_CAPACITY);
        producer = QueueScheduler.create(domain, device, device, producing);
        consumer = QueueScheduler.create(domain, device, device, consuming);
        produced = TimelineSemaphore.create(0);
        consumed = TimelineSemaphore.create(0);
        reached = TimelineSemaphore.create(1);
    }

    /** No wait. */
    @Benchmark
    @OperationsPerInvocation(OPERATIONS)
    public long nothing() {
        for (int i = 1; i <= OPERATIONS; i++) {
            produce(epoch + i);
            consume(null, epoch + i);
        }
        return over(0);
    }

    /** A reached value: no premise. */
    @Benchmark
    @OperationsPerInvocation(OPERATIONS)
    public long reached() {
        for (int i = 1; i <= OPERATIONS; i++) {
            produce(epoch + i);
            consume(Fence.at(reached, 1), epoch + i);
        }
        return over(0);
    }

    /** The value promised by the consumer's previous operation: the order of the stream. */
    @Benchmark
    @OperationsPerInvocation(OPERATIONS)
    public long streamOrder() {
        for (int i = 1; i <= OPERATIONS; i++) {
            produce(epoch + i);
            consume(i == 1 ? null : Fence.at(consumed, epoch + i - 1), epoch + i);
        }
        return over(0);
    }

    /** Values promised by the producer, after a wait for the last value: the stream's frontier includes all. */
    @Benchmark
    @OperationsPerInvocation(OPERATIONS)
    public long streamFrontier() {
        for (int i = 1; i <= OPERATIONS; i++) {
            produce(epoch + i);
        }
        for (int i = 1; i <= OPERATIONS; i++) {
            consume(Fence.at(produced, epoch + (i == 1 ? OPERATIONS : i - 1)), epoch + i);
        }
        return over(1);
    }

    /** Each time the value just promised by the producer: a wait on the hardware. */
    @Benchmark
    @OperationsPerInvocation(OPERATIONS)
    public long deviceWait() {
        for (int i = 1; i <= OPERATIONS; i++) {
            produce(epoch + i);
            consume(Fence.at(produced, epoch + i), epoch + i);
        }
        return over(OPERATIONS);
    }

    private void produce(long value) {
        try (Fence signal = Fence.at(produced, value)) {
            producer.submit(null, signal, NoHardware.Nothing::new);
        }
    }

    private void consume(@Nullable Fence wait, long value) {
        try (wait;
                Fence signal = Fence.at(consumed, value)) {
            consumer.submit(wait, signal, NoHardware.Nothing::new);
        }
    }

    private long over(int expected) {
        epoch += OPERATIONS;
        producer.completedUpTo(epoch);
        consumer.completedUpTo(epoch);
        long waits = producing.waits + consuming.waits;
        if (waits != expected || consumed.value() != epoch) {
            throw new IllegalStateException("%d waits, at %d".formatted(waits, consumed.value()));
        }
        consuming.waits = 0;
        return epoch;
    }

    /** Closes the streams. */
    @TearDown
    public void close() {
        producer.close();
        consumer.close();
        produced.close();
        consumed.close();
        reached.close();
        device.close();
        tracker.close();
    }
}
