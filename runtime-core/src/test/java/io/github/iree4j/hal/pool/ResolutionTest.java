package io.github.iree4j.hal.pool;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.Effort;
import io.github.iree4j.async.Cancellation;
import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.status.IreeException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Random;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * DeadlockDetector of random calls: the oldest call within reach of help is helped, and no call fails without need of
 * its memory. The result without a failure is found by a second run.
 */
@Tag("long")
class ResolutionTest extends DeadlockLine {
    private static final int ROUNDS = Effort.rounds(2_000, 50_000);
    private static final long SEED = Effort.seed(ResolutionTest.class, ROUNDS + " rounds", 0);
    private static final long UNIT = 64;

    private int deadlocks;
    private int several; // deadlocks with several victims
    private int helpless; // deadlocks without help by any call's end

    /** A call with memory in a wait for more. */
    private static final class Caller {
        final int number;
        final String consumer;
        final MemoryHolder call;
        final List<Reservation> held = new ArrayList<>();
        final List<Cancellation> waiting = new ArrayList<>();
        int granted; // of the line
        int began = Integer.MAX_VALUE; // the place in the order of first unrefused requests

        Caller(int number, String consumer) {
            this.number = number;
            this.consumer = consumer;
            this.call = new MemoryHolder("call " + number, new OperationsUnderWay());
        }

        /** Releases everything. */
        void end() {
            waiting.forEach(Cancellation::cancel);
            held.forEach(each -> each.release(Frontier.EMPTY));
            held.clear();
            call.end();
        }
    }

    /** A set of pools in a deadlock, made from a seed. */
    private final class Deadlocked {
        final PoolSet set;
        final List<Caller> callers = new ArrayList<>(); // in line
        final TreeSet<Integer> failed = new TreeSet<>();
        final FakeSlabs provider = new FakeSlabs(); // with the same addresses each time
        int grants; // of requests in line
        private final Random random;
        private final int units;
        private int begun;

        Deadlocked(long seed) {
            looks.clear();
            random = new Random(seed);
            units = 12 + random.nextInt(40);
            long slab = UNIT * (1 + random.nextInt(6));
            PoolSetBuilder builder = PoolSet.builder(provider, tracker)
                    .clock(clock::get)
                    .delayed(ResolutionTest.this::after)
                    .budget(units * UNIT)
                    .quota("limited", (units / 2 + 1) * UNIT)
                    .hostPatience(0);
            switch (random.nextInt(3)) {
                case 0 -> builder.pool(PoolOptions.tlsf("all", slab, slab));
                case 1 -> builder.pool(PoolOptions.passThrough("all").withRetained(Long.MAX_VALUE));
                default -> {
                    long shared = UNIT * (1 + random.nextInt(4));
                    builder.pool(PoolOptions.tlsf("unit", shared, shared).withSizes(0, UNIT))
                            .pool(PoolOptions.tlsf("transient", slab, slab)
                                    .withLifetime(PoolOptions.Lifetimes.TRANSIENT)
                                    .withSizes(0, 8 * UNIT))
                            .pool(PoolOptions.tlsf("persistent", slab, slab)
                                    .withLifetime(PoolOptions.Lifetimes.PERSISTENT)
                                    .withSizes(0, 8 * UNIT))
                            .pool(PoolOptions.passThrough("large")
                                    .withRetained(random.nextInt(20) * UNIT)
                                    .withBudget((units - random.nextInt(12)) * UNIT));
                }
            }
            set = builder.build();
            fill();
        }

        private ReservationRequest request(Caller caller, long size) {
            ReservationRequest request = ReservationRequest.of(size).withConsumer(caller.consumer);
            return random.nextInt(4) == 0 ? request.withAlignment(UNIT << random.nextInt(3)) : request;
        }

        private void fill() {
            List<Reservation> passing = new ArrayList<>();
            List<Caller> all = new ArrayList<>();
            int count = 2 + random.nextInt(7);
            for (int i = 0; i < count; i++) {
                all.add(new Caller(i, random.nextInt(3) == 0 ? "limited" : "free"));
            }
            for (int i = 0; i < 4 * count; i++) {
                Caller caller = all.get(random.nextInt(count));
                long size = UNIT * (1 + random.nextInt(Math.max(1, 2 * units / count)));
                MemoryHolder before = caller.call.enter();
                try {
                    ReservationRequest request = request(caller, size);
                    Reservation got = set.tryReserve(random.nextBoolean() ? request.asPersistent() : request);
                    if (got != null) {
                        begins(caller);
                        (random.nextInt(3) == 0 ? passing : caller.held).add(got);
                    }
                } catch (IreeException e) {
                    assertThat(e).hasMessageContaining("can never fit");
                } finally {
                    caller.call.leave(before);
                }
            }
            passing.forEach(each -> each.release(Frontier.EMPTY)); // the rest has gaps
            for (Caller caller : all) {
                if (random.nextInt(8) == 0) {
                    caller.call.end(); // the memory is in results
                    continue;
                }
                for (int tries = 0; tries < 20 && caller.waiting.isEmpty(); tries++) {
                    ask(caller);
                }
                if (caller.waiting.isEmpty()) {
                    caller.end();
                } else {
                    callers.add(caller);
                }
            }
            callers.sort(Comparator.comparingInt(caller -> caller.began));
        }

        private void begins(Caller caller) {
            caller.began = caller.began == Integer.MAX_VALUE ? begun++ : caller.began;
        }

        private void ask(Caller caller) {
            MemoryHolder before = caller.call.enter();
            try {
                int[] granted = {0};
                Cancellation waiting =
                        set.reserve(request(caller, UNIT * (1 + random.nextInt(units))), (reservation, failure) -> {
                            if (reservation == null) {
                                failed.add(caller.number);
                            } else {
                                granted[0]++;
                                grants++;
                                caller.granted++;
                                caller.held.add(reservation);
                            }
                        });
                begins(caller);
                if (granted[0] == 0) {
                    caller.waiting.add(waiting);
                } else {
                    caller.granted = 0;
                }
            } catch (IreeException e) {
                assertThat(e).hasMessageContaining("can never fit");
            } finally {
                caller.call.leave(before);
            }
        }

        @Nullable
        Caller caller(int number) {
            return callers.stream()
                    .filter(each -> each.number == number)
                    .findFirst()
                    .orElse(null);
        }
    }

    /** Whether a call gets memory when certain others end and nobody competes for the released memory. */
    private boolean isGrantedAfter(long seed, int number, Collection<Integer> ending) {
        Deadlocked again = new Deadlocked(seed);
        for (Caller each : again.callers) {
            if (each.number != number) {
                each.waiting.forEach(Cancellation::cancel);
            }
        }
        again.callers.stream().filter(each -> ending.contains(each.number)).forEach(Caller::end);
        Caller caller = again.caller(number);
        assertThat(caller).isNotNull();
        boolean granted = caller.granted > 0;
        again.set.close();
        return granted;
    }

    @Test
    void theOldestHelpableCallIsHelpedAndNobodyFailsInVain() {
        for (long seed = SEED; seed < SEED + ROUNDS; seed++) {
            resolve(seed);
        }
        System.out.printf(
                "%d deadlocks, %d with several victims, %d that nobody's end helps%n", deadlocks, several, helpless);
        if (ROUNDS >= 100) {
            assertThat(List.of(deadlocks, several, helpless)).allMatch(count -> count > ROUNDS / 50);
        }
    }

    /** With this seed an earlier request would take back the slab of the helped request, and not keep its own. */
    @Test
    void aRequestThatMayNotKeepASlabAcquiresNone() {
        resolve(11_341);
        assertThat(deadlocks).isEqualTo(1);
    }

    /**
     * While something moves now and then, a request is lost after a second without hope. The call that holds the rest
     * may have begun to wait at any time before.
     */
    @Test
    void aRequestWithALongWaitBesideMovementIsHelpedByCallsWithShorterWaits() {
        long step = DeadlockDetector.CONFIRM_NANOS / 3;
        long end = DeadlockDetector.END_NANOS + 3 * DeadlockDetector.CONFIRM_NANOS;
        for (long begins = 0; begins < end - DeadlockDetector.CONFIRM_NANOS; begins += step) {
            PoolSet set = builder(4 * HALF)
                    .pool(PoolOptions.passThrough("p"))
                    .waste(0)
                    .delayed(this::after)
                    .build();
            MemoryHolder a = holding(set, "a");
            MemoryHolder b = holding(set, "b");
            MemoryHolder c = holding(set, "c");
            wants(set, a, "more for a", 3 * HALF);
            wants(set, b, "more for b", 3 * HALF);
            Cancellation earlier = wants(set, c, "more for c", 3 * HALF);
            long begun = 0;
            for (long time = 0; time < end && failed.isEmpty(); time += step) {
                set.idle();
                pass(step);
                if (time == begins && failed.isEmpty()) {
                    earlier.cancel();
                    release("c");
                    wants(set, holding(set, "d"), "more for d", 3 * HALF);
                    begun = clock.get();
                }
            }
            assertThat(failed)
                    .as("begins after %d", begins)
                    .doesNotContainKey("more for a")
                    .hasSize(2);
            assertThat(clock.get() - begun).as("looked at once").isGreaterThan(DeadlockDetector.CONFIRM_NANOS);
            set.close();
            got.clear();
            failed.clear();
        }
    }

    @Test
    void aCallWithinTheHostsHelpDoesNotFailForACallBeyondItsOwn() {
        long given = 5 * DeadlockDetector.CONFIRM_NANOS;
        PoolSet set = builder(5 * HALF)
                .pool(PoolOptions.passThrough("p"))
                .waste(0)
                .delayed(this::after)
                .hostPatience(given)
                .build();
        holding(set, "result").end();
        MemoryHolder a = holding(set, "a");
        MemoryHolder b = holding(set, "b");
        wants(set, b, "b too", HALF);
        wants(set, a, "more for a", 3 * HALF);
        wants(set, b, "more for b", 2 * HALF);
        pass(given);
        assertThat(failed).isEmpty();
        pass(2 * DeadlockDetector.CONFIRM_NANOS);
        assertThat(failed).containsOnlyKeys("more for b");
    }

    private Cancellation wants(PoolSet set, MemoryHolder call, String name, long size) {
        MemoryHolder before = call.enter();
        Cancellation waiting = ask(set, name, size);
        call.leave(before);
        return waiting;
    }

    private void resolve(long seed) {
        Deadlocked deadlock = new Deadlocked(seed);
        if (deadlock.callers.stream().anyMatch(each -> each.granted > 0) || deadlock.callers.size() < 2) {
            return; // a call went on when another ended
        }
        for (int look = 0; look < 3 && deadlock.failed.isEmpty(); look++) {
            pass(DeadlockDetector.CONFIRM_NANOS);
        }
        TreeSet<Integer> failed = new TreeSet<>(deadlock.failed);
        assertThat(failed).as("seed %d", seed).isNotEmpty();
        deadlocks++;
        several += failed.size() > 1 ? 1 : 0;
        Integer helped = null;
        for (Caller each : deadlock.callers) { // the oldest first
            List<Integer> others = deadlock.callers.stream()
                    .map(other -> other.number)
                    .filter(other -> other != each.number)
                    .toList();
            if (helped == null && isGrantedAfter(seed, each.number, others)) {
                helped = each.number;
            }
        }
        if (helped == null) {
            helpless++;
            assertThat(failed).as("seed %d", seed).containsExactly(deadlock.callers.getFirst().number);
            return;
        }
        assertThat(failed).as("seed %d", seed).doesNotContain(helped);
        for (Integer each : failed) {
            TreeSet<Integer> others = new TreeSet<>(failed);
            others.remove(each);
            assertThat(isGrantedAfter(seed, helped, others))
                    .as("seed %d: call %d failed in vain for %d, as did %s", seed, each, helped, others)
                    .isFalse();
        }
        List<Integer> ages = deadlock.callers.stream().map(each -> each.number).toList();
        int eldest = failed.stream().mapToInt(ages::indexOf).min().orElseThrow();
        assertThat(isGrantedAfter(seed, helped, ages.subList(eldest + 1, ages.size())))
                .as("seed %d: call %d failed for %d, though younger calls would do", seed, ages.get(eldest), helped)
                .isFalse();
        int grants = deadlock.grants;
        int acquired = deadlock.provider.asked;
        deadlock.callers.stream().filter(each -> failed.contains(each.number)).forEach(Caller::end);
        Caller caller = deadlock.caller(helped);
        assertThat(caller).isNotNull();
        // grants for which a quota has room beside the claim go on; such calls go on, and end
        for (Caller each : deadlock.callers) {
            if (each != caller && each.granted > 0 && caller.consumer.equals("limited")) {
                each.end();
            }
        }
        assertThat(caller.granted)
                .as("seed %d: %d after %s", seed, helped, failed)
                .isPositive();
        assertThat(deadlock.provider.asked - acquired)
                .as("seed %d: slabs for %d grants", seed, deadlock.grants - grants)
                .isLessThanOrEqualTo(2 * (deadlock.grants - grants));
        deadlock.set.close();
    }
}
