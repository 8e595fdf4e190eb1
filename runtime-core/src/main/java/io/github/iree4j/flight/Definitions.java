package io.github.iree4j.flight;

import io.github.iree4j.hal.pool.Pool;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The names, queues, pools and slabs that records refer to by number. Bounded; entries are never dropped. An entry is added before the first
 * record that refers to it.
 */
final class Definitions {
    /** Number of the empty name. */
    static final int NO_NAME = 0;

    /** Number of the name that replaces all names beyond the limit. */
    private static final int OTHER = 1;

    static final int MAXIMUM_NAMES = 1 << 14;
    static final int MAXIMUM_NAME = 400;
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

    int name(String name) {
        Integer known = numbers.get(name);
        return known != null ? known : define(name);
    }

    private synchronized int define(String name) {
        Integer known = numbers.get(name);
        if (known != null) {
            return known;
        }
        if (names.size() == MAXIMUM_NAMES) {
            return OTHER;
        }
        String kept = name.length() <= MAXIMUM_NAME ? name : name.substring(0, MAXIMUM_NAME);
        Integer cut = numbers.get(kept);
        int number = cut != null ? cut : names.size();
        if (cut == null) {
            names.add(kept);
            numbers.put(kept, number);
        }
        return number;
    }

    boolean knowsQueue(long axis) {
        return byAxis.containsKey(axis);
    }

    synchronized void queue(RecordedQueue queue) {
        if (queues.size() < MAXIMUM_QUEUES && byAxis.putIfAbsent(queue.axis(), queue) == null) {
            queues.add(queue);
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
            return MAXIMUM_POOLS - 1; // devices come and go in a process that runs long
        }
        pools.add(new RecordedPool(pool.setNumber(), pool.name()));
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
