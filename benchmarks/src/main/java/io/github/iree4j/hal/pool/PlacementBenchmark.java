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
 * How much does placing memory and taking the memory back cost?
 *
 * <p>IREE's C ({@code tlsf_benchmark} and related benchmarks), ns: TLSF allocate 20, free 12, free and join with both
 * neighbours 64 to 71. As in C, an allocation is measured together with the corresponding free.
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
    private Block between = new Block(new Block.Home(new Bytes(64)), 0, 64);
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
        set = set();
    }

    private Block take(Tlsf from) {
        return Objects.requireNonNull(from.take(size, 64, Reuse.ANY, BlockStore.UNLIMITED));
    }

    /**
     * Takes a block from the only free block, and gives the block back.
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
     * Gives a block between two others back, and takes the block again.
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
     * Takes three neighbours and gives all back, the middle block last.
     *
     * @return the middle block
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
     * Reserves from a set of pools and releases: the lock, the books and the check of the death frontier besides.
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
