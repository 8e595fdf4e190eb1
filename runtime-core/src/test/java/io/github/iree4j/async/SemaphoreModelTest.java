package io.github.iree4j.async;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.github.iree4j.Effort;
import io.github.iree4j.frontier.Axis;
import io.github.iree4j.frontier.CausalDomain;
import io.github.iree4j.frontier.CompletedEpochs;
import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.frontier.MutableFrontier;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.Known;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/** Random signals, promises and lookups against a model with an endless memory. */
class SemaphoreModelTest {

    /** A timeline with an endless memory. */
    private static final class Model {
        private final long initial;
        private final TreeMap<Long, Frontier> signals = new TreeMap<>(); // all internal signals
        private final TreeMap<Long, Object> promises = new TreeMap<>();
        private long known;
        private long top;

        Model(long initial) {
            this.initial = initial;
            this.known = initial;
            this.top = initial;
        }

        void signal(long value, Frontier frontier) {
            for (Map.Entry<Long, Object> promise :
                    promises.headMap(value, false).entrySet()) {
                if (promise.getValue() instanceof Frontier passed
                        && frontier.reaches(passed.producerAxis(), passed.producerEpoch()) == Known.YES) {
                    signals.put(promise.getKey(), passed);
                }
            }
            promises.headMap(value, true).clear();
            signals.put(value, frontier);
            known = value;
            top = value;
        }

        void signalExternal(long value) {
            promises.headMap(value, true).clear();
            top = value;
        }

        /** Here the model forgets too: a fallback to an older signal needs a remembered signal. */
        void taintAbove(long value, int capacity) {
            TreeMap<Long, Frontier> runs = new TreeMap<>(); // consecutive empty signals are one record
            for (Map.Entry<Long, Frontier> signal : signals.entrySet()) {
                if (signal.getValue() == Frontier.EMPTY
                        && !runs.isEmpty()
                        && runs.lastEntry().getValue() == Frontier.EMPTY) {
                    runs.pollLastEntry();
                }
                runs.put(signal.getKey(), signal.getValue());
            }
            while (runs.size() > capacity) {
                runs.pollFirstEntry();
            }
            runs.tailMap(value, false).clear();
            signals.clear();
            signals.putAll(runs);
            known = Math.min(known, Math.min(value, signals.isEmpty() ? initial : signals.lastKey()));
        }

        boolean promise(long value, Object what) {
            return value > top && promises.putIfAbsent(value, what) == null;
        }

        void check(TimelineSemaphore semaphore, long value, int capacity, String context) {
            SignalRecord found = new SignalRecord();
            boolean any = semaphore.lookup(value, found);
            boolean tainted = value <= top && value > known;
            assertThat(semaphore.isTainted(value)).as(context).isEqualTo(tainted);
            if (value > top) {
                Map.Entry<Long, Object> promise = promises.ceilingEntry(value);
                assertThat(any).as(context).isEqualTo(promise != null);
                if (promise != null) {
                    assertThat(found.isReached()).as(context).isFalse();
                    assertThat(found.value()).as(context).isEqualTo(promise.getKey());
                    assertThat(found.isTainted() ? found.primitive() : found.frontier())
                            .as(context)
                            .isSameAs(promise.getValue());
                }
                return;
            }
            assertThat(any).as(context).isTrue();
            assertThat(found.isReached()).as(context).isTrue();
            assertThat(found.isTainted()).as(context).isEqualTo(tainted);
            if (tainted) {
                assertThat(found.frontier()).as(context).isSameAs(Frontier.UNKNOWN);
                return;
            }
            assertThat(found.value()).as(context).isBetween(value, top);
            if (value <= initial) {
                assertThat(found.frontier()).as(context).isSameAs(Frontier.EMPTY);
                return;
            }
            Map.Entry<Long, Frontier> tight = signals.ceilingEntry(value);
            if (signals.tailMap(tight.getKey(), true).size() <= capacity) {
                assertThat(found.frontier()).as(context).isSameAs(tight.getValue());
            } else { // true, though perhaps less tight: the record of a later signal
                Frontier answer = found.frontier();
                assertThat(signals.tailMap(value, true).values()).as(context).anyMatch(f -> f == answer);
            }
        }
    }

    @Test
    void everyAnswerMatchesATimelineWithEndlessMemory() {
        for (int round = 0; round < 200; round++) {
            long seed = Effort.seed(20261120) + round;
            run(new Random(seed), "seed " + seed);
        }
    }

    private static void run(Random random, String context) {
        long initial = random.nextInt(4);
        int capacity = 1 + random.nextInt(random.nextBoolean() ? 4 : 20);
        TimelineSemaphore semaphore = TimelineSemaphore.create(
                SemaphoreOptions.DEFAULTS.withInitialValue(initial).withHistoryCapacity(capacity));
        Model model = new Model(initial);
        long[] epochs = new long[3];
        for (int step = 0; step < 200; step++) {
            long next = model.top + 1 + random.nextInt(3);
            String here = context + ", step " + step;
            switch (random.nextInt(10)) {
                case 0 -> {
                    semaphore.signal(next);
                    model.signal(next, Frontier.EMPTY);
                }
                case 1 -> {
                    semaphore.signalExternal(next);
                    model.signalExternal(next);
                }
                case 2 -> {
                    Object event = new Object();
                    long value = model.top - 1 + random.nextInt(12);
                    assertThat(semaphore.promiseExternal(value, event)).as(here).isEqualTo(model.promise(value, event));
                }
                case 3, 4, 5 -> {
                    Frontier frontier = frontier(random, epochs);
                    long value = model.top - 1 + random.nextInt(12);
                    assertThat(semaphore.promise(value, frontier)).as(here).isEqualTo(model.promise(value, frontier));
                }
                case 6 -> {
                    if (random.nextInt(4) == 0) {
                        long value = Math.max(0, model.top - random.nextInt(6));
                        semaphore.taintAbove(value);
                        model.taintAbove(value, capacity);
                    } else {
                        assertThatExceptionOfType(IreeException.class)
                                .as(here)
                                .isThrownBy(() -> semaphore.signal(model.top, Frontier.EMPTY));
                    }
                }
                default -> {
                    Frontier frontier = model.promises.isEmpty()
                                    || !(model.promises.firstEntry().getValue() instanceof Frontier promised)
                            ? frontier(random, epochs)
                            : promised;
                    long value = model.promises.isEmpty() ? next : model.promises.firstKey();
                    semaphore.signal(value, frontier);
                    model.signal(value, frontier);
                }
            }
            assertThat(semaphore.value()).as(here).isEqualTo(model.top);
            for (int look = 0; look < 8; look++) {
                model.check(semaphore, Math.max(0, model.top - 20 + random.nextInt(32)), capacity, here);
            }
            model.check(semaphore, random.nextLong(model.top + 20), capacity, here);
        }
    }

    private static Frontier frontier(Random random, long[] epochs) {
        MutableFrontier frontier = new MutableFrontier(2 + random.nextInt(3));
        List<Integer> axes = new ArrayList<>(List.of(0, 1, 2));
        int producer = axes.remove(random.nextInt(3));
        for (int axis : axes) {
            if (epochs[axis] > 0 && random.nextBoolean()) {
                frontier.insertOrRaise(axis(axis), epochs[axis], CompletedEpochs.NONE);
            }
        }
        return frontier.produce(axis(producer), ++epochs[producer], CompletedEpochs.NONE);
    }

    private static long axis(int index) {
        return Axis.of(1, 0, CausalDomain.QUEUE, index);
    }
}
