package io.github.iree4j.hal.pool;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.async.FrontierTracker;
import io.github.iree4j.frontier.Axis;
import io.github.iree4j.frontier.CausalDomain;
import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.hal.pool.MemoryMap.SlabMap;
import io.github.iree4j.hal.pool.MemoryMap.Span;
import io.github.iree4j.hal.pool.MemoryMap.State;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class MemoryMapTest {
    private static final long A = Axis.of(1, 0, CausalDomain.QUEUE, 1);

    private final FrontierTracker tracker = FrontierTracker.create();

    @BeforeEach
    void register() {
        tracker.register(A);
    }

    private PoolSet set(PoolOptions... pools) {
        PoolSetBuilder builder =
                PoolSet.builder(new FakeSlabs(), tracker).budget(1 << 20).frontierCapacity(4);
        List.of(pools).forEach(builder::pool);
        return builder.build();
    }

    private static Reservation reserve(Pool pool, long size) {
        return Objects.requireNonNull(pool.tryReserve(ReservationRequest.of(size)));
    }

    @Test
    void aBlockIsInUseThenDyingThenReusable() {
        PoolSet set = set(PoolOptions.tlsf("t", 256, 256));
        Reservation reservation = reserve(set.pools().getFirst(), 64);
        assertThat(blocks(set)).extracting(Span::state).containsExactly(State.RESERVED, State.FRESH);
        Frontier death = Frontier.producedBy(A, 5);
        reservation.release(death);
        // Free neighbours are a single block, with the death frontier of the used block.
        assertThat(blocks(set)).containsExactly(new Span(0, 256, State.DYING, death));
        tracker.advance(A, 5);
        assertThat(blocks(set)).extracting(Span::state).containsExactly(State.REUSABLE);
    }

    private static List<Span> blocks(PoolSet set) {
        return set.map(100).slabs().getFirst().blocks();
    }

    @Test
    void blocksCoverEverySlabOfEveryKindOfPool() {
        PoolSet set = set(PoolOptions.tlsf("tlsf", 1024, 4096).withSizes(0, 500), PoolOptions.passThrough("whole"));
        Random random = new Random(7);
        for (int i = 0; i < 200; i++) {
            Reservation each = Objects.requireNonNull(set.tryReserve(ReservationRequest.of(1 + random.nextInt(900))));
            if (random.nextBoolean()) {
                each.release(Frontier.producedBy(A, 1 + random.nextInt(9)));
            }
        }
        MemoryMap map = set.map(Integer.MAX_VALUE);
        assertThat(map.omitted()).isZero();
        assertThat(map.slabs()).extracting(SlabMap::pool).contains("tlsf", "whole");
        for (SlabMap slab : map.slabs()) {
            long end = 0;
            for (Span each : slab.blocks()) {
                assertThat(each.offset()).isEqualTo(end);
                end += each.length();
            }
            assertThat(end).isEqualTo(slab.size());
        }
        assertThat(map.slabs().stream().mapToLong(SlabMap::size).sum())
                .isEqualTo(set.statistics().bytesReserved());
        assertThat(map.slabs().stream()
                        .flatMap(slab -> slab.blocks().stream())
                        .filter(each -> each.state() == State.RESERVED)
                        .mapToLong(Span::length)
                        .sum())
                .isEqualTo(set.statistics().bytesLive());
    }

    @Test
    void excessOverTheLimitIsCounted() {
        PoolSet set = set(PoolOptions.tlsf("t", 1024, 1024));
        for (int i = 0; i < 10; i++) {
            reserve(set.pools().getFirst(), 64);
        }
        MemoryMap map = set.map(4);
        assertThat(map.slabs().getFirst().blocks()).hasSize(4);
        assertThat(map.omitted()).isEqualTo(7);
        assertThat(set.map(0)).isEqualTo(new MemoryMap(List.of(), 11));
    }
}
