package io.github.iree4j.hal.pool;

import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.hal.pool.Block.Home;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** Blocks of one size; the one released last is taken first, since its bytes are in the caches. */
final class FixedBlocks extends BlockStore {
    private final long blockSize;
    private final long alignment;
    private final int blocksPerSlab;
    private final List<Block[]> slabs = new ArrayList<>();
    private @Nullable Block head; // of the free list

    FixedBlocks(long blockSize, long alignment, int blocksPerSlab) {
        this.blockSize = alignUp(blockSize, alignment);
        this.alignment = alignment;
        this.blocksPerSlab = blocksPerSlab;
    }

    @Override
    long lengthFor(long size) {
        return size <= blockSize ? blockSize : Long.MAX_VALUE;
    }

    @Override
    @Nullable
    Block take(long length, long wanted, Reuse reuse, int limit) {
        int refusals = 0;
        for (Block each = head; each != null; each = each.nextFree) {
            if (each.alignedOffset(wanted) == each.offset) {
                if (reuse.accepts(each)) {
                    unlink(each);
                    each.free = false;
                    each.home.reserved++;
                    return each;
                }
                if (++refusals >= limit) {
                    return null;
                }
            }
        }
        return null;
    }

    @Override
    void give(Block block, @Nullable Frontier death) {
        block.home.reserved--;
        block.death = death;
        block.watched = null;
        link(block);
    }

    private void link(Block block) {
        block.free = true;
        block.nextFree = head;
        if (head != null) {
            head.previousFree = block;
        }
        head = block;
    }

    private void unlink(Block block) {
        if (block.previousFree == null) {
            head = block.nextFree;
        } else {
            block.previousFree.nextFree = block.nextFree;
        }
        if (block.nextFree != null) {
            block.nextFree.previousFree = block.previousFree;
        }
        block.previousFree = null;
        block.nextFree = null;
    }

    @Override
    boolean couldTake(long length, long wanted, Predicate<Block> free) {
        for (Block[] blocks : slabs) {
            for (Block each : blocks) {
                if (each.alignedOffset(wanted) == each.offset && free.test(each)) {
                    return true;
                }
            }
        }
        return false;
    }

    @Override
    long growth(long length, long wanted, long room) {
        if (wanted > Math.max(alignment, Long.lowestOneBit(blockSize))) {
            return 0; // blocks are contiguous
        }
        return Math.min(blocksPerSlab, room / blockSize) * blockSize;
    }

    @Override
    void add(Slab slab) {
        Home home = new Home(slab);
        Block[] blocks = new Block[(int) (slab.size() / blockSize)];
        for (int i = blocks.length - 1; i >= 0; i--) { // so that the first block is taken first
            blocks[i] = new Block(home, i * blockSize, blockSize);
            link(blocks[i]);
        }
        slabs.add(blocks);
    }

    @Override
    @Nullable
    Slab removeIdle(Predicate<Home> may, Predicate<@Nullable Frontier> over) {
        for (int i = slabs.size() - 1; i >= 0; i--) {
            Block[] blocks = slabs.get(i);
            Home home = blocks[0].home;
            if (isIdle(blocks, may, over)) {
                for (Block block : blocks) {
                    unlink(block);
                }
                slabs.remove(i);
                return home.slab;
            }
        }
        return null;
    }

    private static boolean isIdle(Block[] blocks, Predicate<Home> may, Predicate<@Nullable Frontier> over) {
        Home home = blocks[0].home;
        if (home.reserved > 0 || !may.test(home)) {
            return false;
        }
        for (Block block : blocks) {
            if (!over.test(block.death)) {
                return false;
            }
        }
        return true;
    }

    @Override
    long idleBytes(Predicate<Home> may, Predicate<@Nullable Frontier> over) {
        long bytes = 0;
        for (Block[] blocks : slabs) {
            bytes += isIdle(blocks, may, over) ? blocks[0].home.slab.size() : 0;
        }
        return bytes;
    }

    @Override
    long largestFree() {
        return head == null ? 0 : blockSize;
    }

    @Override
    void forEachFree(Consumer<Block> action) {
        for (Block each = head; each != null; ) {
            Block following = each.nextFree;
            action.accept(each);
            each = following;
        }
    }

    @Override
    void forEach(Consumer<Block> action) {
        for (Block[] blocks : slabs) {
            for (Block each : blocks) {
                action.accept(each);
            }
        }
    }

    @Override
    void verify() {
        int free = 0;
        for (Block[] blocks : slabs) {
            int reserved = 0;
            for (int i = 0; i < blocks.length; i++) {
                check(blocks[i].offset == i * blockSize && blocks[i].length == blockSize, "moved", blocks[i]);
                reserved += blocks[i].free ? 0 : 1;
                free += blocks[i].free ? 1 : 0;
            }
            check(reserved == blocks[0].home.reserved, "reserved blocks miscounted", blocks[0]);
        }
        Block before = null;
        for (Block each = head; each != null; each = each.nextFree) {
            check(each.free && each.previousFree == before, "list is broken", each);
            before = each;
            free--;
        }
        check(free == 0, "free blocks in no list", free);
    }
}
