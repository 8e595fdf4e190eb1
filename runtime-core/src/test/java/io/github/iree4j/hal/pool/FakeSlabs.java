package io.github.iree4j.hal.pool;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.LinkedHashSet;
import java.util.Set;

/** Slabs without memory behind them. */
class FakeSlabs implements SlabProvider {
    static final class FakeSlab extends Slab {
        FakeSlab(long size, long address) {
            super(size, address);
        }
    }

    /** A pool of slabs of a single piece, all kept, for requests up to a size. */
    static PoolOptions pieces(String name, long size) {
        return PoolOptions.passThrough(name).withRetained(Long.MAX_VALUE).withSizes(0, size);
    }

    final Set<Slab> out = new LinkedHashSet<>();
    long bytesOut;
    int asked; // number of calls
    long system = Long.MAX_VALUE; // existing bytes
    Runnable acquiring = () -> {}; // runs during acquire
    Runnable acquired =
            () -> {}; // runs after the system has given a slab, or refused, before the caller learns of the answer
    Runnable releasing = () -> {}; // runs during release
    private long nextAddress = 64;

    @Override
    public long alignment() {
        return 64;
    }

    @Override
    public Slab acquire(long size, long alignment) {
        asked++;
        Runnable meanwhile = acquiring;
        acquiring = () -> {};
        meanwhile.run();
        try {
            return make(size, alignment);
        } finally {
            Runnable then = acquired;
            acquired = () -> {};
            then.run();
        }
    }

    private synchronized Slab make(long size, long alignment) {
        if (size <= 0 || size % 64 != 0 || alignment < 64 || Long.bitCount(alignment) != 1) {
            throw new IllegalArgumentException(size + " bytes aligned to " + alignment);
        }
        if (size > system - bytesOut) {
            throw IreeException.of(StatusCode.RESOURCE_EXHAUSTED, "the system has no " + size + " bytes");
        }
        nextAddress = (nextAddress + alignment - 1 & -alignment) + 64; // no better aligned than required
        long address = nextAddress + alignment - 1 & -alignment;
        nextAddress = address + size;
        Slab slab = new FakeSlab(size, address);
        out.add(slab);
        bytesOut += size;
        return slab;
    }

    @Override
    public void release(Slab slab) {
        Runnable meanwhile = releasing;
        releasing = () -> {};
        meanwhile.run();
        takeBack(slab);
    }

    private synchronized void takeBack(Slab slab) {
        if (!out.remove(slab)) {
            throw new IllegalStateException("released twice, or not ours");
        }
        bytesOut -= slab.size();
    }
}
