package io.github.iree4j.spring.cluster.autoconfigure;

import io.github.iree4j.status.IreeException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Calls of programs as seen by clients, and the rules for them: every call ends once and in time unless its client is
 * killed, an answer is right for the arguments, a call fails only during faults of nodes, and only with a failure named
 * by the pages, and the calls of a program with a sum are linearizable as long as the program is not loaded again.
 * Thread-safe.
 */
final class ProgramHistory implements ProgramCalls {
    /** The start of the sum in a program just loaded. */
    static final float[] INITIAL = {0.5f, 0.25f, 0, -1};

    private final LongSupplier nanoTime;
    private final long limitNanos;
    private final Predicate<IreeException> named;
    private final List<Call> calls = new ArrayList<>(); // guarded by this, like the rest
    private final List<Span> harm = new ArrayList<>();
    private final List<String> faults = new ArrayList<>();

    /** A time with failures allowed. */
    private record Span(long begin, long end) {}

    /**
     * Creates an empty history.
     *
     * @param nanoTime the clock
     * @param limit how long a call may take
     * @param named whether the pages name a failure allowed during a fault of a node
     */
    ProgramHistory(LongSupplier nanoTime, Duration limit, Predicate<IreeException> named) {
        this.nanoTime = nanoTime;
        this.limitNanos = limit.toNanos();
        this.named = named;
    }

    /** A call under way or ended. */
    final class Call implements ProgramCalls.Call {
        private final String name;
        private final @Nullable Object state; // the loaded program with the sum; null for a call without state
        private final float[] given; // the addend, or the right answer of a call without state
        private final long begin;
        private long end;
        private float @Nullable [] answer;
        private @Nullable IreeException failure;
        private boolean lost; // with its client
        private boolean reloaded; // the program, meanwhile

        private Call(long begin, String name, @Nullable Object state, float[] given) {
            this.begin = begin;
            this.name = name;
            this.state = state;
            this.given = given;
        }

        @Override
        public void answered(float[] values) {
            end(nanoTime.getAsLong(), values, null);
        }

        @Override
        public void failed(IreeException cause) {
            end(nanoTime.getAsLong(), null, cause);
        }

        /** Ends the call at a time by the clock. */
        void end(long time, float @Nullable [] values, @Nullable IreeException cause) {
            synchronized (ProgramHistory.this) {
                if (answer != null || failure != null) {
                    faults.add(this + " ended twice");
                }
                end = time;
                answer = values;
                failure = cause;
            }
        }

        @Override
        public void reloaded(Object program) {
            synchronized (ProgramHistory.this) {
                reloaded = true;
                begun(begin, name, program, given).lose();
            }
        }

        /**
         * Notes the absence of anybody waiting for the end: the process of the client was killed. The effect of the
         * call may remain.
         */
        void lose() {
            synchronized (ProgramHistory.this) {
                lost = true;
            }
        }

        private boolean isOver() {
            return answer != null || failure != null;
        }

        private boolean overlaps(Span span) {
            return begin < span.end && end > span.begin;
        }

        @Override
        public String toString() {
            return "%s of %s from %d to %d us: %s"
                    .formatted(
                            name,
                            Arrays.toString(given),
                            begin / 1000,
                            end / 1000,
                            lost ? "lost" : failure == null ? Arrays.toString(answer) : failure);
        }
    }

    private synchronized Call keep(Call call) {
        calls.add(call);
        return call;
    }

    /** Takes down a call begun at a time by the clock, with the sum of a program or the right answer. */
    Call begun(long begin, String name, @Nullable Object state, float[] given) {
        return keep(new Call(begin, name, state, given));
    }

    @Override
    public Call begin(String name, float[] answer) {
        return begun(nanoTime.getAsLong(), name, null, answer);
    }

    @Override
    public Call add(String name, Object program, float[] values) {
        return begun(nanoTime.getAsLong(), name, program, values);
    }

    @Override
    public synchronized void fault(String what) {
        faults.add(what);
    }

    /** Notes possible failures of calls from a time on, by the clock, until now. */
    synchronized void harmedSince(long begin) {
        harm.add(new Span(begin, nanoTime.getAsLong()));
    }

    /** Returns the number of calls with an answer. */
    synchronized int answers() {
        return (int) calls.stream().filter(each -> each.answer != null).count();
    }

    /** Returns the number of failures, by name and status. */
    synchronized Map<String, Integer> failures() {
        Map<String, Integer> failures = new TreeMap<>();
        for (Call each : calls) {
            if (each.failure != null) {
                failures.merge(each.name + " " + each.failure.code(), 1, Integer::sum);
            }
        }
        return failures;
    }

    /** Returns the faults found; no call may be under way. */
    synchronized List<String> check() {
        List<String> found = new ArrayList<>(faults);
        Map<Object, List<Call>> sums = new IdentityHashMap<>();
        for (Call each : calls) {
            if (!each.isOver() && !each.lost) {
                found.add(each + " never ended");
                continue;
            }
            if (!each.lost && each.end - each.begin > limitNanos) {
                found.add(each + " took too long");
            }
            IreeException failure = each.failure;
            if (failure != null && !named.test(failure)) {
                found.add(each + " failed in a way not named on any page");
            } else if (failure != null && harm.stream().noneMatch(each::overlaps)) {
                found.add(each + " failed without a fault of a node");
            }
            if (each.state != null) {
                sums.computeIfAbsent(each.state, _ -> new ArrayList<>()).add(each);
            } else if (each.answer != null && !Arrays.equals(each.answer, each.given)) {
                found.add(each + " has a wrong answer");
            }
        }
        sums.values().forEach(each -> checkSum(each, found));
        return found;
    }

    /** Adds vectors, exactly for the values added here: the sums are small multiples of a quarter. */
    static float[] plus(float[] a, float[] b) {
        float[] sum = new float[a.length];
        for (int i = 0; i < a.length; i++) {
            sum[i] = a[i] + b[i];
        }
        return sum;
    }

    /**
     * The first element of an answer is the number of the call in the single order. The order has to match real time,
     * each answer has to follow from the previous answer, and numbers without an answer must belong to failed calls
     * with an early enough begin.
     */
    private static void checkSum(List<Call> calls, List<String> found) {
        List<Call> failed = new ArrayList<>();
        Map<Long, Call> byNumber = new HashMap<>();
        for (Call each : calls) {
            if (each.answer == null || each.reloaded) {
                failed.add(each);
                continue;
            }
            Call other = byNumber.put((long) Math.floor(each.answer[0]), each);
            if (other != null) {
                found.add(each + " and " + other + " have the same place in the order");
            }
        }
        List<Long> numbers = byNumber.keySet().stream().sorted().toList();
        long[] earliestEnd = new long[numbers.size() + 1]; // of the calls from a place on
        earliestEnd[numbers.size()] = Long.MAX_VALUE;
        for (int i = numbers.size() - 1; i >= 0; i--) {
            Call each = byNumber.get(numbers.get(i));
            if (earliestEnd[i + 1] < each.begin) {
                found.add(each + " began when a later call had ended");
            }
            earliestEnd[i] = Math.min(earliestEnd[i + 1], each.end);
        }
        failed.sort(Comparator.comparingLong(each -> each.begin));
        long missing = 0;
        long last = 0;
        float[] sum = INITIAL;
        for (int i = 0; i < numbers.size(); i++) {
            Call each = byNumber.get(numbers.get(i));
            long gap = numbers.get(i) - last - 1;
            missing += gap;
            long until = earliestEnd[i];
            if (failed.stream().filter(call -> call.begin < until).count() < missing) {
                found.add("%d calls without an answer are in the sum of %s, more than failed".formatted(missing, each));
                missing -= gap;
            }
            float[] before = sum;
            sum = each.answer;
            boolean follows = switch ((int) Math.min(gap, 2)) {
                case 0 -> Arrays.equals(plus(before, each.given), sum);
                case 1 ->
                    failed.stream()
                            .filter(call -> call.begin < until)
                            .anyMatch(call -> Arrays.equals(plus(plus(before, call.given), each.given), each.answer));
                default -> true;
            };
            if (!follows) {
                found.add(each + " does not follow from " + Arrays.toString(before));
            }
            last = numbers.get(i);
        }
    }
}
