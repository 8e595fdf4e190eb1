package io.github.iree4j.generation.sampling;

import io.github.iree4j.status.IreeException;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * An automaton of an expression by Thompson's construction: a state reads a byte of a range and has a next state, or
 * reads nothing and has two next states. Each state leads to the accepting state. Not thread-safe.
 */
final class Nfa {
    /** The state without a next state. */
    static final int ACCEPT = 0;

    private static final int MOST_STATES = 1 << 17;
    private static final int READS_NOTHING = -1;

    private final ConstructionSteps steps;
    private int[] low = new int[64];
    private int[] high = new int[64];
    private int[] next = new int[64]; // of states that read nothing, the first of the two
    private final Map<Transition, Integer> known = new HashMap<>();
    private int count = 1;
    private final int start;

    private record Transition(int low, int high, int next) {}

    /**
     * Creates an automaton.
     *
     * @param what names the constraint in messages
     * @throws IreeException INVALID_ARGUMENT for an expression with too many states
     */
    Nfa(String what, Expression expression) {
        this.steps = new ConstructionSteps(what);
        this.start = add(expression, ACCEPT);
    }

    int start() {
        return start;
    }

    int size() {
        return count;
    }

    /** Returns whether a state reads a byte. */
    boolean reads(int state) {
        return state != ACCEPT && low[state] != READS_NOTHING;
    }

    int low(int state) {
        return low[state];
    }

    int high(int state) {
        return high[state];
    }

    /** Returns the next state. */
    int next(int state) {
        return next[state];
    }

    /** Returns the other next state of a state that reads nothing. */
    int other(int state) {
        return high[state];
    }

    /** Counts a step of the construction, which takes bounded time. */
    void step(int more) {
        steps.add(more);
    }

    IreeException tooLarge(String unit, int most) {
        return steps.tooLarge(unit, most);
    }

    /** Returns a state that reads the strings of an expression and continues with a state. */
    private int add(Expression expression, int then) {
        step(1);
        return switch (expression) {
            case Expression.Range range -> state(range.low(), range.high(), then);
            case Expression.Chain chain -> {
                int first = then;
                for (Expression each : chain.parts().reversed()) {
                    first = add(each, first);
                }
                yield first;
            }
            case Expression.Choice choice -> {
                int first = add(choice.alternatives().getLast(), then);
                for (Expression each : choice.alternatives()
                        .reversed()
                        .subList(1, choice.alternatives().size())) {
                    first = fork(add(each, then), first);
                }
                yield first;
            }
            case Expression.Repetition repetition -> addRepetition(repetition, then);
            case Expression.Members members -> addMembers(members, then);
        };
    }

    private int addRepetition(Expression.Repetition repetition, int then) {
        if (repetition.most() == 0) {
            return then;
        }
        boolean endless = repetition.most() == Integer.MAX_VALUE;
        int copies = endless ? Math.max(1, repetition.least()) : repetition.most();
        int after = then;
        int first = then;
        for (int copy = copies; copy >= 1; copy--) {
            if (copy == copies && endless) {
                after = create(READS_NOTHING, then, ACCEPT); // the first of the two follows
                first = add(repetition.part(), after);
                int again = add(repetition.separator(), first); // before the array is read, which may be replaced
                next[after] = again;
            } else {
                first = add(repetition.part(), after);
            }
            if (copy > 1) {
                int again = add(repetition.separator(), first);
                after = copy - 1 >= repetition.least() ? fork(again, then) : again;
            }
        }
        return repetition.least() == 0 ? fork(first, then) : first;
    }

    /** Adds parts in order. Behind a part, another needs a separator. */
    private int addMembers(Expression.Members members, int then) {
        List<Expression> parts = members.parts();
        int first = then; // nothing read
        int later = then; // something read
        for (int i = parts.size() - 1; i >= 0; i--) {
            int part = add(parts.get(i), later);
            int separated = add(members.separator(), part);
            boolean required = members.required().get(i);
            first = required ? part : fork(part, first);
            later = required ? separated : fork(separated, later);
        }
        return first;
    }

    private int fork(int one, int other) {
        return state(READS_NOTHING, other, one);
    }

    /** Returns a state, known or new: texts with the same end share the states of the end. */
    private int state(int lowest, int highest, int then) {
        return known.computeIfAbsent(new Transition(lowest, highest, then), _ -> create(lowest, highest, then));
    }

    private int create(int lowest, int highest, int then) {
        if (count == MOST_STATES) {
            throw tooLarge("states", MOST_STATES);
        }
        if (count == low.length) {
            low = Arrays.copyOf(low, 2 * count);
            high = Arrays.copyOf(high, 2 * count);
            next = Arrays.copyOf(next, 2 * count);
        }
        low[count] = lowest;
        high[count] = highest;
        next[count] = then;
        return count++;
    }
}
