package io.github.iree4j.hal.virtual;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Runs all interleavings of small programs on the real scheduler, depth first. A run cannot be undone, so each branch
 * starts over and repeats the steps before.
 *
 * <p><b>States.</b> Interleavings with the same state are continued once. Two prefixes count as the same state when
 * their keys are equal ({@link SmallRun#key}). The key has
 *
 * <ul>
 *   <li>the progress of each operation, with its frontier and its outcome, and the order of the operations held back;
 *   <li>each value of each timeline with its record, the knowledge of each queue, all completions, and the owner and
 *   place of all memory;
 *   <li>for each unfinished operation, everything open to its decisions (the records of its waits, the queue's
 *   knowledge, all completions, the memory): before and after the step that moved the operation on, and as long as held
 *   back after each step with a change of any of these.
 * </ul>
 *
 * <p>The key suffices, since a decision is a function of its inputs, and hidden state (marks and waits on streams,
 * requests in line, registrations) is a function of the decisions and of the key. So equal states may be distinguished,
 * but different states are never identified, except by a collision of 64 bits.
 */
final class Explorer {
    /** A violation, with the steps before. */
    record Finding(SmallProgram program, List<Integer> steps, String what) {
        @Override
        public String toString() {
            StringBuilder text = new StringBuilder(what + System.lineSeparator() + "  " + program);
            for (int step : steps) {
                text.append(System.lineSeparator()).append("    ").append(SmallRun.describe(program, step));
            }
            return text.toString();
        }
    }

    /** Variations of the exploration, for tests of the explorer itself. */
    enum Mode {
        PLAIN,
        /** The scheduler is not told of the first wait of each operation, so the checks must find something. */
        SABOTAGED,
        /** Each interleaving is run separately, to measure the loss by merging states. */
        APART
    }

    private final Mode mode;
    private long programs;
    private double schedules;
    private long states;
    private long runs;
    private final List<Finding> findings = new ArrayList<>();

    Explorer(Mode mode) {
        this.mode = mode;
    }

    /** The number of interleavings; runs into an already explored state count. */
    double schedules() {
        return schedules;
    }

    List<Finding> findings() {
        return findings;
    }

    /** Adds the counts of another explorer. */
    void add(Explorer other) {
        programs += other.programs;
        schedules += other.schedules;
        states += other.states;
        runs += other.runs;
        findings.addAll(other.findings);
    }

    @Override
    public String toString() {
        return String.format(
                Locale.ROOT, "%d programs, %.0f schedules, %d states in %d runs", programs, schedules, states, runs);
    }

    /** A prefix of steps, and the state before the last step. */
    private record Branch(List<Integer> steps, long parent) {}

    /** All interleavings of a program, up to the first violation. */
    void explore(SmallProgram program) {
        Map<Long, List<Long>> followers = new HashMap<>();
        ArrayDeque<Branch> open = new ArrayDeque<>();
        open.push(new Branch(List.of(), 0));
        programs++;
        Finding finding = null;
        while (finding == null && !open.isEmpty()) {
            Branch branch = open.pop();
            try (SmallRun run = new SmallRun(program, mode == Mode.SABOTAGED)) {
                runs++;
                for (int step : branch.steps) {
                    run.take(step);
                }
                finding = goOn(program, run, branch, followers, open);
            }
        }
        if (finding == null) {
            states += followers.size() - 1;
            schedules += count(0L, followers, new HashMap<>());
        } else {
            findings.add(finding);
        }
    }

    private @Nullable Finding goOn(
            SmallProgram program,
            SmallRun run,
            Branch branch,
            Map<Long, List<Long>> followers,
            ArrayDeque<Branch> open) {
        List<Integer> steps = new ArrayList<>(branch.steps);
        long parent = branch.parent;
        while (true) {
            if (run.oracle().wrong() != null) {
                return new Finding(program, steps, run.oracle().wrong());
            }
            long key = mode == Mode.APART ? steps.hashCode() * 0x9E3779B97F4A7C15L + steps.size() : run.key();
            followers.computeIfAbsent(parent, state -> new ArrayList<>()).add(key);
            if (followers.containsKey(key)) {
                return null;
            }
            followers.put(key, new ArrayList<>());
            int[] next = run.steps();
            if (next.length == 0) {
                run.oracle().checkEnd();
                return run.oracle().wrong() == null
                        ? null
                        : new Finding(program, steps, run.oracle().wrong());
            }
            for (int i = next.length - 1; i > 0; i--) {
                List<Integer> other = new ArrayList<>(steps);
                other.add(next[i]);
                open.push(new Branch(other, key));
            }
            parent = key;
            steps.add(next[0]);
            run.take(next[0]);
        }
    }

    /** The number of paths from a state to an end. */
    private static double count(long state, Map<Long, List<Long>> followers, Map<Long, Double> counted) {
        Double known = counted.get(state);
        if (known != null) {
            if (known.isNaN()) {
                throw new AssertionError("a cycle of states: the key is incomplete");
            }
            return known;
        }
        counted.put(state, Double.NaN);
        List<Long> next = followers.getOrDefault(state, List.of());
        double ways = next.isEmpty() ? 1 : 0;
        for (long each : next) {
            ways += count(each, followers, counted);
        }
        counted.put(state, ways);
        return ways;
    }
}
