package io.github.iree4j.hal.contract;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.Effort;
import io.github.iree4j.async.Fence;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.DeviceQueue;
import io.github.iree4j.hal.spi.DeviceOptions;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * A device closed at any moment, from the first instruction after the opening, while another thread uses the device:
 * every operation ends, and nothing is left.
 */
@Tag("long")
@Timeout(600)
public abstract class ClosingContract extends DeviceContract {
    private static final int ROUNDS = Effort.rounds(240, 4000);
    private static final Duration LIMIT = Duration.ofSeconds(60);

    /** Too late, in flight, or behind one of these. */
    private static final Set<StatusCode> CODES =
            Set.of(StatusCode.FAILED_PRECONDITION, StatusCode.ABORTED, StatusCode.CANCELLED);

    /** On a backend, closed after each test. */
    protected ClosingContract(Backend backend) {
        super(backend);
    }

    /** The work of a thread on a device that another thread closes. */
    private static final class User {
        private final Device device;
        private final Random random;
        private final List<Fence> submitted = new ArrayList<>();
        private final List<AutoCloseable> own = new ArrayList<>();
        private final AtomicInteger calls = new AtomicInteger();
        private int hostCalls;

        User(Device device, Random random) {
            this.device = device;
            this.random = random;
        }

        /** Submits until refused, at most so many operations. */
        void run(int operations) {
            Fence before = null;
            for (int i = 0; i < operations; i++) {
                try {
                    before = submit(random.nextBoolean() ? before : null);
                } catch (IreeException e) {
                    assertThat(e.code())
                            .as("why a closed device refuses: %s", e.getMessage())
                            .isIn(CODES);
                    return;
                }
            }
        }

        private Fence submit(@Nullable Fence before) {
            TimelineSemaphore timeline = keep(device.createSemaphore(0, Device.SEMAPHORE_DEFAULT));
            Fence after = keep(Fence.at(timeline, 1));
            DeviceQueue queue = device.queue(random.nextInt(device.queueCount()));
            switch (random.nextInt(4)) {
                case 0 -> queue.barrier(before, after, 0);
                case 1 -> {
                    Buffer buffer = keep(device.allocator().allocate(PARAMS, 64 + random.nextInt(5000)));
                    queue.fill(before, after, buffer, 0, Buffer.WHOLE, random.nextInt(256), 1, 0);
                }
                case 2 -> {
                    queue.hostCall(before, after, calls::incrementAndGet, 0);
                    hostCalls++;
                }
                default -> {
                    Buffer buffer = keep(queue.alloca(before, after, PARAMS, 64 + random.nextInt(5000), 0));
                    submitted.add(after);
                    Fence gone = keep(Fence.at(timeline, 2));
                    queue.dealloca(after, gone, buffer, 0);
                    after = gone;
                }
            }
            submitted.add(after);
            return after;
        }

        private <T extends AutoCloseable> T keep(T closeable) {
            own.add(closeable);
            return closeable;
        }

        /** After the device was closed. */
        void assertAllEnded() throws Exception {
            for (Fence each : submitted) {
                try {
                    each.await(LIMIT);
                } catch (IreeException e) {
                    assertThat(e.code())
                            .as("why an operation of a closed device failed: %s", e.getMessage())
                            .isIn(CODES);
                }
            }
            assertThat(calls.get()).as("host calls that ran").isLessThanOrEqualTo(hostCalls);
            for (AutoCloseable each : own.reversed()) {
                each.close();
            }
        }
    }

    @Test
    void aDeviceClosesAtAnyMoment() throws Exception {
        long seed = Effort.seed(getClass(), ROUNDS + " devices", 20261123);
        for (int i = 0; i < ROUNDS; i++) {
            round(seed + i);
        }
    }

    private void round(long seed) throws Exception {
        Random random = new Random(seed);
        int queues = 1 + random.nextInt(2);
        int operations = random.nextInt(3) == 0 ? 0 : random.nextInt(12); // often none: a waiter that has yet to begin
        int spins = random.nextBoolean() ? 0 : 1 << random.nextInt(14);
        try {
            Device used = open(DeviceOptions.builder().queueCount(queues));
            User user = new User(used, new Random(random.nextLong()));
            CompletableFuture<Void> using = CompletableFuture.runAsync(() -> user.run(operations));
            for (int i = 0; i < spins; i++) {
                Thread.onSpinWait();
            }
            used.close();
            using.join();
            user.assertAllEnded();
            // The thread that fails an operation tells its waiters before it lets its buffers go.
            long end = System.nanoTime() + LIMIT.toNanos();
            while (used.allocator().statistics().bytesLive() != 0 && System.nanoTime() < end) {
                Thread.onSpinWait();
            }
            assertThat(used.allocator().statistics().bytesLive())
                    .as("bytes still in use")
                    .isZero();
        } catch (Throwable t) {
            throw new AssertionError("seed " + seed + ": " + t, t);
        }
    }
}
