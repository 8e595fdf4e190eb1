package io.github.iree4j.hal.pool;

import io.github.iree4j.async.FrontierTracker;
import io.github.iree4j.frontier.Frontier;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
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
import org.openjdk.jmh.annotations.Warmup;

/**
 * What does it cost to allocate and free memory within a slab?
 *
 * <p>IREE's C ({@code tlsf_benchmark} and its relatives), ns: TLSF allocate 20, free 12, free and coalesce with both neighbours 64 to 71; a
 * block of a fixed size 20; bump of an arena 4. As there, each allocation is measured together with its free, except for the arena.
 */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(1)
@Warmup(iterations = 5, time = 200, timeUnit = TimeUnit.MILLISECONDS)
@Measurement(iterations = 20, time = 50, timeUnit = TimeUnit.MILLISECONDS)
@State(Scope.Thread)
public class PlacementBenchmark {
    private static final long SLAB = 64 << 20;

    private static final class Bytes extends Slab {
        Bytes(long size) {
            super(size, 64);
        }
    }

    /** Bytes of each block. */
    @Param({"64", "4096"})
    public long size;

    private Tlsf tlsf = tlsf();
    private Tlsf guarded = tlsf();
    private FixedBlocks fixed = new FixedBlocks(64, 64, 16);
    private Block between = new Block(new Block.Home(new Bytes(64)), 0, 64);
    private Block rest = between;
    private PoolSet set = set();

    /** For JMH. */
    public PlacementBenchmark() {}

    private static Tlsf tlsf() {
        Tlsf made = new Tlsf(new DeathFrontiers(axis -> 0, 12), 64, SLAB, SLAB);
        made.add(new Bytes(SLAB));
        return made;
    }

    private static PoolSet set() {
        SlabProvider bytes = new SlabProvider() {
            @Override
            public long alignment() {
                return 64;
            }

            @Override
            public Slab acquire(long size, long alignment) {
                return new Bytes(size);
            }

            @Override
            public void release(Slab slab) {}
        };
        return PoolSet.builder(bytes, FrontierTracker.create())
                .pool(PoolOptions.tlsf("benchmark", SLAB, SLAB))
                .build();
    }

    /** Creates the measured objects. */
    @Setup(Level.Trial)
    public void prepare() {
        tlsf = tlsf();
        guarded = tlsf();
        take(guarded);
        between = take(guarded);
        take(guarded);
        fixed = new FixedBlocks(size, 64, 1024);
        fixed.add(new Bytes(1024 * size));
        rest = new Block(new Block.Home(new Bytes(Long.MAX_VALUE >>> 1)), 0, Long.MAX_VALUE >>> 1);
        set = set();
    }

    private Block take(Tlsf from) {
        return Objects.requireNonNull(from.take(size, 64, Reuse.ANY, BlockStore.UNLIMITED));
    }

    /**
     * Allocates from the only free block, and frees.
     *
     * @return the block
     */
    @Benchmark
    public Object tlsfAllocateAndFree() {
        Block block = take(tlsf);
        tlsf.give(block, Frontier.EMPTY);
        return block;
    }

    /**
     * Frees a block between two others, and allocates it again.
     *
     * @return the block
     */
    @Benchmark
    public Object tlsfFreeAndAllocateBetweenOthers() {
        guarded.give(between, Frontier.EMPTY);
        between = take(guarded);
        return between;
    }

    /**
     * Allocates three neighbours and frees them, the middle one last.
     *
     * @return the middle one
     */
    @Benchmark
    public Object tlsfFreeBetweenFreeOnes() {
        Block first = take(tlsf);
        Block second = take(tlsf);
        Block third = take(tlsf);
        tlsf.give(first, Frontier.EMPTY);
        tlsf.give(third, Frontier.EMPTY);
        tlsf.give(second, Frontier.EMPTY);
        return second;
    }

    /**
     * Allocates a block of a fixed size and frees it.
     *
     * @return the block
     */
    @Benchmark
    public Object fixedAllocateAndFree() {
        Block block = Objects.requireNonNull(fixed.take(size, 64, Reuse.ANY, BlockStore.UNLIMITED));
        fixed.give(block, Frontier.EMPTY);
        return block;
    }

    /**
     * Bumps an arena.
     *
     * @return where the block starts
     */
    @Benchmark
    public long arenaBump() {
        long start = BumpBlocks.bump(rest, size, 64);
        rest.length -= start + size - rest.offset;
        rest.offset = start + size;
        return start;
    }

    /**
     * Reserves from a set of pools and releases, including the lock, the accounting and the check of the death frontier.
     *
     * @return the reservation
     */
    @Benchmark
    public Object reserveAndRelease() {
        Reservation reservation = Objects.requireNonNull(set.tryReserve(ReservationRequest.of(size)));
        reservation.release(Frontier.EMPTY);
        return reservation;
    }
}
