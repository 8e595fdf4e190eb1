package io.github.iree4j.hal.pool;

import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.hal.pool.Block.Home;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * An arena: consecutive blocks, allocated by advancing an offset. A slab is reused as a whole, with one death frontier, once all of its
 * blocks have been released.
 */
final class BumpBlocks extends BlockStore {
    /** The rest of each slab is its one free block; its start moves. */
    private final List<Block> rests = new ArrayList<>();

    private final DeathFrontiers deaths;
    private final long alignment;
    private final long slabSize;

    BumpBlocks(DeathFrontiers deaths, long alignment, long slabSize) {
        this.deaths = deaths;
        this.alignment = alignment;
        this.slabSize = slabSize;
    }

    @Override
    long lengthFor(long size) {
        return alignUp(size, alignment);
    }

    @Override
    @Nullable
    Block take(long length, long wanted, Reuse reuse, int limit) {
        for (int i = rests.size() - 1; i >= 0; i--) {
            Block rest = rests.get(i);
            long start = bump(rest, length, wanted);
            if (start >= 0 && reuse.accepts(rest)) {
                Block block = new Block(rest.home, start, length);
                block.death = rest.death;
                rest.length -= start + length - rest.offset;
                rest.offset = start + length;
                rest.home.reserved++;
                return block;
            }
        }
        return null;
    }

    /** Where a block of this length would start; -1 when it does not fit. */
    static long bump(Block rest, long length, long wanted) {
        long start = rest.alignedOffset(wanted);
        return start <= rest.offset + rest.length - length ? start : -1;
    }

    @Override
    void give(Block block, @Nullable Frontier death) {
        Home home = block.home;
        home.reserved--;
        for (Block rest : rests) {
            if (rest.home == home) {
                // Also while other blocks are reserved: what is taken from the rest is fresh, and at worst waits
                // needlessly.
                rest.death = deaths.join(rest.death, death);
                rest.watched = null;
                if (home.reserved == 0) {
                    rest.offset = 0;
                    rest.length = home.slab.size();
                }
                return;
            }
        }
    }

    @Override
    long growth(long length, long wanted, long room) {
        return length > room ? 0 : Math.max(length, Math.min(slabSize, room & -alignment));
    }

    @Override
    void add(Slab slab) {
        Block rest = new Block(new Home(slab), 0, slab.size());
        rest.free = true;
        rests.add(rest);
    }

    @Override
    @Nullable
    Slab removeIdle(Predicate<Home> may, Predicate<@Nullable Frontier> over) {
        for (int i = rests.size() - 1; i >= 0; i--) {
            Block rest = rests.get(i);
            if (rest.home.reserved == 0 && may.test(rest.home) && over.test(rest.death)) {
                rests.remove(i);
                return rest.home.slab;
            }
        }
        return null;
    }

    @Override
    long idleBytes(Predicate<Home> may, Predicate<@Nullable Frontier> over) {
        long bytes = 0;
        for (Block rest : rests) {
            bytes += rest.home.reserved == 0 && may.test(rest.home) && over.test(rest.death) ? rest.length : 0;
        }
        return bytes;
    }

    @Override
    long largestFree() {
        return rests.stream().mapToLong(rest -> rest.length).max().orElse(0);
    }

    @Override
    void forEachFree(Consumer<Block> action) {
        rests.forEach(action);
    }

    @Override
    void verify() {
        for (Block rest : rests) {
            check(rest.offset + rest.length == rest.home.slab.size(), "rest does not end with its slab", rest);
            check(rest.home.reserved > 0 || rest.offset == 0, "unused slab was not reset", rest);
        }
    }
}
