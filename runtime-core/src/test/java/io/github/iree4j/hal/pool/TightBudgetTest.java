package io.github.iree4j.hal.pool;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.Effort;
import io.github.iree4j.async.FrontierTracker;
import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.hal.spi.DeviceOptions;
import io.github.iree4j.hal.spi.DevicePools;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * A call that runs alone needs 1.05 times its peak of bytes, whatever ran before: the pools of devices waste no more.
 */
@Tag("long")
class TightBudgetTest {
    private static final int ROUNDS = Effort.rounds(800, 50_000);
    private static final long SEED = Effort.seed(TightBudgetTest.class, ROUNDS + " rounds", 0);
    private static final int BLOCKS = 12; // of a call at once, see DevicePools

    /** Reserves {@code size} bytes, or releases the reservation of step number {@code of}. */
    private record Step(long size, boolean persistent, int of) {}

    /** A call: the steps, and the peak of bytes. */
    private record Program(List<Step> steps, long peak) {
        /** A random call with at most a number of bytes at once. */
        static Program within(long most, Random random) {
            List<Step> steps = new ArrayList<>();
            List<Integer> held = new ArrayList<>();
            long live = 0;
            long peak = 0;
            int length = 2 + random.nextInt(40);
            while (steps.size() < length) {
                long size = random.nextInt(3) == 0
                        ? (long) (most * random.nextDouble())
                        : (long) Math.pow(most, random.nextDouble());
                long taken = taken(size);
                if (held.size() < BLOCKS && live + taken <= most) {
                    held.add(steps.size());
                    steps.add(new Step(size, random.nextBoolean(), -1));
                    live += taken;
                    peak = Math.max(peak, live);
                } else if (!held.isEmpty()) {
                    int of = held.remove(random.nextInt(held.size()));
                    steps.add(new Step(0, false, of));
                    live -= taken(steps.get(of).size);
                }
            }
            return new Program(steps, peak);
        }

        private static long taken(long size) {
            return BlockStore.alignUp(Math.max(size, 1), 64);
        }
    }

    /** A program run step by step. */
    private static final class Run {
        final Program program;
        private final @Nullable Reservation[] got;
        private int at;
        int refused;

        Run(Program program) {
            this.program = program;
            this.got = new Reservation[program.steps.size()];
        }

        boolean isOver() {
            return at == got.length;
        }

        void step(PoolSet set) {
            Step step = program.steps.get(at);
            if (step.of < 0) {
                ReservationRequest request = ReservationRequest.of(step.size);
                Reservation reservation = set.tryReserve(step.persistent ? request.asPersistent() : request);
                refused += reservation == null ? 1 : 0;
                got[at] = reservation;
            } else {
                release(step.of);
            }
            at++;
        }

        private void release(int number) {
            Reservation reservation = got[number];
            if (reservation != null) {
                got[number] = null;
                reservation.release(Frontier.EMPTY);
            }
        }

        void end() {
            for (int i = 0; i < got.length; i++) {
                release(i);
            }
        }
    }

    private static PoolSet pools(long budget) {
        DeviceOptions options = DeviceOptions.builder().memoryLimit(budget).build();
        return new DevicePools(
                        () -> "tight", new FakeSlabs(), Long.MAX_VALUE, options, budget, () -> false, Runnable::run)
                .add("", UnaryOperator.identity())
                .build();
    }

    private static long barely(long peak) {
        return peak + peak / 20;
    }

    @Test
    void aCallRunsAloneInBarelyMoreThanItsPeakAfterAnything() {
        for (long seed = SEED; seed < SEED + ROUNDS; seed++) {
            Random random = new Random(seed);
            Program program = Program.within(1L << 18 + random.nextInt(14), random);
            if (program.peak < 1 << 17) {
                continue; // alignment is more than a twentieth
            }
            PoolSet set = pools(barely(program.peak));
            history(set, program, random);
            Run alone = new Run(program);
            while (!alone.isOver()) {
                alone.step(set);
                assertThat(alone.refused)
                        .as("seed %d, step %d of %s: %s", seed, alone.at, program, set.statistics())
                        .isZero();
            }
            alone.end();
            set.pools().forEach(Pool::verify);
            set.close();
        }
    }

    /** Runs up to four calls at a time, this and others; the others go on without refused memory. */
    private static void history(PoolSet set, Program program, Random random) {
        List<Run> runs = new ArrayList<>();
        for (int begun = 0; begun < 10 || !runs.isEmpty(); ) {
            if (begun < 10 && runs.size() < 4) {
                begun++;
                runs.add(new Run(random.nextInt(3) == 0 ? program : Program.within(program.peak, random)));
            }
            Run run = runs.get(random.nextInt(runs.size()));
            if (run.isOver()) {
                run.end();
                runs.remove(run);
            } else {
                run.step(set);
            }
        }
    }

    @Test
    void callsAllHoldingTheirInputsLeaveAnIntermediateOfTheirSizeToTheLast() {
        long input = 16_896;
        long intermediate = 1_064_960;
        PoolSet set = pools(barely(input + intermediate));
        List<Reservation> inputs = new ArrayList<>();
        while (set.tryReserve(ReservationRequest.of(input).asPersistent()) instanceof Reservation one) {
            inputs.add(one);
        }
        assertThat(inputs).hasSizeGreaterThan(60);
        assertThat(set.tryReserve(ReservationRequest.of(intermediate))).isNull();
        while (inputs.size() > 1) {
            inputs.remove(inputs.size() / 2).release(Frontier.EMPTY);
        }
        assertThat(set.tryReserve(ReservationRequest.of(intermediate))).isNotNull();
        assertThat(set.tryReserve(ReservationRequest.of(64).asPersistent()))
                .as("and its result")
                .isNotNull();
    }

    @Test
    void aQuotaIsChargedTheRequestedSizeThoughASlabIsLonger() {
        FakeSlabs slabs = new FakeSlabs();
        PoolSet set = PoolSet.builder(slabs, FrontierTracker.create())
                .quota("q", 2 * 6400)
                .pool(PoolOptions.passThrough("large").withRetained(Long.MAX_VALUE))
                .build();
        set.tryReserve(ReservationRequest.of(6400 + 640)).release(Frontier.EMPTY);
        assertThat(set.tryReserve(ReservationRequest.of(6400).withConsumer("q")))
                .isNotNull();
        assertThat(slabs.out).as("the longer slab").hasSize(1);
        assertThat(set.tryReserve(ReservationRequest.of(6400).withConsumer("q")))
                .isNotNull();
        assertThat(set.statistics().bytesLive()).isEqualTo(2 * 6400);
    }
}
