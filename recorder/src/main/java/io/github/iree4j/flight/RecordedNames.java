package io.github.iree4j.flight;

import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The names referred to by number in records. A name not kept reads {@link #NOT_KEPT}, never as another name. Confined
 * to one thread while names are added, and immutable afterwards.
 */
final class RecordedNames {
    /** The text in place of a name not kept; the name with number 1. */
    static final String NOT_KEPT = "(more names than a recording keeps)";

    private final TreeMap<Integer, List<String>> runs =
            new TreeMap<>(); // consecutive names, by the number of the first
    private final long completeFrom;
    private int next;

    /**
     * Begins without names.
     *
     * @param completeFrom records below this sequence number may refer to names not kept
     */
    RecordedNames(long completeFrom) {
        this.completeFrom = completeFrom;
    }

    /** Adds consecutive names; the first number is not below {@link #next}. */
    void add(int first, List<String> names) {
        if (!names.isEmpty()) {
            runs.put(first, names);
            next = first + names.size();
        }
    }

    /** Returns a number above the numbers of all names. */
    int next() {
        return next;
    }

    long completeFrom() {
        return completeFrom;
    }

    /** Returns a name; null for a number never given to a name. */
    @Nullable
    String get(long number) {
        if (number < 0 || number >= next) {
            return null;
        }
        Map.Entry<Integer, List<String>> run = runs.floorEntry((int) number);
        long index = run == null ? 0 : number - run.getKey();
        return run == null || index >= run.getValue().size()
                ? NOT_KEPT
                : run.getValue().get((int) index);
    }

    /** Returns the kept names from a number on: consecutive names, by the number of the first. */
    SortedMap<Integer, List<String>> from(int number) {
        TreeMap<Integer, List<String>> result = new TreeMap<>(runs.tailMap(number));
        Map.Entry<Integer, List<String>> before = runs.lowerEntry(number);
        if (before != null && number - before.getKey() < before.getValue().size()) {
            List<String> names = before.getValue();
            result.put(number, names.subList(number - before.getKey(), names.size()));
        }
        return result;
    }

    /** Returns whether all names from a number on are kept. */
    boolean hasAllFrom(int number) {
        int expected = number;
        for (Map.Entry<Integer, List<String>> run : from(number).entrySet()) {
            if (run.getKey() > expected) {
                return false;
            }
            expected = run.getKey() + run.getValue().size();
        }
        return true;
    }
}
