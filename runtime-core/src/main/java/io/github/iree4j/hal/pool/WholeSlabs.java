package io.github.iree4j.hal.pool;

import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.hal.pool.Block.Home;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * A store with a slab for each reservation: for blocks so large that sharing a slab would retain the slab for long. A
 * released slab stays until the pool returns the slab to the provider, at the earliest when its last user has finished.
 * Until then the slab serves the next request of about its size.
 */
final class WholeSlabs extends BlockStore {
    private final List<Block> blocks = new ArrayList<>();
    private final long alignment;
    private final Waste waste;

    WholeSlabs(long alignment, Waste waste) {
        this.alignment = alignment;
        this.waste = waste;
    }

    @Override
    long lengthFor(long size) {
        return alignUp(size, alignment);
    }

    @Override
    @Nullable
    Block take(long length, long wanted, Reuse reuse, int limit) {
        Block shortest = null;
        for (Block each : blocks) {
            if (each.free
                    && each.length >= length
                    && (shortest == null || each.length < shortest.length)
                    && waste.allows(length, each.length - length)
                    && each.alignedOffset(wanted) == 0
                    && reuse.accepts(each)) {
                shortest = each;
            }
        }
        if (shortest != null) {
            reuse.accepts(shortest); // the verdict is on the last block judged
            shortest.free = false;
            shortest.home.reserved++;
            waste.taken(length, shortest.length - length);
        }
        return shortest;
    }

    @Override
    void give(Block block, @Nullable Frontier death) {
        block.free = true;
        block.death = death;
        block.watched = null;
        block.home.reserved--;
        waste.given(block.used, block.length - block.used);
    }

    @Override
    boolean couldTake(long length, long wanted, Predicate<Block> free) {
        return blocks.stream()
                .anyMatch(block -> free.test(block)
                        && block.length >= length
                        && waste.allows(length, block.length - length)
                        && block.alignedOffset(wanted) == 0);
    }

    @Override
    long growth(long length, long wanted, long room) {
        return length <= room ? length : 0;
    }

    @Override
    void add(Slab slab) {
        Block block = new Block(new Home(slab), 0, slab.size());
        block.free = true;
        blocks.add(block);
    }

    @Override
    @Nullable
    Slab removeIdle(Predicate<Home> may, Predicate<@Nullable Frontier> over) {
        for (int i = blocks.size() - 1; i >= 0; i--) {
            Block block = blocks.get(i);
            if (block.free && may.test(block.home) && over.test(block.death)) {
                blocks.remove(i);
                return block.home.slab;
            }
        }
        return null;
    }

    @Override
    long idleBytes(Predicate<Home> may, Predicate<@Nullable Frontier> over) {
        long bytes = 0;
        for (Block block : blocks) {
            bytes += block.free && may.test(block.home) && over.test(block.death) ? block.length : 0;
        }
        return bytes;
    }

    @Override
    long largestFree() {
        return blocks.stream()
                .filter(block -> block.free)
                .mapToLong(block -> block.length)
                .max()
                .orElse(0);
    }

    @Override
    void forEachFree(Consumer<Block> action) {
        for (Block each : blocks) {
            if (each.free) {
                action.accept(each);
            }
        }
    }

    @Override
    boolean isAnyFree(Predicate<Block> condition) {
        return blocks.stream().anyMatch(each -> each.free && condition.test(each));
    }

    @Override
    void forEach(Consumer<Block> action) {
        blocks.forEach(action);
    }

    @Override
    void verify() {
        for (Block each : blocks) {
            check(each.offset == 0 && each.length == each.home.slab.size(), "not a whole slab", each);
            check(each.home.reserved == (each.free ? 0 : 1), "reserved blocks miscounted", each);
        }
    }
}
