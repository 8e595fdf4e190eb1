package io.github.iree4j.cluster;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * The largest set of members without opponents among each other; of equal sets, the set with the oldest member in which the
 * sets differ. All members compute the same set from the same failures. A maximum independent set by branching on the
 * member with the most opponents; with more than {@value #EXACT} members in conflict, the greedy set by fewest opponents.
 */
final class StayingPart {
    private static final int EXACT = 32; // some 100,000 steps at most

    private final long[] opponents; // by index, a bit for each opponent
    private long best;

    private StayingPart(long[] opponents) {
        this.opponents = opponents;
    }

    /**
     * Returns the members that stay.
     *
     * @param opponents the opponents of each member; symmetric, without the member itself
     */
    static Set<Long> of(Map<Long, Set<Long>> opponents) {
        Set<Long> stay = new HashSet<>();
        List<Long> inConflict = new ArrayList<>();
        new TreeMap<>(opponents).forEach((each, of) -> {
            if (of.isEmpty()) {
                stay.add(each);
            } else {
                inConflict.add(each); // the oldest first
            }
        });
        if (inConflict.size() > EXACT) {
            return greedy(opponents);
        }
        long[] bits = new long[inConflict.size()];
        for (int i = 0; i < bits.length; i++) {
            for (long each : opponents.getOrDefault(inConflict.get(i), Set.of())) {
                bits[i] |= 1L << inConflict.indexOf(each);
            }
        }
        StayingPart part = new StayingPart(bits);
        part.search((1L << bits.length) - 1, 0);
        for (int i = 0; i < bits.length; i++) {
            if ((part.best >> i & 1) != 0) {
                stay.add(inConflict.get(i));
            }
        }
        return stay;
    }

    /** Finds the best set with the chosen members and some of the others, none of which is an opponent of the chosen. */
    private void search(long others, long chosen) {
        if (Long.bitCount(chosen) + Long.bitCount(others) < Long.bitCount(best)) {
            return;
        }
        int most = 0;
        int next = -1;
        for (long left = others; left != 0; left &= left - 1) {
            int each = Long.numberOfTrailingZeros(left);
            int count = Long.bitCount(opponents[each] & others);
            if (count > most) {
                most = count;
                next = each;
            }
        }
        if (next < 0) { // no opponents are left
            long found = chosen | others;
            int more = Long.compare(Long.bitCount(found), Long.bitCount(best));
            if (more > 0 || more == 0 && (Long.lowestOneBit(found ^ best) & found) != 0) {
                best = found;
            }
            return;
        }
        long bit = 1L << next;
        search(others & ~bit & ~opponents[next], chosen | bit);
        search(others & ~bit, chosen);
    }

    private static Set<Long> greedy(Map<Long, Set<Long>> opponents) {
        Map<Long, Set<Long>> left = new TreeMap<>();
        opponents.forEach((each, of) -> left.put(each, new TreeSet<>(of)));
        Set<Long> stay = new HashSet<>();
        while (!left.isEmpty()) {
            long best = 0;
            int fewest = Integer.MAX_VALUE;
            for (Map.Entry<Long, Set<Long>> each : left.entrySet()) {
                if (each.getValue().size() < fewest) { // among equals the lowest
                    best = each.getKey();
                    fewest = each.getValue().size();
                }
            }
            stay.add(best);
            Set<Long> gone = opponents.getOrDefault(best, Set.of());
            left.remove(best);
            left.keySet().removeAll(gone);
            left.values().forEach(each -> each.removeAll(gone));
        }
        return stay;
    }
}
