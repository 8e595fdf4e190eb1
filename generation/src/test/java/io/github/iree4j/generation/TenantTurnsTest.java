package io.github.iree4j.generation;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.Effort;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Turns of tenants while pages are short and sequences lose their pages, with a model in Java. */
@Tag("long")
@Timeout(600)
class TenantTurnsTest {
    private static final int TRIALS = Effort.rounds(1_600, 10_000);
    private static final long SEED = Effort.seed(TenantTurnsTest.class, TRIALS + " trials", 58);
    private static final List<String> TENANTS = List.of("a", "a", "a", "a", "b", "b", "c");

    /** The sequences at each step, from which follows which sequences began before the step, and which waited then. */
    private static final class Turns {
        private final Set<Sequence> begun = new HashSet<>();
        int begins; // while several tenants waited, and one had sequences

        /** Looks at the sequences in a step, and returns the requests that have begun out of turn. */
        List<Long> look(StepPlanner planner) {
            List<Sequence> all = planner.sequences();
            begun.retainAll(all); // ended sequences have given their places to others
            Map<String, Integer> running = new HashMap<>(); // or without pages for now
            Map<String, Integer> waiting = new HashMap<>();
            for (Sequence each : all) {
                (begun.contains(each) ? running : waiting).merge(tenant(each), 1, Integer::sum);
            }
            List<Long> wrong = new ArrayList<>();
            List<Sequence> next = all.stream()
                    .filter(each -> each.hasBegun() && !begun.contains(each))
                    .sorted(Comparator.comparingLong(Sequence::place))
                    .toList();
            for (Sequence each : next) {
                int own = running.getOrDefault(tenant(each), 0);
                if (waiting.keySet().stream().anyMatch(other -> running.getOrDefault(other, 0) < own)) {
                    wrong.add(each.generation().number());
                }
                begins += waiting.size() > 1 && !running.isEmpty() ? 1 : 0;
                running.merge(tenant(each), 1, Integer::sum);
                waiting.computeIfPresent(tenant(each), (_, count) -> count == 1 ? null : count - 1);
                begun.add(each);
            }
            return wrong;
        }

        private static String tenant(Sequence sequence) {
            return sequence.generation().request().tenant();
        }
    }

    @Test
    void noRequestBeginsWhileATenantWithFewerRunningRequestsWaits() {
        long preemptions = 0;
        int begins = 0;
        for (int trial = 0; trial < TRIALS; trial++) {
            SplittableRandom random = new SplittableRandom(SEED + trial);
            int columns = random.nextInt(2, 8);
            StepShapes shapes = new StepShapes(random.nextInt(1, 4), columns, random.nextInt(1, columns + 1));
            FakeLoop loop = new FakeLoop(shapes, columns + random.nextInt(1, 10))
                    .rows(1 << random.nextInt(3), 2 << random.nextInt(3))
                    .hasty()
                    .hostPages(random.nextInt(6));
            List<GenerationRequest> later = new ArrayList<>();
            List<Generation> generations = new ArrayList<>();
            ConcurrentLinkedQueue<Generation> arrived = new ConcurrentLinkedQueue<>();
            CountDownLatch submitted = new CountDownLatch(1);
            Turns turns = new Turns();
            SplittableRandom arrivals = random.split();
            loop.before(step -> {
                        FakeLoop.await(submitted);
                        turns.look(loop.planner())
                                .forEach(each -> loop.model.violations().add("request " + each + " is out of turn"));
                        if (!later.isEmpty() && arrivals.nextInt(3) == 0) {
                            arrived.add(loop.submit(later.removeLast()));
                        }
                    })
                    .start();
            for (int i = random.nextInt(6, 16); i > 0; i--) {
                generations.add(loop.submit(request(random, shapes)));
                later.add(request(random, shapes));
            }
            submitted.countDown();
            check(generations, trial);
            check(arrived, trial);
            loop.close();
            assertThat(loop.model.violations())
                    .as("trial %d, seed %d", trial, SEED)
                    .isEmpty();
            preemptions += loop.statistics().preemptions();
            begins += turns.begins;
        }
        assertThat(preemptions).as("trials are short of pages").isGreaterThan(TRIALS);
        assertThat(begins).as("turns").isGreaterThan(TRIALS * 4);
    }

    private static GenerationRequest request(SplittableRandom random, StepShapes shapes) {
        int most = shapes.maximumTokens();
        int[] prompt = random.ints(random.nextInt(1, most / 2 + 2), 0, PagedModel.VOCABULARY)
                .toArray();
        return GenerationRequest.of(random.nextInt(1, most - prompt.length + 2), prompt)
                .tenant(TENANTS.get(random.nextInt(TENANTS.size())));
    }

    private static void check(Iterable<Generation> generations, int trial) {
        for (Generation each : generations) {
            assertThat(each.result().await().tokens())
                    .as("trial %d, seed %d", trial, SEED)
                    .isEqualTo(PagedModel.expected(each.request()));
        }
    }
}
