package io.github.iree4j.generation.sampling;

import io.github.iree4j.status.IreeException;
import java.util.Arrays;
import java.util.BitSet;
import java.util.HashMap;
import java.util.Map;
import java.util.stream.IntStream;

/**
 * A deterministic automaton over bytes. Every state but {@link #DEAD} leads to an accepting state. Immutable.
 *
 * <p>The construction is eager, so that the size is known, and refused, when the constraint is created; a lazy
 * construction would fail in the middle of a text, sooner or later by the texts of other requests.
 */
final class ByteAutomaton {
    /** The state after a byte that no text has. */
    static final int DEAD = 0;

    static final int START = 1;

    private static final int BYTES = 256;
    private static final int MOST_STATES = 1 << 15;
    private static final int MOST_ENTRIES = 1 << 19;
    private static final int MOST_STEPS = 1 << 24; // to find kinds

    private final byte[] classes; // of bytes: bytes of a class lead to the same states
    private final int classCount;
    private final char[] table; // next states, by state and class
    private final BitSet accepting;

    private ByteAutomaton(byte[] classes, int classCount, char[] table, BitSet accepting) {
        this.classes = classes;
        this.classCount = classCount;
        this.table = table;
        this.accepting = accepting;
    }

    /**
     * Creates the automaton of an expression.
     *
     * @param what names the constraint in messages
     * @throws IreeException INVALID_ARGUMENT for an expression with too many states
     */
    static ByteAutomaton of(String what, Expression expression) {
        return new Construction(new Nfa(what, expression)).run();
    }

    int next(int state, int octet) {
        return table[state * classCount + Byte.toUnsignedInt(classes[octet])];
    }

    /** Returns the state after bytes. */
    int next(int state, byte[] octets) {
        int last = state;
        for (byte each : octets) {
            last = next(last, Byte.toUnsignedInt(each));
        }
        return last;
    }

    boolean isAccepting(int state) {
        return accepting.get(state);
    }

    int size() {
        return table.length / classCount;
    }

    /**
     * Returns a kind for each state: states of a kind are followed by the same texts of at most a number of bytes. Each
     * state is a separate kind where finding out takes too long.
     *
     * @param bytes maximum number of bytes of a text
     */
    int[] kinds(int bytes) {
        int[] kinds = new int[size()];
        Arrays.fill(kinds, 1);
        kinds[DEAD] = 0;
        int count = 2;
        for (int round = 1; round <= bytes; round++) {
            if ((long) round * table.length > MOST_STEPS) {
                return IntStream.range(0, size()).toArray();
            }
            Map<IntKey, Integer> refined = new HashMap<>(); // by kind, and kinds of the next states
            int[] next = new int[size()];
            for (int state = 0; state < size(); state++) {
                int[] key = new int[classCount + 1];
                for (int i = 0; i < classCount; i++) {
                    key[i] = kinds[table[state * classCount + i]];
                }
                key[classCount] = kinds[state];
                Integer known = refined.putIfAbsent(new IntKey(key), refined.size());
                next[state] = known == null ? refined.size() - 1 : known;
            }
            if (refined.size() == count) {
                return kinds;
            }
            count = refined.size();
            kinds = next;
        }
        return kinds;
    }

    /** The subset construction. A state is the states of the NFA that read a byte or accept, ascending. */
    private static final class Construction {
        private final Nfa nfa;
        private final byte[] classes = new byte[BYTES];
        private final int classCount;
        private final Map<IntKey, Integer> states = new HashMap<>();
        private final BitSet accepting = new BitSet();
        private final int[] seen; // by state of the NFA, the last closure that found the state
        private int closures;
        private final int[] stack;
        private final int[] found;
        private IntKey[] order = new IntKey[64];
        private char[] table = new char[0];

        Construction(Nfa nfa) {
            this.nfa = nfa;
            this.seen = new int[nfa.size()];
            this.stack = new int[nfa.size() + 1];
            this.found = new int[nfa.size()];
            boolean[] begins = new boolean[BYTES + 1];
            for (int i = 0; i < nfa.size(); i++) {
                if (nfa.reads(i)) {
                    begins[nfa.low(i)] = true;
                    begins[nfa.high(i) + 1] = true;
                }
            }
            int count = 0;
            for (int i = 0; i < BYTES; i++) {
                if (i > 0 && begins[i]) {
                    count++;
                }
                classes[i] = (byte) count;
            }
            this.classCount = count + 1;
        }

        ByteAutomaton run() {
            states.put(new IntKey(new int[0]), DEAD);
            grow(1);
            state(closure(new int[] {nfa.start()}, 1));
            int[][] targets = new int[classCount][4];
            int[] counts = new int[classCount];
            for (int state = START; state < states.size(); state++) {
                Arrays.fill(counts, 0);
                for (int each : order[state].values()) {
                    if (nfa.reads(each)) {
                        spread(each, targets, counts);
                    }
                }
                for (int i = 0; i < classCount; i++) {
                    if (counts[i] > 0) {
                        int next = state(closure(targets[i], counts[i]));
                        table[state * classCount + i] = (char) next;
                    }
                }
            }
            return new ByteAutomaton(classes, classCount, Arrays.copyOf(table, states.size() * classCount), accepting);
        }

        private void spread(int state, int[][] targets, int[] counts) {
            int last = Byte.toUnsignedInt(classes[nfa.high(state)]);
            for (int i = Byte.toUnsignedInt(classes[nfa.low(state)]); i <= last; i++) {
                nfa.step(1);
                if (counts[i] == targets[i].length) {
                    targets[i] = Arrays.copyOf(targets[i], 2 * counts[i]);
                }
                targets[i][counts[i]++] = nfa.next(state);
            }
        }

        /** Returns the states that read or accept, reached from states without reading. */
        private IntKey closure(int[] from, int count) {
            closures++;
            int size = 0;
            for (int i = 0; i < count; i++) {
                int depth = push(from[i], 0);
                while (depth > 0) {
                    int state = stack[--depth];
                    nfa.step(1);
                    if (state == Nfa.ACCEPT || nfa.reads(state)) {
                        found[size++] = state;
                    } else {
                        depth = push(nfa.next(state), depth);
                        depth = push(nfa.other(state), depth);
                    }
                }
            }
            int[] ascending = Arrays.copyOf(found, size);
            Arrays.sort(ascending);
            return new IntKey(ascending);
        }

        private int push(int state, int depth) {
            if (seen[state] == closures) {
                return depth;
            }
            seen[state] = closures;
            stack[depth] = state;
            return depth + 1;
        }

        private int state(IntKey members) {
            Integer known = states.get(members);
            if (known != null) {
                return known;
            }
            int state = states.size();
            if (state == MOST_STATES) {
                throw nfa.tooLarge("states of its automaton", MOST_STATES);
            }
            grow(state + 1);
            states.put(members, state);
            order[state] = members;
            if (members.values()[0] == Nfa.ACCEPT) {
                accepting.set(state);
            }
            return state;
        }

        private void grow(int size) {
            if (size * classCount > MOST_ENTRIES) {
                throw nfa.tooLarge("transitions of its automaton", MOST_ENTRIES);
            }
            if (size * classCount > table.length) {
                table = Arrays.copyOf(table, Math.clamp(2L * size * classCount, 64 * classCount, MOST_ENTRIES));
            }
            if (size > order.length) {
                order = Arrays.copyOf(order, 2 * order.length);
            }
        }
    }
}
