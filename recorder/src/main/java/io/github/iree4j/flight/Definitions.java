package io.github.iree4j.flight;

import io.github.iree4j.hal.pool.Pool;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The names, queues, pools and slabs referred to by number in records. Bounded; entries are never dropped. An entry is
 * added before the first record referring to it.
 */
final class Definitions {
    /** Number of the empty name. */
    static final int NO_NAME = 0;

    /** Number of the name replacing all names beyond the limit. */
    private static final int OTHER = 1;

    static final int MAXIMUM_NAMES = 1 << 14;
    static final int MAXIMUM_NAME = 300; // in UTF-8, all names of a recording fit a chunk of its file
    static final int MAXIMUM_QUEUES = 1 << 12;
    static final int MAXIMUM_POOLS = 1 << 12;

    private final ConcurrentHashMap<String, Integer> numbers = new ConcurrentHashMap<>();
    private final ConcurrentHashMap<Long, RecordedQueue> byAxis = new ConcurrentHashMap<>();
    private final ConcurrentHashMap<Integer, Integer> poolNumbers = new ConcurrentHashMap<>();

    // Guarded by this.
    private final List<String> names = new ArrayList<>();
    private final List<RecordedQueue> queues = new ArrayList<>();
    private final List<RecordedPool> pools = new ArrayList<>();

    Definitions() {
        names.add("");
        names.add("(more names than a recording keeps)");
        numbers.put("", NO_NAME);
    }

    /** Returns the number of a name of a kind with few names; {@link RecordText} is for the others. */
    int name(String name) {
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
        if (names.size() >= MAXIMUM_NAMES) {
            return OTHER;
        }
        names.add(name);
        numbers.put(name, names.size() - 1);
        return names.size() - 1;
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
        if (pools.size() == MAXIMUM_POOLS) {
            return MAXIMUM_POOLS - 1; // devices come and go in a long-running process
        }
        pools.add(new RecordedPool(pool.setNumber(), shortened(pool.name())));
        poolNumbers.put(pool.number(), pools.size() - 1);
        return pools.size() - 1;
    }

    synchronized List<String> names() {
        return List.copyOf(names);
    }

    synchronized List<RecordedQueue> queues() {
        return List.copyOf(queues);
    }

    synchronized List<RecordedPool> pools() {
        return List.copyOf(pools);
    }
}
