package io.github.iree4j.hal.pool;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.Effort;
import io.github.iree4j.async.FrontierTracker;
import io.github.iree4j.frontier.Axis;
import io.github.iree4j.frontier.CausalDomain;
import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.frontier.FrontierAccumulator;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Whether memory is reused too early. Streams allocate, wait for each other and free, with frontiers of far too little
 * capacity; the model keeps the full order of each operation and each byte. A byte may be reused when everything behind
 * its last user, the free included, has finished or comes before the new user.
 */
@Tag("long")
class ReuseSoundnessTest {
    private static final int PROGRAMS = Effort.rounds(400, 20_000);
    private static final int ACTIONS = 300;
    private static final int GRANULE = 64;

    /** The past of an operation, itself included: by axis the epoch. */
    private record Truth(Map<Long, Long> epochs) {
        Truth() {
            this(new HashMap<>());
        }

        void join(Truth other) {
            other.epochs.forEach((axis, epoch) -> epochs.merge(axis, epoch, Math::max));
        }

        Truth copy() {
            return new Truth(new HashMap<>(epochs));
        }
    }

    private record Operation(long axis, long epoch, Frontier frontier, Truth truth) {}

    private static final class Stream {
        final long axis;
        final FrontierAccumulator accumulator;
        final Truth truth = new Truth();
        final ArrayDeque<Operation> running = new ArrayDeque<>();
        final List<Operation> marks = new ArrayList<>(); // points for waits of others

        @Nullable
        Operation last;

        Stream(long axis, int capacity) {
            this.axis = axis;
            this.accumulator = new FrontierAccumulator(axis, capacity);
        }
    }

    private record Held(Reservation reservation, Stream owner) {}

    private long reused;
    private long waited;
    private long refused;
    private long tainted;

    // POOL-1: memory is granted only once its last user has finished, is known to come before, or is waited for.
    @Test
    void noByteIsReusedBeforeItsLastUserHasFinished() {
        long first = Effort.seed(ReuseSoundnessTest.class, PROGRAMS + " programs", 0);
        for (long seed = first; seed < first + PROGRAMS; seed++) {
            run(seed);
        }
        // The test proves nothing unless memory was contended.
        assertThat(List.of(reused, waited, refused, tainted)).allMatch(n -> n > PROGRAMS);
    }

    private void run(long seed) {
        Random random = new Random(seed);
        FrontierTracker tracker = FrontierTracker.create();
        int capacity = 1 + random.nextInt(4);
        PoolOptions options = switch (random.nextInt(3)) {
            case 0 ->
                PoolOptions.tlsf("fixed", 4 * 4 * GRANULE, 4 * 4 * GRANULE).withSizes(0, 4 * GRANULE);
            case 1 -> PoolOptions.passThrough("pass").withRetained(16 * GRANULE);
            default -> PoolOptions.tlsf("tlsf", 16 * GRANULE, 32 * GRANULE);
        };
        FakeSlabs slabs = new FakeSlabs();
        Pool pool = PoolSet.builder(slabs, tracker)
                .budget(48 * GRANULE)
                .frontierCapacity(1 + random.nextInt(3))
                .pool(options)
                .build()
                .pools()
                .getFirst();
        List<Stream> streams = new ArrayList<>();
        for (int i = 0; i < 2 + random.nextInt(5); i++) {
            long axis = Axis.of(1, 0, CausalDomain.QUEUE, i);
            tracker.register(axis);
            streams.add(new Stream(axis, capacity));
        }
        Map<Slab, Truth[]> users = new HashMap<>(); // of each granule the past of its last user
        List<Held> held = new ArrayList<>();
        for (int i = 0; i < ACTIONS; i++) {
            Stream stream = streams.get(random.nextInt(streams.size()));
            switch (random.nextInt(8)) {
                case 0, 1, 2 -> {
                    Frontier known = stream.accumulator.snapshot(tracker);
                    boolean waits = random.nextBoolean();
                    long size = GRANULE * (1 + random.nextInt(4));
                    Reservation got = pool.tryReserve(ReservationRequest.of(size)
                            .after(known, (axis, epoch) -> waits ? mark(streams, axis, epoch) : null));
                    if (got != null) {
                        for (NativeTimepoint wait : got.waits()) {
                            stream.accumulator.join(wait.frontier(), tracker);
                            stream.truth.join(truthOf(streams, wait));
                        }
                        check(seed, got, stream, users, tracker);
                        issue(stream, tracker, random);
                        held.add(new Held(got, stream));
                    }
                }
                case 3, 4, 5 -> {
                    if (!held.isEmpty()) {
                        Held gone = held.remove(random.nextInt(held.size()));
                        // The freeing operation runs after the allocating operation.
                        stream.accumulator.join(owner(gone).frontier(), tracker);
                        stream.truth.join(owner(gone).truth());
                        Operation free = issue(stream, tracker, random);
                        Truth[] bytes = users.computeIfAbsent(
                                gone.reservation.slab(), slab -> new Truth[(int) (slab.size() / GRANULE)]);
                        for (long at = gone.reservation.offset();
                                at < gone.reservation.offset() + gone.reservation.length();
                                at += GRANULE) {
                            bytes[(int) (at / GRANULE)] = free.truth();
                        }
                        gone.reservation.release(free.frontier());
                    }
                }
                case 6 -> {
                    Stream other = streams.get(random.nextInt(streams.size()));
                    if (other.last != null) {
                        stream.accumulator.join(other.last.frontier(), tracker);
                        stream.truth.join(other.last.truth());
                        issue(stream, tracker, random);
                    }
                }
                default -> complete(streams, tracker, random);
            }
            users.keySet().retainAll(slabs.out); // slabs are returned only once their users have finished
            pool.verify();
        }
        PoolStatistics statistics = pool.statistics();
        reused += statistics.reusedWithoutWait();
        waited += statistics.reusedAfterWait();
        refused += statistics.refusedUncovered();
        tainted += statistics.refusedTainted();
        // No memory is lost for good: once all work has finished, all of it is free, however many entries were lost.
        while (complete(streams, tracker, random)) {
            // on
        }
        held.forEach(each -> each.reservation.release(Frontier.EMPTY));
        pool.trim();
        assertThat(slabs.bytesOut).as("seed %d", seed).isZero();
    }

    private static Operation owner(Held held) {
        Operation last = held.owner.last;
        assertThat(last).isNotNull();
        return last;
    }

    private static Operation issue(Stream stream, FrontierTracker tracker, Random random) {
        long epoch = stream.accumulator.issued() + 1;
        stream.truth.epochs.put(stream.axis, epoch);
        Operation operation =
                new Operation(stream.axis, epoch, stream.accumulator.issue(epoch, tracker), stream.truth.copy());
        stream.running.add(operation);
        stream.last = operation;
        if (random.nextInt(3) == 0) {
            stream.marks.add(operation);
        }
        return operation;
    }

    /** Ends the first operation of a random stream, if its past has finished. */
    private static boolean complete(List<Stream> streams, FrontierTracker tracker, Random random) {
        int start = random.nextInt(streams.size());
        for (int i = 0; i < streams.size(); i++) {
            Stream stream = streams.get((start + i) % streams.size());
            Operation head = stream.running.peek();
            if (head != null
                    && head.truth().epochs().entrySet().stream()
                            .allMatch(each -> each.getKey() == stream.axis
                                    || tracker.completed(each.getKey()) >= each.getValue())) {
                stream.running.remove();
                tracker.advance(stream.axis, head.epoch());
                return true;
            }
        }
        return false;
    }

    private static @Nullable NativeTimepoint mark(List<Stream> streams, long axis, long epoch) {
        for (Stream stream : streams) {
            if (stream.axis == axis) {
                for (Operation each : stream.marks) {
                    if (each.epoch() >= epoch) {
                        return new NativeTimepoint("queue", axis, each.epoch(), each.frontier());
                    }
                }
            }
        }
        return null;
    }

    private static Truth truthOf(List<Stream> streams, NativeTimepoint wait) {
        for (Stream stream : streams) {
            if (stream.axis == wait.axis()) {
                for (Operation each : stream.marks) {
                    if (each.epoch() == wait.epoch()) {
                        return each.truth();
                    }
                }
            }
        }
        throw new AssertionError("no mark " + wait);
    }

    private static void check(
            long seed, Reservation got, Stream stream, Map<Slab, Truth[]> users, FrontierTracker tracker) {
        Truth[] bytes = users.computeIfAbsent(got.slab(), slab -> new Truth[(int) (slab.size() / GRANULE)]);
        for (long at = got.offset(); at < got.offset() + got.length(); at += GRANULE) {
            Truth user = bytes[(int) (at / GRANULE)];
            if (user != null) {
                user.epochs()
                        .forEach((axis, epoch) -> assertThat(
                                        Math.max(stream.truth.epochs().getOrDefault(axis, 0L), tracker.completed(axis)))
                                .as("seed %d: %s given to %s", seed, got, Axis.toString(stream.axis))
                                .isGreaterThanOrEqualTo(epoch));
            }
        }
    }
}
