package io.github.iree4j.flight;

import io.github.iree4j.hal.pool.Pool;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;

/**
 * The names, queues and pools referred to by number in records. Bounded: names make room for new names, and beyond the
 * limits of queues and pools, the queue or pool of a record is unknown. An entry is added before the first record
 * referring to it.
 */
final class Definitions {
    /** Number of the empty name. */
    static final int NO_NAME = 0;

    /** Number of the name in place of every name not kept. */
    private static final int NOT_KEPT = 1;

    /** Limit on the latest names kept; as many names before are kept, too. */
    static final int MAXIMUM_NAMES = 1 << 14;

    /**
     * Bound on the newest names defined before a record with the number of an older name is made; the record may define
     * half.
     */
    private static final int UNDER_WAY = 2 * DispatchSampling.MAXIMUM;

    static final int MAXIMUM_NAME = 300; // in UTF-8, so many of the longest names fit a chunk of a file
    static final int MAXIMUM_QUEUES = 1 << 12;
    static final int MAXIMUM_POOLS = 1 << 12;

    private final LongSupplier cut;
    private volatile ConcurrentHashMap<String, Integer> numbers = new ConcurrentHashMap<>(); // of the newest names
    private final ConcurrentHashMap<Long, RecordedQueue> byAxis = new ConcurrentHashMap<>();
    private final ConcurrentHashMap<Integer, Integer> poolNumbers = new ConcurrentHashMap<>();

    // Guarded by this.
    private List<String> newest = new ArrayList<>();
    private List<String> older = List.of(); // before the newest
    private int firstOfNewest = NOT_KEPT + 1;
    private long newestFrom; // later records refer to the newest names
    private long completeFrom; // records below this number may refer to names not kept
    private final List<RecordedQueue> queues = new ArrayList<>();
    private final List<RecordedPool> pools = new ArrayList<>();

    /**
     * Begins without definitions.
     *
     * @param cut returns a number not above the numbers of later records
     */
    Definitions(LongSupplier cut) {
        this.cut = cut;
    }

    /** Returns the number of a name of a kind with few names; {@link RecordText} is for the others. */
    int name(String name) {
        if (name.isEmpty()) {
            return NO_NAME;
        }
        String kept = shortened(name);
        Integer known = numbers.get(kept);
        return known != null ? known : define(kept);
    }

    static String shortened(String name) {
        if (name.length() <= MAXIMUM_NAME) {
            return name;
        }
        boolean splits = Character.isHighSurrogate(name.charAt(MAXIMUM_NAME - 1));
        return name.substring(0, splits ? MAXIMUM_NAME - 1 : MAXIMUM_NAME);
    }

    private synchronized int define(String name) {
        Integer known = numbers.get(name);
        if (known != null) {
            return known;
        }
        if (newest.size() >= MAXIMUM_NAMES) {
            dropOlder();
        }
        if (firstOfNewest > Integer.MAX_VALUE - MAXIMUM_NAMES) {
            return NOT_KEPT; // all numbers are used
        }
        newest.add(name);
        if (newest.size() == UNDER_WAY) {
            newestFrom = cut.getAsLong();
        }
        int number = firstOfNewest + newest.size() - 1;
        numbers.put(name, number);
        return number;
    }

    /** Drops the older names: the newest names become the older names. A name still in use gets a new number. */
    private void dropOlder() {
        completeFrom = older.isEmpty() ? 0 : newestFrom;
        older = List.copyOf(newest);
        firstOfNewest += newest.size();
        newest = new ArrayList<>();
        numbers = new ConcurrentHashMap<>();
    }

    boolean knowsQueue(long axis) {
        return byAxis.containsKey(axis);
    }

    synchronized void queue(RecordedQueue queue) {
        RecordedQueue kept = new RecordedQueue(
                queue.axis(), shortened(queue.device()), queue.index(), queue.stream(), queue.memoryLimit());
        if (queues.size() < MAXIMUM_QUEUES && byAxis.putIfAbsent(kept.axis(), kept) == null) {
            queues.add(kept);
        }
    }

    int pool(Pool pool) {
        Integer known = poolNumbers.get(pool.number());
        return known != null ? known : define(pool);
    }

    private synchronized int define(Pool pool) {
        Integer known = poolNumbers.get(pool.number());
        if (known != null) {
            return known;
        }
        if (pools.size() == MAXIMUM_POOLS - 1) { // devices come and go in a long-running process
            pools.add(RecordedPool.OTHER);
        }
        if (pools.size() == MAXIMUM_POOLS) {
            return MAXIMUM_POOLS - 1;
        }
        pools.add(new RecordedPool(pool.setNumber(), shortened(pool.name())));
        poolNumbers.put(pool.number(), pools.size() - 1);
        return pools.size() - 1;
    }

    /** Returns the number from which records refer only to kept names. */
    synchronized long completeFrom() {
        return completeFrom;
    }

    synchronized RecordedNames names() {
        RecordedNames names = new RecordedNames(completeFrom);
        names.add(NO_NAME, List.of("", RecordedNames.NOT_KEPT));
        names.add(firstOfNewest - older.size(), older);
        names.add(firstOfNewest, List.copyOf(newest));
        return names;
    }

    synchronized List<RecordedQueue> queues() {
        return List.copyOf(queues);
    }

    synchronized List<RecordedPool> pools() {
        return List.copyOf(pools);
    }
}
