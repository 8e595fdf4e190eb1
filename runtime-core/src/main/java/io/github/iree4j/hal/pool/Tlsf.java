package io.github.iree4j.hal.pool;

import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.hal.pool.Block.Home;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Two-level segregated fit (Masmano and others, 2004): blocks of any size at a cost independent of their number; free
 * neighbours are always merged.
 *
 * <p>All slabs share the free lists, so that a request sees all free blocks.
 */
final class Tlsf extends BlockStore {
    /*
     * Sizes are counted in units of the alignment. Free blocks are in lists by size class:
     *
     *   units < 32          first 0, second = units                       one size per list
     *   2^n <= units        first n - 4, second = the five bits below     32 lists for each power of two
     *          < 2^(n+1)    the highest
     *
     * nonEmpty     bit f: some list of first level f has blocks
     * nonEmptyAt   [f] bit s: list (f, s) has blocks
     * heads        [f * 32 + s], doubly linked through previousFree and nextFree
     *
     * Between calls: no two neighbours are both free; the blocks of a slab cover it; a free block is in the list of its class.
     */
    private static final int SECOND_LOG = 5;
    private static final int SECOND = 1 << SECOND_LOG;
    private static final int FIRST = 64 - SECOND_LOG;

    /** The number of blocks examined in a request's own class before a larger block is split. A guess, not measured. */
    private static final int OWN_CLASS_LIMIT = 8;

    private final DeathFrontiers deaths;
    private final long alignment;
    private final int unitLog;
    private final long slabMinimum;
    private final long slabMaximum;

    private long nonEmpty;
    private final int[] nonEmptyAt = new int[FIRST];
    private final @Nullable Block[] heads = new @Nullable Block[FIRST * SECOND];
    private final List<Block> firsts = new ArrayList<>(); // the first block of each slab
    private long slabBytes;
    private @Nullable Block spare; // spare block objects, linked by nextFree

    Tlsf(DeathFrontiers deaths, long alignment, long slabMinimum, long slabMaximum) {
        this.deaths = deaths;
        this.alignment = alignment;
        this.unitLog = Long.numberOfTrailingZeros(alignment);
        this.slabMinimum = slabMinimum;
        this.slabMaximum = slabMaximum;
    }

    @Override
    long lengthFor(long size) {
        return alignUp(size, alignment);
    }

    /** The list containing a free block of this length. */
    private int listOf(long length) {
        long units = length >>> unitLog;
        if (units < SECOND) {
            return (int) units;
        }
        int log = 63 - Long.numberOfLeadingZeros(units);
        return log - SECOND_LOG + 1 << SECOND_LOG | (int) (units >>> log - SECOND_LOG) & SECOND - 1;
    }

    @Override
    @Nullable
    Block take(long length, long wanted, Reuse reuse, int limit) {
        long needed = wanted <= alignment ? length : length + wanted - alignment; // enough for any start
        int own = listOf(length);
        // The same sizes recur: a block that had this size is in this class, skipped by the search of larger classes.
        Block found = takeFrom(heads[own], length, wanted, reuse, Math.min(limit, OWN_CLASS_LIMIT));
        if (found == null) {
            int refusals = 0;
            long units = needed >>> unitLog;
            int list = listOf(needed) + ((units & unitsBelow(units)) == 0 ? 0 : 1); // all blocks there are large enough
            search:
            while ((list = nextNonEmpty(list)) >= 0) {
                for (Block each = heads[list]; each != null; each = each.nextFree) {
                    if (reuse.accepts(each)) {
                        found = each;
                        break search;
                    }
                    if (++refusals >= limit) {
                        break search;
                    }
                }
                list++;
            }
        }
        if (found == null && limit == UNLIMITED) { // classes are too coarse to identify the fitting blocks
            for (int list = own; found == null && (list = nextNonEmpty(list)) >= 0 && list <= listOf(needed); list++) {
                found = takeFrom(heads[list], length, wanted, reuse, UNLIMITED);
            }
        }
        return found == null ? null : cut(found, length, wanted);
    }

    /** The mask of the low bits of a number of units not encoded in the class. */
    private static long unitsBelow(long units) {
        int log = 63 - Long.numberOfLeadingZeros(units);
        return units < SECOND ? 0 : (1L << log - SECOND_LOG) - 1;
    }

    private static @Nullable Block takeFrom(@Nullable Block head, long length, long wanted, Reuse reuse, int limit) {
        int looks = 0;
        for (Block each = head; each != null && looks < limit; each = each.nextFree) {
            if (each.fits(length, wanted) && reuse.accepts(each)) {
                return each;
            }
            looks++;
        }
        return null;
    }

    /** The first non-empty list at or after {@code list}; -1 when there is none. */
    private int nextNonEmpty(int list) {
        int first = list >>> SECOND_LOG;
        if (first >= FIRST) {
            return -1;
        }
        int here = nonEmptyAt[first] & -1 << (list & SECOND - 1);
        if (here != 0) {
            return first << SECOND_LOG | Integer.numberOfTrailingZeros(here);
        }
        long above = first == 63 ? 0 : nonEmpty & -1L << first + 1;
        if (above == 0) {
            return -1;
        }
        first = Long.numberOfTrailingZeros(above);
        return first << SECOND_LOG | Integer.numberOfTrailingZeros(nonEmptyAt[first]);
    }

    /** Reserves the aligned part of a free block; the parts before and after stay free, with the same death frontier. */
    private Block cut(Block block, long length, long wanted) {
        unlink(block);
        long before = wanted <= alignment ? 0 : block.alignedOffset(wanted) - block.offset;
        Block taken = block;
        if (before > 0) {
            taken = splitAt(block, before);
            link(block);
        }
        if (taken.length > length) {
            link(splitAt(taken, length));
        }
        taken.free = false;
        taken.home.reserved++;
        return taken;
    }

    /** Splits a block at an offset; the new second block is in no list. */
    private Block splitAt(Block block, long offset) {
        Block rest = spare;
        if (rest == null) {
            rest = new Block(block.home, 0, 0);
        } else {
            spare = rest.nextFree;
            rest.home = block.home;
        }
        rest.offset = block.offset + offset;
        rest.length = block.length - offset;
        rest.death = block.death;
        rest.watched = null;
        rest.previous = block;
        rest.next = block.next;
        if (block.next != null) {
            block.next.previous = rest;
        }
        block.next = rest;
        block.length = offset;
        return rest;
    }

    @Override
    void give(Block block, @Nullable Frontier death) {
        block.home.reserved--;
        block.watched = null;
        Frontier joined = death;
        Block whole = block;
        Block next = block.next;
        if (next != null && next.free) {
            unlink(next);
            joined = deaths.join(joined, next.death);
            absorbNext(whole, next);
        }
        Block previous = block.previous;
        if (previous != null && previous.free) {
            unlink(previous);
            joined = deaths.join(previous.death, joined);
            absorbNext(previous, whole);
            previous.watched = null;
            whole = previous;
        }
        whole.death = joined;
        link(whole);
    }

    private void absorbNext(Block block, Block next) {
        block.length += next.length;
        block.next = next.next;
        if (next.next != null) {
            next.next.previous = block;
        }
        next.previous = null;
        next.next = null;
        next.death = null;
        next.nextFree = spare;
        spare = next;
    }

    private void link(Block block) {
        block.free = true;
        int list = listOf(block.length);
        Block head = heads[list];
        block.previousFree = null;
        block.nextFree = head;
        if (head == null) {
            nonEmptyAt[list >>> SECOND_LOG] |= 1 << (list & SECOND - 1);
            nonEmpty |= 1L << (list >>> SECOND_LOG);
        } else {
            head.previousFree = block;
        }
        heads[list] = block;
    }

    private void unlink(Block block) {
        Block before = block.previousFree;
        Block after = block.nextFree;
        if (after != null) {
            after.previousFree = before;
        }
        if (before != null) {
            before.nextFree = after;
        } else {
            int list = listOf(block.length);
            heads[list] = after;
            if (after == null) {
                int first = list >>> SECOND_LOG;
                nonEmptyAt[first] &= ~(1 << (list & SECOND - 1));
                if (nonEmptyAt[first] == 0) {
                    nonEmpty &= ~(1L << first);
                }
            }
        }
        block.free = false;
        block.previousFree = null;
        block.nextFree = null;
    }

    @Override
    boolean couldTake(long length, long wanted, Predicate<Block> free) {
        for (Block first : firsts) {
            Block start = null; // start of a span of free blocks
            for (Block each = first; each != null; each = each.next) {
                if (!free.test(each)) {
                    start = null;
                    continue;
                }
                start = start == null ? each : start;
                if (start.alignedOffset(wanted) <= each.offset + each.length - length) {
                    return true;
                }
            }
        }
        return false;
    }

    /** Returns as much as all slabs together, so that slabs stay few, within the configured minimum and maximum. */
    @Override
    long growth(long length, long wanted, long room) {
        if (length > room) {
            return 0;
        }
        long usual = Math.clamp(slabBytes, slabMinimum, slabMaximum);
        return Math.max(length, Math.min(usual, room & -alignment));
    }

    @Override
    void add(Slab slab) {
        Block whole = new Block(new Home(slab), 0, slab.size());
        firsts.add(whole);
        slabBytes += slab.size();
        link(whole);
    }

    @Override
    @Nullable
    Slab removeIdle(Predicate<Home> may, Predicate<@Nullable Frontier> over) {
        for (int i = firsts.size() - 1; i >= 0; i--) {
            Block first = firsts.get(i);
            Home home = first.home;
            if (home.reserved == 0 && may.test(home) && over.test(first.death)) {
                unlink(first);
                firsts.set(i, firsts.getLast());
                firsts.removeLast();
                slabBytes -= home.slab.size();
                return home.slab;
            }
        }
        return null;
    }

    @Override
    long idleBytes(Predicate<Home> may, Predicate<@Nullable Frontier> over) {
        long bytes = 0;
        for (Block first : firsts) {
            if (first.home.reserved == 0 && may.test(first.home) && over.test(first.death)) {
                bytes += first.length;
            }
        }
        return bytes;
    }

    @Override
    long largestFree() {
        if (nonEmpty == 0) {
            return 0;
        }
        int first = 63 - Long.numberOfLeadingZeros(nonEmpty);
        int list = first << SECOND_LOG | 31 - Integer.numberOfLeadingZeros(nonEmptyAt[first]);
        long largest = 0;
        for (Block each = heads[list]; each != null; each = each.nextFree) {
            largest = Math.max(largest, each.length);
        }
        return largest;
    }

    @Override
    void forEachFree(Consumer<Block> action) {
        for (int list = -1; (list = nextNonEmpty(list + 1)) >= 0; ) {
            for (Block each = heads[list]; each != null; ) {
                Block following = each.nextFree;
                action.accept(each);
                each = following;
            }
        }
    }

    @Override
    boolean isAnyFree(Predicate<Block> condition) {
        for (int list = -1; (list = nextNonEmpty(list + 1)) >= 0; ) {
            for (Block each = heads[list]; each != null; each = each.nextFree) {
                if (condition.test(each)) {
                    return true;
                }
            }
        }
        return false;
    }

    @Override
    void forEach(Consumer<Block> action) {
        for (Block first : firsts) {
            for (Block each = first; each != null; each = each.next) {
                action.accept(each);
            }
        }
    }

    @Override
    void verify() {
        int free = 0;
        long bytes = 0;
        for (Block first : firsts) {
            long offset = 0;
            int reserved = 0;
            Block before = null;
            for (Block each = first; each != null; each = each.next) {
                check(each.offset == offset && each.length > 0, "gap or overlap at " + offset, each);
                check(each.previous == before && each.home == first.home, "neighbours disagree", each);
                check((each.offset | each.length) % alignment == 0, "not aligned", each);
                check(before == null || !before.free || !each.free, "free neighbours", each);
                reserved += each.free ? 0 : 1;
                free += each.free ? 1 : 0;
                offset += each.length;
                before = each;
            }
            check(offset == first.home.slab.size(), "slab is not covered", first);
            check(reserved == first.home.reserved, "reserved blocks miscounted", first);
            bytes += offset;
        }
        check(bytes == slabBytes, "slabs miscounted", slabBytes);
        for (int list = 0; list < heads.length; list++) {
            boolean marked = (nonEmptyAt[list >>> SECOND_LOG] >>> (list & SECOND - 1) & 1) != 0;
            check(marked == (heads[list] != null), "bitmap disagrees with list", list);
            Block before = null;
            for (Block each = heads[list]; each != null; each = each.nextFree) {
                check(each.free && listOf(each.length) == list, "in the wrong list", each);
                check(each.previousFree == before, "list is broken", each);
                before = each;
                free--;
            }
        }
        for (int first = 0; first < FIRST; first++) {
            check((nonEmpty >>> first & 1) != 0 == (nonEmptyAt[first] != 0), "bitmaps disagree", first);
        }
        check(free == 0, "free blocks in no list", free);
    }
}
