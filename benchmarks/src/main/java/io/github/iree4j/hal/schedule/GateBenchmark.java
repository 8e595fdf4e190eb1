package io.github.iree4j.hal.schedule;

import io.github.iree4j.IreeRuntime;
import io.github.iree4j.async.Fence;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.BufferParams;
import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.DeviceQueue;
import java.util.Arrays;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/**
 * How long does the signal of a value take, with 1,000 waiting operations of a queue? Bound: 50 us at the median on a
 * machine without other work.
 *
 * <p>Each operation fills 4 KiB and signals a separate timeline; the operations run after the measured part. The
 * yardstick is a bare wake-up, since a signal includes waking another thread: a sleeping thread is unparked and unparks
 * the signalling thread, which sleeps meanwhile. A round trip is made before each signal; the times are printed after
 * the measurements of each driver.
 *
 * <pre>{@code
 * java -jar benchmarks/target/benchmarks.jar GateBenchmark -p driver=local,vulkan,cuda \
 *     -jvmArgsAppend -Diree.cuda.library=$(bin/fake-driver cuda)
 * }</pre>
 */
@BenchmarkMode(Mode.SampleTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Fork(value = 1, jvmArgsAppend = "--enable-native-access=ALL-UNNAMED")
@Warmup(iterations = 3, time = 3)
@Measurement(iterations = 5, time = 3)
@State(Scope.Thread)
public class GateBenchmark {
    private static final int OPERATIONS = 1000;
    private static final int BYTES = 4096;
    private static final int MOST_ROUND_TRIPS = 1 << 20;

    /** Sleeps until woken, and then wakes the waker. */
    private static final class Sleeper extends Thread {
        private volatile @Nullable Thread waker;
        private volatile boolean over;

        Sleeper() {
            setDaemon(true);
        }

        @Override
        public void run() {
            while (!over) {
                LockSupport.park(this);
                Thread woken = waker;
                if (woken != null) {
                    waker = null;
                    LockSupport.unpark(woken);
                }
            }
        }

        /**
         * Wakes this thread, once asleep, and sleeps until woken in return. Stores the nanoseconds until the unpark
         * returned, and until the caller was woken.
         */
        void roundTrip(long[] unparks, long[] roundTrips, int index) {
            while (getState() != State.WAITING) {
                Thread.onSpinWait();
            }
            long start = System.nanoTime();
            waker = Thread.currentThread();
            LockSupport.unpark(this);
            unparks[index] = System.nanoTime() - start;
            while (waker != null) {
                LockSupport.park(this);
            }
            roundTrips[index] = System.nanoTime() - start;
        }

        void end() {
            over = true;
            LockSupport.unpark(this);
        }
    }

    /** The device's driver. */
    @Param({"local", "vulkan"})
    public String driver = "local";

    private IreeRuntime runtime;
    private DeviceQueue queue;
    private Buffer target;
    private TimelineSemaphore gate;
    private TimelineSemaphore done;
    private long round;
    private Sleeper sleeper;
    private final long[] unparks = new long[MOST_ROUND_TRIPS];
    private final long[] roundTrips = new long[MOST_ROUND_TRIPS];

    /** For JMH. */
    @SuppressWarnings("NullAway.Init") // JMH calls open()
    public GateBenchmark() {}

    /** Opens the device. */
    @Setup
    public void open() {
        runtime = IreeRuntime.builder().device(driver).build();
        Device device = runtime.device();
        queue = device.queue(0);
        target = device.allocator().allocate(BufferParams.DEFAULT, BYTES);
        gate = TimelineSemaphore.create(0);
        done = TimelineSemaphore.create(0);
        sleeper = new Sleeper();
        sleeper.start();
    }

    /** Submits the waiting operations, and measures a bare wake-up. */
    @Setup(Level.Invocation)
    public void submit() {
        sleeper.roundTrip(unparks, roundTrips, (int) (round % MOST_ROUND_TRIPS));
        round++;
        for (int i = 0; i < OPERATIONS; i++) {
            try (Fence wait = Fence.at(gate, round);
                    Fence signal =
                            i == OPERATIONS - 1 ? Fence.at(done, round) : Fence.adopt(TimelineSemaphore.create(0), 1)) {
                queue.fill(wait, signal, target, 0, BYTES, i, Integer.BYTES, 0);
            }
        }
    }

    /** Signals. */
    @Benchmark
    public void signalBeforeAThousand() {
        gate.signal(round);
    }

    /** Waits until all operations have run. */
    @TearDown(Level.Invocation)
    public void await() {
        done.await(round);
    }

    /** Closes the device. */
    @TearDown
    public void close() {
        sleeper.end();
        show("unpark of a thread that sleeps", unparks);
        show("until it runs and has woken this one", roundTrips);
        target.close();
        gate.close();
        done.close();
        runtime.close();
    }

    private void show(String what, long[] nanos) {
        long[] sorted = Arrays.copyOf(nanos, (int) Math.min(round, MOST_ROUND_TRIPS));
        Arrays.sort(sorted);
        System.out.printf(
                "%n%s, beside '%s': p50 %.1f us, p90 %.1f, p99 %.1f, of %d%n",
                what, driver, at(sorted, 0.5), at(sorted, 0.9), at(sorted, 0.99), sorted.length);
    }

    private static double at(long[] sorted, double part) {
        return sorted[(int) (part * (sorted.length - 1))] / 1e3;
    }
}
