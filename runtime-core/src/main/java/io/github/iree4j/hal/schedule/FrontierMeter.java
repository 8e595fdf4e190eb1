package io.github.iree4j.hal.schedule;

import io.github.iree4j.hal.FrontierCounters;
import io.github.iree4j.hal.SchedulingDomain;
import java.util.concurrent.atomic.LongAdder;

/** Counts merges of frontiers of unordered operations. */
final class FrontierMeter implements SchedulingDomain.MergeMeter {
    private final LongAdder merges = new LongAdder();
    private final LongAdder evictions = new LongAdder(); // joins that dropped at least one entry each

    @Override
    public void merged(boolean lost) {
        merges.increment();
        if (lost) {
            evictions.increment();
        }
    }

    FrontierCounters counters() {
        return new FrontierCounters(merges.sum(), evictions.sum());
    }
}
