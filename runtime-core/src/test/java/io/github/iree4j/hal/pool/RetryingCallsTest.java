package io.github.iree4j.hal.pool;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.Effort;
import io.github.iree4j.async.FrontierTracker;
import io.github.iree4j.frontier.Frontier;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Calls in a wait for more memory while they hold some, without any admission, in less memory than needed together.
 * Failed calls are made again at once, and take memory again. The clock is virtual.
 */
@Tag("long")
class RetryingCallsTest {
    private static final int ROUNDS = Effort.rounds(100, 2_000);
    private static final long SEED = Effort.seed(RetryingCallsTest.class, ROUNDS + " rounds", 0);
    private static final long MILLI = Timetable.MILLI;
    private static final long SECOND = TimeUnit.SECONDS.toNanos(1);

    /** Callers with a common budget. */
    private static final class Load {
        final Timetable time = new Timetable();
        final PoolSet set;
        int answered;
        int failed;

        Load(long budget) {
            long part = Math.max(64, budget / 512 & -64); // as on devices
            set = time.builder(FrontierTracker.create())
                    .budget(budget)
                    .waste(part)
                    .pool(PoolOptions.tlsf("transient", part, part)
                            .withLifetime(PoolOptions.Lifetimes.TRANSIENT)
                            .withSizes(0, part))
                    .pool(PoolOptions.tlsf("persistent", part, part)
                            .withLifetime(PoolOptions.Lifetimes.PERSISTENT)
                            .withSizes(0, part))
                    .pool(PoolOptions.passThrough("large").withRetained(Long.MAX_VALUE))
                    .build();
        }

        void caller(Sizes sizes, long after) {
            time.plan(after, new Caller(this, sizes)::begin);
        }
    }

    /** The sizes of a call: the input, and all else taken one after the other until the end. */
    private record Sizes(long input, List<Long> others) {
        long peak() {
            return input + others.stream().mapToLong(Long::longValue).sum();
        }
    }

    /** Makes the same call again and again. */
    private static final class Caller {
        private final Load load;
        private final Sizes sizes;
        private final List<Reservation> held = new ArrayList<>();
        private MemoryHolder call = next();

        Caller(Load load, Sizes sizes) {
            this.load = load;
            this.sizes = sizes;
        }

        private static MemoryHolder next() {
            return new MemoryHolder("call", new OperationsUnderWay());
        }

        void begin() {
            call = next();
            takeInput();
        }

        /** Memory with a lifetime decided by the host does not wait. */
        private void takeInput() {
            MemoryHolder before = call.enter();
            Reservation got =
                    load.set.tryReserve(ReservationRequest.of(sizes.input).asPersistent());
            call.leave(before);
            if (got == null) {
                fail();
            } else {
                held.add(got);
                allocate(0);
            }
        }

        private void allocate(int index) {
            if (index == sizes.others.size()) {
                answer();
                return;
            }
            MemoryHolder before = call.enter();
            load.set.reserve(ReservationRequest.of(sizes.others.get(index)), (reservation, failure) -> {
                if (reservation == null) {
                    load.time.plan(MILLI / 10, this::fail);
                } else {
                    held.add(reservation);
                    load.time.work(load.set, MILLI, () -> allocate(index + 1));
                }
            });
            call.leave(before);
        }

        private void end() {
            held.forEach(each -> each.release(Frontier.EMPTY));
            held.clear();
            call.end();
        }

        private void answer() {
            load.answered++;
            end();
            load.time.plan(1, this::begin);
        }

        private void fail() {
            load.failed++;
            end();
            load.time.plan(MILLI, this::begin); // to be made again
        }
    }

    private static long barely(long peak, double factor) {
        return (long) (peak * factor) + 64;
    }

    @Test
    void eightCallersOfTheStalledCallAreAnswered() {
        Sizes sizes = new Sizes(16_896, List.of(1_064_960L, 256L));
        for (double factor : new double[] {1.05, 1.2, 1.5, 2, 3}) {
            Load alone = new Load(barely(sizes.peak(), factor));
            alone.caller(sizes, 0);
            alone.time.run(4 * SECOND);
            assertThat(alone.failed).isZero();
            Load load = new Load(barely(sizes.peak(), factor));
            IntStream.range(0, 8).forEach(i -> load.caller(sizes, i));
            load.time.run(4 * SECOND);
            System.out.printf(
                    "%.2f: alone %d, eight %d and %d failed%n", factor, alone.answered, load.answered, load.failed);
            assertThat(load.answered).as("%f", factor).isGreaterThan(alone.answered / 2);
        }
    }

    @Test
    void whoeverTriesAgainSomebodyIsAnswered() {
        for (long seed = SEED; seed < SEED + ROUNDS; seed++) {
            Random random = new Random(seed);
            long unit = 64L << random.nextInt(12);
            Sizes sizes = sizes(random, unit);
            double factor = 1.05 + 2 * random.nextDouble() * random.nextDouble();
            Load load = new Load(barely(sizes.peak(), factor) + 12 * 64);
            int count = 2 + random.nextInt(12);
            for (int i = 0; i < count; i++) {
                load.caller(random.nextInt(3) > 0 ? sizes : smaller(sizes, random), random.nextInt((int) MILLI));
            }
            int before = 0;
            for (int second = 0; second < 20; second += 4) {
                load.time.run(4 * SECOND);
                assertThat(load.answered)
                        .as("seed %d, second %d: %d failed, %s", seed, second, load.failed, load.set.statistics())
                        .isGreaterThan(before);
                before = load.answered;
            }
        }
    }

    private static Sizes sizes(Random random, long unit) {
        List<Long> others = new ArrayList<>();
        for (int i = 0; i <= random.nextInt(4); i++) {
            others.add(unit * (1 + random.nextInt(100)));
        }
        return new Sizes(unit * (1 + random.nextInt(30)), others);
    }

    private static Sizes smaller(Sizes sizes, Random random) {
        double part = random.nextDouble();
        return new Sizes(
                (long) (sizes.input * part),
                sizes.others.stream().map(each -> (long) (each * part)).toList());
    }
}
