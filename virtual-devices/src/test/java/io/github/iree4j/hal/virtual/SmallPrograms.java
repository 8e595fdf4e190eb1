package io.github.iree4j.hal.virtual;

import io.github.iree4j.hal.virtual.SmallProgram.Kind;
import io.github.iree4j.hal.virtual.SmallProgram.Operation;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * All meaningful programs of a family, each once, up to renaming of queues of the same kind, timelines and operations.
 */
final class SmallPrograms {
    /**
     * A family of programs.
     *
     * @param queues as {@link SmallProgram#queues}
     * @param kinds the kinds of the operations; the letter of a block allocates, in small it frees, {@code w} works
     * @param allocated the blocks allocated before
     * @param byHand maximum number of signals by hand
     * @param waits maximum number of waits per operation
     */
    record Family(String queues, String kinds, int allocated, int byHand, int waits) {}

    private final Family family;
    private final int size;
    private final Operation[] chosen;
    private final Map<String, SmallProgram> found = new LinkedHashMap<>();
    private final List<int[]> orders;
    private final List<int[]> renamedQueues;

    private SmallPrograms(Family family) {
        this.family = family;
        this.size = family.kinds.length();
        this.chosen = new Operation[size];
        this.orders = permutations(size, (i, j) -> family.kinds.charAt(i) == family.kinds.charAt(j));
        this.renamedQueues =
                permutations(family.queues.length(), (i, j) -> family.queues.charAt(i) == family.queues.charAt(j));
    }

    static Collection<SmallProgram> of(Family family) {
        SmallPrograms programs = new SmallPrograms(family);
        programs.choose(0, 0);
        return programs.found.values();
    }

    private void choose(int index, int signalled) {
        if (index == size) {
            for (int byHand = 0; byHand < 1 << SmallProgram.POINTS; byHand++) {
                if ((byHand & signalled) == 0 && Integer.bitCount(byHand) <= family.byHand) {
                    consider(signalled, byHand);
                }
            }
            return;
        }
        char what = family.kinds.charAt(index);
        Kind kind = what == 'w' ? Kind.WORK : Character.isUpperCase(what) ? Kind.ALLOCATE : Kind.FREE;
        int block = what == 'w' ? 0 : SmallProgram.LETTERS.indexOf(Character.toUpperCase(what));
        for (int queue = 0; queue < family.queues.length(); queue++) {
            for (int signal = -1; signal < SmallProgram.POINTS; signal++) {
                if (signal >= 0 && (signalled >> signal & 1) != 0) {
                    continue;
                }
                for (int waits = 0; waits < 1 << SmallProgram.POINTS; waits++) {
                    if (Integer.bitCount(waits) > family.waits
                            || Integer.bitCount(waits & 3) > 1
                            || Integer.bitCount(waits & 12) > 1
                            || signal >= 0 && (waits & 3 << (signal & 2)) != 0 && (waits & 1 << signal - 1) == 0) {
                        continue;
                    }
                    if (kind != Kind.WORK && family.queues.charAt(queue) == 'f') {
                        continue; // only device 0 has memory
                    }
                    chosen[index] = new Operation(queue, kind, block, waits, signal);
                    choose(index + 1, signal < 0 ? signalled : signalled | 1 << signal);
                }
            }
        }
    }

    private void consider(int signalled, int byHand) {
        int waited = 0;
        int queues = 0;
        for (Operation each : chosen) {
            waited |= each.waits();
            queues |= 1 << each.queue();
        }
        if (queues != (1 << family.queues.length()) - 1) {
            return; // belongs to a smaller family
        }
        int used = signalled | byHand | waited;
        for (int timeline = 0; timeline < 2; timeline++) {
            int values = used >> timeline * 2 & 3;
            if (values == 2) {
                return; // equivalent to a program with value 1
            }
            if ((waited >> timeline * 2 & 3) == 0 && values != 0) {
                return; // no operation waits for the end
            }
        }
        for (Operation each : chosen) {
            if (each.kind() == Kind.WORK && each.waits() == 0 && each.signal() < 0) {
                return; // unconnected
            }
        }
        if (!comesToAnEnd(byHand) || !usesMemoryWell(byHand)) {
            return;
        }
        found.putIfAbsent(
                canonical(byHand), SmallProgram.of(family.queues, List.of(chosen.clone()), byHand, family.allocated));
    }

    /** No operation waits for itself, and each awaited value is signalled. */
    private boolean comesToAnEnd(int byHand) {
        int reached = 0;
        for (int p = 0; p < SmallProgram.POINTS; p++) {
            reached |= (byHand >> p & 1) != 0 ? SmallProgram.atOrBelow(p) : 0;
        }
        boolean[] over = new boolean[size];
        for (int left = size; left > 0; ) {
            int before = left;
            for (int i = 0; i < size; i++) {
                if (!over[i] && (chosen[i].waits() & ~reached) == 0) {
                    over[i] = true;
                    reached |= chosen[i].signal() < 0 ? 0 : SmallProgram.atOrBelow(chosen[i].signal());
                    left--;
                }
            }
            if (left == before) {
                return false;
            }
        }
        return true;
    }

    /** Blocks are freed behind their allocation, and no allocation is waited for before its needed memory is freed. */
    private boolean usesMemoryWell(int byHand) {
        for (int i = 0; i < size; i++) {
            Operation free = chosen[i];
            for (int j = 0; j < size; j++) {
                Operation other = chosen[j];
                if (free.kind() != Kind.FREE || other.kind() != Kind.ALLOCATE) {
                    continue;
                }
                if (other.block() == free.block() && !follows(free, other, byHand)) {
                    return false;
                }
                if (SmallProgram.conflict(free.block(), other.block()) && dependsOn(i, j, 0)) {
                    return false;
                }
            }
        }
        return true;
    }

    /** Whether the earlier operation is the only signaller of a wait of the later operation. */
    private boolean follows(Operation later, Operation earlier, int byHand) {
        if (earlier.signal() < 0 || (later.waits() >> earlier.signal() & 1) == 0) {
            return false;
        }
        int above = earlier.signal() | 1;
        if ((byHand >> above & 1) != 0) {
            return false;
        }
        for (Operation each : chosen) {
            if (!each.equals(earlier) && each.signal() == above) {
                return false;
            }
        }
        return true;
    }

    private boolean dependsOn(int later, int earlier, int visited) {
        if (later == earlier) {
            return true;
        }
        for (int k = 0; k < size; k++) {
            if ((visited >> k & 1) == 0
                    && chosen[later].mayFollow(chosen[k])
                    && dependsOn(k, earlier, visited | 1 << later)) {
                return true;
            }
        }
        return false;
    }

    // ---- Symmetries.

    private String canonical(int byHand) {
        String least = null;
        for (int[] order : orders) {
            for (int[] queue : renamedQueues) {
                for (int swap = 0; swap <= 2; swap += 2) {
                    char[] text = new char[size * 3 + 1];
                    for (int i = 0; i < size; i++) {
                        Operation each = chosen[order[i]];
                        text[i * 3] = (char) queue[each.queue()];
                        text[i * 3 + 1] = (char) swapped(each.waits(), swap);
                        text[i * 3 + 2] = (char) (each.signal() < 0 ? 9 : each.signal() ^ swap);
                    }
                    text[size * 3] = (char) swapped(byHand, swap);
                    String name = new String(text);
                    least = least == null || name.compareTo(least) < 0 ? name : least;
                }
            }
        }
        return java.util.Objects.requireNonNull(least);
    }

    private static int swapped(int points, int swap) {
        return swap == 0 ? points : points >> 2 | (points & 3) << 2;
    }

    private interface Same {
        boolean test(int i, int j);
    }

    private static List<int[]> permutations(int size, Same same) {
        List<int[]> all = new ArrayList<>();
        permute(new int[size], 0, 0, same, all);
        return all;
    }

    private static void permute(int[] order, int at, int used, Same same, List<int[]> all) {
        if (at == order.length) {
            all.add(order.clone());
            return;
        }
        for (int i = 0; i < order.length; i++) {
            if ((used >> i & 1) == 0 && same.test(at, i)) {
                order[at] = i;
                permute(order, at + 1, used | 1 << i, same, all);
            }
        }
    }
}
