package io.github.iree4j.flight;

import io.github.iree4j.hal.pool.ConsumerStatistics;
import io.github.iree4j.hal.pool.PoolSet;
import io.github.iree4j.hal.pool.PoolSetStatistics;
import io.github.iree4j.hal.pool.PoolStatistics;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.IntStream;

/**
 * The words of a record of the memory held by a set of pools. Names and pools have numbers before the record is begun:
 * the holder of a ring does not wait for definitions. Immutable.
 */
final class PoolRecords {
    private final long set;
    private final long before;
    private final List<Long> rest = new ArrayList<>(); // the words after the set and the moment

    /**
     * Creates a record. Called with the lock of the set held: all records about memory of the set with lower numbers are in
     * the statistics, and no others.
     *
     * @param before numbers of later records are at or above
     */
    PoolRecords(Definitions definitions, PoolSet set, PoolSetStatistics statistics, long before) {
        this.before = before;
        List<Integer> pools = IntStream.range(0, set.pools().size())
                .filter(each -> live(statistics.pools().get(each)) > 0)
                .limit(RecordingObserver.MAXIMUM_POINTS)
                .boxed()
                .toList();
        List<ConsumerStatistics> consumers = statistics.consumers().stream()
                .filter(each -> bytes(each) > 0 || each.quota() != Long.MAX_VALUE)
                .sorted(Comparator.comparingLong(PoolRecords::bytes).reversed())
                .limit(RecordingObserver.MAXIMUM_POINTS)
                .toList();
        this.set = set.number();
        rest.add(statistics.budget());
        rest.add((long) pools.size());
        rest.add((long) consumers.size());
        for (int each : pools) {
            rest.add((long) definitions.pool(set.pools().get(each)));
            rest.add(live(statistics.pools().get(each)));
        }
        for (ConsumerStatistics each : consumers) {
            rest.add((long) definitions.name(each.consumer()));
            rest.add(each.quota());
            rest.add(bytes(each));
        }
    }

    private static long bytes(ConsumerStatistics consumer) {
        return consumer.bytesTransient() + consumer.bytesPersistent();
    }

    private static long live(PoolStatistics pool) {
        return pool.bytesTransient() + pool.bytesPersistent();
    }

    /** Returns the number of words, of the record of an opened recorder or of a taken recording. */
    int words(boolean taken) {
        return (taken ? 3 : 2) + rest.size();
    }

    void put(WordTarget record, boolean taken) {
        record.put(set);
        if (taken) {
            record.put(RecordReader.TAKEN_BEFORE);
            record.put(before);
        } else {
            record.put(0);
        }
        rest.forEach(record::put);
    }
}
