package io.github.iree4j.hal.virtual;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.Effort;
import io.github.iree4j.async.Fence;
import io.github.iree4j.async.FrontierTracker;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.frontier.AxisAllocator;
import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.BufferParams;
import io.github.iree4j.hal.BufferRef;
import io.github.iree4j.hal.Channel;
import io.github.iree4j.hal.ChannelParams;
import io.github.iree4j.hal.Collective;
import io.github.iree4j.hal.CommandBuffer;
import io.github.iree4j.hal.DeviceQueue;
import io.github.iree4j.hal.MemoryAccess;
import io.github.iree4j.hal.SchedulingDomain;
import io.github.iree4j.hal.pool.MemoryHolder;
import io.github.iree4j.hal.pool.OperationsUnderWay;
import io.github.iree4j.hal.pool.PoolStatistics;
import io.github.iree4j.hal.schedule.QueueOperation;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Random invocations that allocate, write, read and free on the queues of a device with too little memory for all, in
 * any order allowed by their fences, with durations, late completions and failures. Each writes a mark over all its
 * bytes and checks, on reading, for anything else: the marks of others, and the fill of freed memory. Memory reused too
 * early shows.
 *
 * <p>In half of the programs invocations also wait for values of timelines with several independent signallers: ending
 * invocations, idle queues and the host by hand, lower values after promises of higher values. A memory waiter behind
 * such a promise may continue because of a lower value, and must then not rely on the promise.
 */
@Tag("long")
class RandomAllocationTest {
    private static final int INVOCATIONS = 40;
    private static final int LIMIT = 64 << 10;
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    private long withoutWait;
    private long afterWait;
    private long refused;
    private long waited;
    private long failed;
    private long allocations;
    private long lateValues;
    private long withdrawn;
    private long met;
    private long parted;
    private long lost;

    @Test
    void noByteOfAnOwnerIsSeenOrOverwrittenByAnother() {
        assertThat(Boolean.getBoolean("iree4j.memory.poison"))
                .as("tests run with freed memory overwritten")
                .isTrue();
        Effort.Programs programs = Effort.programs(RandomAllocationTest.class, 5_000, 100_000, 0);
        while (programs.hasNext()) {
            try (Program program = new Program(programs.nextLong())) {
                program.run();
            }
        }
        int count = programs.count();
        if (count < 100) {
            return; // a given seed
        }
        // The test proves nothing unless these cases occurred.
        assertThat(List.of(withoutWait, afterWait, refused, waited, failed, lateValues))
                .allMatch(n -> n > count / 4);
        assertThat(List.of(withdrawn, met, parted, lost)).allMatch(n -> n > count / 20);
        assertThat(waited).as("%d waiting allocations", allocations).isGreaterThan(allocations * 2 / 5);
    }

    /** A wrong observation by a reader of bytes declared written by these fences. */
    private record Wrong(List<Fence> written, String what) {}

    /** A timeline with values signalled by different invocations, in any order. */
    private static final class Shared {
        final TimelineSemaphore timeline = TimelineSemaphore.create(0);
        final TreeSet<Long> used = new TreeSet<>();

        /** A value without a signaller, often below a value with a signaller. */
        long unused(Random random, long from) {
            long value = from + random.nextInt(8);
            while (!used.add(value)) {
                value++;
            }
            return value;
        }
    }

    private final class Program implements AutoCloseable {
        private final long seed;
        private final Random random;
        private final VirtualClock clock = VirtualClock.stepped();
        private final FrontierTracker tracker = FrontierTracker.create();
        private final List<AutoCloseable> toClose = new ArrayList<>();
        private final List<Wrong> wrong = new ArrayList<>();
        private final List<Fence> ends = new ArrayList<>();
        private final List<Fence> gates = new ArrayList<>();
        private final VirtualDevice device;
        private final boolean failures;
        private final boolean independent;
        private final List<Shared> shared = new ArrayList<>();
        private final boolean cancellations;
        private final boolean collectives;
        private final boolean loses;
        private final SchedulingDomain domain;
        private final List<MemoryHolder> calls = new ArrayList<>();
        private final List<Fence> meetings = new ArrayList<>();

        Program(long seed) {
            this.seed = seed;
            this.random = new Random(seed);
            this.failures = random.nextInt(4) == 0;
            this.independent = random.nextInt(4) > 0;
            this.cancellations = random.nextInt(3) == 0;
            this.collectives = random.nextInt(3) == 0;
            this.loses = random.nextInt(8) == 0;
            this.domain = SchedulingDomain.create(AxisAllocator.create(7, 0), tracker, 1 + random.nextInt(4));
            Random times = new Random(seed + 1);
            int[] slowness = new int[5];
            for (int q = 0; q < slowness.length; q++) {
                slowness[q] = independent && random.nextBoolean() ? 10 + random.nextInt(50) : 6;
            }
            VirtualDevice.Builder builder = VirtualDevice.builder()
                    .clock(clock)
                    .schedulingDomain(domain)
                    .memoryLimit(LIMIT)
                    .script(new VirtualScript() {
                        @Override
                        public long duration(int queue, long number, QueueOperation operation) {
                            return times.nextInt(slowness[queue]);
                        }

                        @Override
                        public long completionDelay(int queue, long number, QueueOperation operation) {
                            return times.nextInt(4) == 0 ? times.nextInt(20) : 0;
                        }

                        @Override
                        public @Nullable IreeException failure(int queue, long number, QueueOperation operation) {
                            return failures && times.nextInt(40) == 0
                                    ? IreeException.of(StatusCode.DATA_LOSS, "on purpose")
                                    : null;
                        }
                    });
            builder.fifoQueues(1 + random.nextInt(4));
            if (random.nextInt(3) == 0) {
                builder.unorderedQueue(1 + random.nextInt(3));
            }
            this.device = builder.build();
        }

        private <T extends AutoCloseable> T closed(T resource) {
            toClose.add(resource);
            return resource;
        }

        private DeviceQueue queue() {
            return device.queue(random.nextInt(device.queueCount()));
        }

        void run() {
            int invocations = independent ? 8 + random.nextInt(20) : INVOCATIONS;
            for (int i = 0; i < invocations; i++) {
                submit((byte) (i + 1));
                for (int steps = random.nextInt(8); steps > 0; steps--) {
                    step();
                }
            }
            for (int steps = 50; steps > 0; steps--) {
                step();
            }
            while (!gates.isEmpty()) {
                gates.removeLast().signal();
                step();
            }
            finish();
            // A stream continues behind a failure unknown to the host: the writer may not have written.
            assertThat(wrong.stream()
                            .filter(each -> each.written().stream().allMatch(fence -> fence.query() == StatusCode.OK))
                            .map(Wrong::what))
                    .as("seed %d", seed)
                    .isEmpty();
            // While a request fits the system progresses; each of these does.
            assertThat(ends.stream().filter(end -> end.query() == StatusCode.DEFERRED))
                    .as("seed %d", seed)
                    .isEmpty();
            failed += ends.stream().filter(end -> end.failure().isPresent()).count();
            met += meetings.stream().filter(each -> each.failure().isEmpty()).count();
            parted +=
                    meetings.stream().filter(each -> each.failure().isPresent()).count();
            closeResources();
            assertThat(device.allocator().poolStatistics().bytesLive())
                    .as("seed %d", seed)
                    .isZero();
            for (PoolStatistics pool : device.allocator().poolStatistics().pools()) {
                withoutWait += pool.reusedWithoutWait();
                afterWait += pool.reusedAfterWait();
                refused += pool.refusedUncovered() + pool.refusedTainted();
                waited += pool.waits();
            }
        }

        /** Pools look for deadlocks in real time, on another thread; work started there happens on this clock. */
        private void finish() {
            long deadline = System.nanoTime() + PATIENCE.toNanos();
            do {
                clock.runUntilIdle();
            } while (ends.stream().anyMatch(end -> end.query() == StatusCode.DEFERRED)
                    && System.nanoTime() - deadline < 0);
        }

        private void step() {
            clock.step();
            if (!gates.isEmpty() && random.nextInt(6) == 0) {
                Fence gate = gates.remove(random.nextInt(gates.size()));
                if (cancellations && random.nextInt(4) == 0) {
                    gate.fail(IreeException.of(StatusCode.DEADLINE_EXCEEDED, "too late"));
                } else {
                    gate.signal();
                }
            }
            if (!calls.isEmpty() && random.nextInt(10) == 0) {
                withdrawn++;
                domain.withdraw(
                        calls.remove(random.nextInt(calls.size())),
                        IreeException.of(StatusCode.CANCELLED, "withdrawn"));
            }
            if (loses && device.failure().isEmpty() && random.nextInt(40) == 0) {
                lost++;
                device.lose(IreeException.of(StatusCode.UNAVAILABLE, "fell off the bus"));
            }
            if (!shared.isEmpty() && random.nextInt(5) == 0) {
                signalByHand();
            }
        }

        /** Submits an invocation, perhaps withdrawn later. */
        private void submit(byte mark) {
            if (!cancellations) {
                invoke(mark);
                return;
            }
            MemoryHolder call = new MemoryHolder("i" + mark, new OperationsUnderWay());
            MemoryHolder before = call.enter();
            try {
                invoke(mark);
            } finally {
                call.leave(before);
                call.end();
            }
            calls.add(call);
        }

        /** On one queue or several, behind another invocation or behind none. */
        private void invoke(byte mark) {
            DeviceQueue home = queue();
            boolean wanders = random.nextInt(3) == 0;
            long size = independent
                    ? LIMIT / 8 * (1L + random.nextInt(6)) // a few sizes, for freed memory to fit often
                    : 64L * (1 + random.nextInt(random.nextInt(3) == 0 ? LIMIT / 64 : LIMIT / 256));
            TimelineSemaphore own = closed(TimelineSemaphore.create(0));
            Fence behind = behind();
            allocations++;
            Buffer buffer =
                    closed(home.alloca(behind, at(own, 1), BufferParams.DEFAULT.withConsumer("i" + mark), size, 0));
            (wanders ? queue() : home).fill(at(own, 1), at(own, 2), buffer, 0, Buffer.WHOLE, mark, 1, 0);
            Fence written = at(own, 2);
            byte content = mark;
            if (collectives && device.failure().isEmpty() && random.nextInt(3) > 0) {
                written = meet(mark, buffer, size / 2, written);
                content *= 2;
            }
            byte expected = content;
            List<Fence> all = List.of(at(own, 2), written);
            (wanders ? queue() : home).hostCall(written, at(own, 3), () -> look(all, buffer, expected), 0);
            if (random.nextInt(8) > 0) {
                Fence end = at(own, 4);
                ends.add(end);
                long flags = random.nextBoolean() ? DeviceQueue.DEALLOCA_PREFER_ORIGIN : 0;
                // After a failure the host frees the buffer, once unused: by closing it.
                (wanders ? queue() : home).dealloca(at(own, 3, gate()), end, buffer, flags);
            } else { // the host does not deallocate
                Fence end = at(own, 3);
                ends.add(end);
                buffer.close();
            }
            if (failures || independent || cancellations || loses) {
                buffer.close(); // a failed invocation frees nothing in queue order
            }
            if (independent) {
                signalShared(ends.getLast());
            }
        }

        /** Two queues add a half of the bytes to the other, each in its half; returns the ends of both. */
        private Fence meet(byte mark, Buffer buffer, long half, Fence wait) {
            List<Fence> parts = new ArrayList<>();
            for (int rank = 0; rank < 2; rank++) {
                Channel channel = closed(device.createChannel(-1, ChannelParams.of("i" + mark, rank, 2)));
                Fence part = at(closed(TimelineSemaphore.create(0)), 1);
                BufferRef own = BufferRef.of(buffer, rank * half, half);
                try (CommandBuffer commands = device.createCommandBuffer(CommandBuffer.ONE_SHOT, 3, -1, 0)) {
                    commands.collective(
                            channel,
                            Collective.of(Collective.ALL_REDUCE, Collective.SUM, Collective.U8),
                            0,
                            own,
                            own,
                            half);
                    commands.finish();
                    queue().execute(wait, part, commands, null, 0);
                }
                parts.add(part);
            }
            Fence both = closed(Objects.requireNonNull(Fence.joinNullable(parts)));
            meetings.add(both);
            return both;
        }

        /** The wait of an invocation: none, the end of another, or a value with one of several signallers. */
        private @Nullable Fence behind() {
            if (independent && !shared.isEmpty() && random.nextInt(3) > 0) {
                Shared any = shared.get(Math.max(0, shared.size() - 1 - random.nextInt(3)));
                if (!any.used.isEmpty()) {
                    long next = any.timeline.value() + 1; // possibly the host's next signal
                    long last = any.used.last();
                    return at(any.timeline, random.nextBoolean() ? Math.min(next, last) : 1 + random.nextLong(last));
                }
            }
            return ends.isEmpty() || random.nextInt(3) > 0 ? null : ends.get(random.nextInt(ends.size()));
        }

        /** Signals a value behind the end of an invocation; and possibly a lower value, by a queue or by hand. */
        private void signalShared(Fence end) {
            if (shared.isEmpty() || random.nextInt(3) == 0) {
                Shared fresh = new Shared();
                closed(fresh.timeline);
                shared.add(fresh);
            }
            Shared any = shared.get(Math.max(0, shared.size() - 1 - random.nextInt(3)));
            if (any.used.isEmpty() || random.nextBoolean()) {
                queue().barrier(end, at(any.timeline, any.unused(random, 4)), 0);
            }
            if (random.nextInt(8) == 0) {
                queue().barrier(null, at(any.timeline, any.unused(random, 1)), 0);
            }
        }

        /** The host reaches a value below promises, or too high for some of them. */
        private void signalByHand() {
            Shared any = shared.get(Math.max(0, shared.size() - 1 - random.nextInt(4)));
            long value = any.timeline.value() + 1 + random.nextInt(2);
            if (any.timeline.failure() == null && any.used.add(value)) {
                lateValues += value < any.used.last() ? 1 : 0;
                any.timeline.signal(value);
            }
        }

        private void look(List<Fence> written, Buffer buffer, byte mark) {
            MemorySegment bytes = buffer.map(MemoryAccess.READ, 0, Buffer.WHOLE);
            for (long i = 0; i < bytes.byteSize(); i += 8) {
                byte found = bytes.get(ValueLayout.JAVA_BYTE, i);
                if (found != mark) {
                    wrong.add(new Wrong(written, "byte %d is %d instead of %d".formatted(i, found, mark)));
                    return;
                }
            }
        }

        private Fence at(TimelineSemaphore timeline, long value) {
            return closed(Fence.at(timeline, value));
        }

        private Fence at(TimelineSemaphore timeline, long value, @Nullable Fence other) {
            Fence first = at(timeline, value);
            return other == null ? first : closed(Fence.join(first, other));
        }

        /** An occasional wait for a later signal of the host. */
        private @Nullable Fence gate() {
            if (!independent || random.nextInt(3) > 0) {
                return null;
            }
            Fence gate = at(closed(TimelineSemaphore.create(0)), 1);
            gates.add(gate);
            return gate;
        }

        private void closeResources() {
            for (AutoCloseable each : toClose.reversed()) {
                try {
                    each.close();
                } catch (Exception e) {
                    throw new IllegalStateException(e);
                }
            }
            toClose.clear();
        }

        @Override
        public void close() {
            closeResources();
            device.close();
            tracker.close();
        }
    }
}
