package io.github.iree4j.hal.pool;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.iree4j.Effort;
import io.github.iree4j.async.FrontierTracker;
import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/** Checks where pools place reservations against a model of every byte. */
@Tag("long")
class PlacementTest {
    private static final int ROUNDS = Effort.rounds(60, 2_000);
    private static final long SEED = Effort.seed(PlacementTest.class, ROUNDS + " rounds", 0);
    private static final long KIB = 1 << 10;

    private final FrontierTracker tracker = FrontierTracker.create();
    private final FakeSlabs slabs = new FakeSlabs();

    private Pool pool(PoolOptions options, long budget) {
        return PoolSet.builder(slabs, tracker)
                .budget(budget)
                .pool(options)
                .build()
                .pools()
                .getFirst();
    }

    private static Stream<PoolOptions> kinds() {
        return Stream.of(
                PoolOptions.tlsf("tlsf", 64 * KIB, 256 * KIB),
                PoolOptions.passThrough("pass-through"),
                PoolOptions.passThrough("pass-through that keeps").withRetained(100 * KIB));
    }

    @TestFactory
    Stream<DynamicTest> nothingOverlapsAndNothingIsLost() {
        return kinds().map(options -> DynamicTest.dynamicTest(options.name(), () -> {
            for (int round = 0; round < ROUNDS; round++) {
                randomRequests(options, SEED + round);
            }
        }));
    }

    private void randomRequests(PoolOptions options, long seed) {
        Random random = new Random(seed);
        long budget = 512 * KIB + random.nextInt(1 << 20);
        Pool pool = pool(options, budget);
        List<Reservation> all = new ArrayList<>();
        Map<Slab, TreeMap<Long, Reservation>> model = new IdentityHashMap<>();
        for (int i = 0; i < 400; i++) {
            if (random.nextInt(5) < 3) {
                long size = random.nextInt(1 << random.nextInt(18));
                long alignment = random.nextInt(4) == 0 ? 1L << random.nextInt(13) : 0;
                Reservation reservation =
                        pool.tryReserve(ReservationRequest.of(size).withAlignment(alignment));
                if (reservation != null) {
                    place(seed, model, reservation, size, Math.max(64, alignment));
                    all.add(reservation);
                }
            } else if (!all.isEmpty()) {
                Reservation gone = all.remove(random.nextInt(all.size()));
                assertThat(gone.release(Frontier.EMPTY)).isTrue();
                assertThat(gone.release(Frontier.EMPTY)).as("a second time").isFalse();
                model.get(gone.slab()).remove(gone.offset());
            }
            if (random.nextInt(50) == 0) {
                pool.trim();
            }
            pool.verify();
            PoolStatistics now = pool.statistics();
            assertThat(now.bytesReserved())
                    .as("seed %d", seed)
                    .isEqualTo(slabs.bytesOut)
                    .isLessThanOrEqualTo(budget);
            assertThat(now.bytesLive())
                    .isEqualTo(all.stream().mapToLong(Reservation::length).sum());
            assertThat(now.reserves() - now.releases()).isEqualTo(all.size());
        }
        all.forEach(reservation -> reservation.release(Frontier.EMPTY));
        pool.verify();
        long largest = slabs.out.stream().mapToLong(Slab::size).max().orElse(0);
        assertThat(pool.statistics().largestFree())
                .as("all is whole again, seed %d", seed)
                .isEqualTo(largest);
        pool.trim();
        assertThat(slabs.bytesOut).as("seed %d", seed).isZero();
        assertThat(pool.statistics().bytesReserved()).isZero();
    }

    private static void place(
            long seed,
            Map<Slab, TreeMap<Long, Reservation>> model,
            Reservation reservation,
            long size,
            long alignment) {
        assertThat(reservation.length()).isGreaterThanOrEqualTo(size).isPositive();
        assertThat(reservation.offset()).isNotNegative();
        assertThat(reservation.offset() + reservation.length())
                .isLessThanOrEqualTo(reservation.slab().size());
        assertThat((reservation.slab().address() + reservation.offset()) % alignment)
                .as("seed %d", seed)
                .isZero();
        TreeMap<Long, Reservation> others = model.computeIfAbsent(reservation.slab(), slab -> new TreeMap<>());
        Map.Entry<Long, Reservation> before = others.floorEntry(reservation.offset() + reservation.length() - 1);
        assertThat(before == null || before.getKey() + before.getValue().length() <= reservation.offset())
                .as("%s overlaps %s, seed %d", reservation, before, seed)
                .isTrue();
        others.put(reservation.offset(), reservation);
    }

    @Test
    void freeBlocksOfOddSizesAreFound() {
        // A class of sizes holds too small blocks, too: the search must not stop there.
        Pool pool = pool(PoolOptions.tlsf("t", 64, 1 << 20), 1 << 20);
        Random random = new Random(7);
        for (int i = 0; i < 2000; i++) {
            long hole = 64L * (1 + random.nextInt(5000));
            long rest = (1 << 20) - hole;
            Reservation first = pool.tryReserve(ReservationRequest.of(hole));
            Reservation second = pool.tryReserve(ReservationRequest.of(rest));
            assertThat(first).isNotNull();
            assertThat(second).as("%d bytes behind %d", rest, hole).isNotNull();
            first.release(Frontier.EMPTY);
            assertThat(pool.tryReserve(ReservationRequest.of(hole + 1))).isNull();
            Reservation again = pool.tryReserve(ReservationRequest.of(hole));
            assertThat(again).isNotNull();
            again.release(Frontier.EMPTY);
            second.release(Frontier.EMPTY);
            pool.trim();
        }
    }

    @Test
    void hostileSizesAreRefusedAndChangeNothing() {
        kinds().forEach(options -> {
            Pool pool = pool(options, 1 << 20);
            for (long size : new long[] {
                Long.MAX_VALUE, Long.MAX_VALUE - 63, Long.MAX_VALUE - 64, 1L << 62, (1 << 20) + 1, 1L << 40
            }) {
                assertThatThrownBy(() -> pool.tryReserve(ReservationRequest.of(size)))
                        .isInstanceOfSatisfying(
                                IreeException.class,
                                e -> assertThat(e.code()).isEqualTo(StatusCode.RESOURCE_EXHAUSTED));
            }
            assertThatThrownBy(() -> ReservationRequest.of(-1)).isInstanceOf(IreeException.class);
            assertThatThrownBy(() -> ReservationRequest.of(1).withAlignment(3)).isInstanceOf(IreeException.class);
            assertThatThrownBy(() -> ReservationRequest.of(1).withAlignment(4 << 20))
                    .isInstanceOf(IreeException.class);
            assertThatThrownBy(() -> ReservationRequest.of(1).withAlignment(Long.MIN_VALUE))
                    .isInstanceOf(IreeException.class);
            pool.verify();
            assertThat(pool.statistics().bytesReserved()).isZero();
            assertThat(pool.statistics().failures()).isEqualTo(6);
        });
    }

    @Test
    void theWholeBudgetCanBeASingleReservation() {
        Pool pool = pool(PoolOptions.tlsf("t", 1 << 16, 1 << 20), 1_000_000 / 64 * 64);
        for (int i = 0; i < 3; i++) {
            Reservation whole = pool.tryReserve(ReservationRequest.of(1_000_000 / 64 * 64));
            assertThat(whole).isNotNull();
            assertThat(pool.tryReserve(ReservationRequest.of(1))).isNull();
            whole.release(Frontier.EMPTY);
            Reservation small = pool.tryReserve(ReservationRequest.of(1));
            assertThat(small).isNotNull();
            small.release(Frontier.EMPTY);
        }
    }

    @Test
    void poolsAreChosenByTypeUsageLifetimeAndSize() {
        PoolSet set = PoolSet.builder(slabs, tracker)
                .pool(PoolOptions.tlsf("small", 8 * 256, 8 * 256)
                        .withSizes(0, 256)
                        .withMemory(0x3F, 0xFF))
                .pool(PoolOptions.tlsf("weights", 64, 1 << 20).withLifetime(PoolOptions.Lifetimes.PERSISTENT))
                .pool(PoolOptions.tlsf("transients", 64, 1 << 20).withSizes(0, 1 << 20))
                .pool(PoolOptions.passThrough("large").withMemory(0x30, 0))
                .build();
        ReservationRequest small = ReservationRequest.of(100);
        assertThat(set.route(small).name()).isEqualTo("small");
        assertThat(set.route(small.withMemory(0x40, 0)).name()).isEqualTo("transients");
        assertThat(set.route(small.withMemory(0x30, 0x100)).name()).isEqualTo("transients");
        assertThat(set.route(ReservationRequest.of(257)).name()).isEqualTo("transients");
        assertThat(set.route(ReservationRequest.of(257).asPersistent()).name()).isEqualTo("weights");
        assertThat(set.route(ReservationRequest.of(2 << 20)).name()).isEqualTo("large");
        assertThatThrownBy(() -> set.route(ReservationRequest.of(2 << 20).withMemory(0x2, 0)))
                .isInstanceOf(IreeException.class)
                .hasMessageContaining("no pool takes transient memory of 2097152 bytes with type 0x2")
                .hasMessageContaining("small, weights, transients, large");
    }
}
