package io.github.iree4j.hal.pool;

import io.github.iree4j.hal.pool.Block.Home;
import io.github.iree4j.hal.pool.MemoryMap.SlabMap;
import io.github.iree4j.hal.pool.MemoryMap.Span;
import io.github.iree4j.hal.pool.MemoryMap.State;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Copies blocks into a map, and does nothing else, since the lock of the set is held. */
final class MapMaker {
    private final DeathFrontiers deaths;
    private final int limit;
    private final List<SlabMap> slabs = new ArrayList<>();
    private int listed;
    private long omitted;

    // State of the slab being copied.
    private @Nullable Home home;
    private String pool = "";
    private List<Span> spans = new ArrayList<>();

    MapMaker(DeathFrontiers deaths, int limit) {
        this.deaths = deaths;
        this.limit = limit;
    }

    void add(Pool added) {
        finishSlab();
        pool = added.name();
        added.store.forEach(this::add);
    }

    private void add(Block block) {
        if (listed == limit) {
            omitted++;
            return;
        }
        if (block.home != home) {
            finishSlab();
            home = block.home;
        }
        listed++;
        spans.add(new Span(block.offset, block.length, state(block), block.death));
    }

    private State state(Block block) {
        if (!block.free) {
            return State.RESERVED;
        }
        if (block.death == null) {
            return State.FRESH;
        }
        return deaths.isCompleted(block.death) ? State.REUSABLE : State.DYING;
    }

    private void finishSlab() {
        if (home != null) {
            slabs.add(new SlabMap(home.slab.number(), pool, home.slab.size(), spans));
            spans = new ArrayList<>();
            home = null;
        }
    }

    MemoryMap map() {
        finishSlab();
        return new MemoryMap(slabs, omitted);
    }
}
