package io.github.iree4j.hal.pool;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.Effort;
import io.github.iree4j.async.FrontierTracker;
import io.github.iree4j.frontier.Axis;
import io.github.iree4j.frontier.CausalDomain;
import io.github.iree4j.frontier.Frontier;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * The number of times that the first request in line is overtaken, on queues that release memory after the last use and
 * on streams, which release memory at the issue of the last use. The clock is virtual; the test keeps separate books of
 * all grants.
 */
@Tag("long")
class OvertakingTest {
    private static final int ROUNDS = Effort.rounds(400, 10_000);
    private static final long SEED = Effort.seed(OvertakingTest.class, ROUNDS + " rounds", 0);
    private static final long UNIT = 64;
    private static final long MILLI = Timetable.MILLI;

    /** The number of times that a request was overtaken for one limit while first in line. */
    private static final class Past {
        long number;
        long bytes;
    }

    /** A limit, and the requests overtaken often enough to be left room within the limit. */
    private static final class Room {
        final boolean ofQuota;

        @Nullable
        Asked claimant;

        long closedAt; // the number of grants at that time

        Room(boolean ofQuota) {
            this.ofQuota = ofQuota;
        }
    }

    /** A request made: the rule's answer for the request is computed from grants alone. */
    private static final class Asked {
        final long number;
        final long size;
        final String consumer;
        final long since;
        long heldSince = -1; // the number of grants before it was granted
        final Past budget = new Past();
        final Past quota = new Past();

        Asked(long number, long size, String consumer, long since) {
            this.number = number;
            this.size = size;
            this.consumer = consumer;
            this.since = since;
        }
    }

    private final FrontierTracker tracker = FrontierTracker.create();
    private final Timetable time = new Timetable();
    private final Map<ReservationRequest, Asked> requests = new IdentityHashMap<>();
    private final List<Asked> waiting = new ArrayList<>();
    private final Map<Long, Asked> live = new HashMap<>(); // by number of the reservation
    private final Room ofBudget = new Room(false);
    private final Room ofQuota = new Room(true);
    private final List<String> wrong = new ArrayList<>();
    private long asked;
    private long grants;
    private long budget;
    private PoolSet set = set(UNIT);

    private PoolSet set(long limit) {
        budget = limit;
        PoolObservation observation = new PoolObservation();
        observation.begin(new Observer());
        return time.builder(tracker)
                .budget(limit)
                .waste(0)
                .observation(observation)
                .quota("limited", limit / 2)
                .pool(FakeSlabs.pieces("units", UNIT).withSizes(0, UNIT))
                .pool(PoolOptions.passThrough("larger"))
                .build();
    }

    /** Follows the pools; checks the rule whenever something is granted. */
    private final class Observer implements PoolObserver {
        @Override
        public long reserved(Reservation reservation, ReservationRequest request) {
            Asked granted = Objects.requireNonNull(requests.remove(request));
            waiting.remove(granted);
            check(granted);
            live.put(granted.heldSince, granted);
            return granted.heldSince;
        }

        @Override
        public void released(Reservation reservation, Frontier death) {
            live.remove(reservation.number());
        }

        @Override
        public void waits(Pool pool, ReservationRequest request) {
            waiting.add(requests.get(request));
        }
    }

    private Asked ask(String consumer, long size, Frontier after, Consumer<Reservation> granted) {
        Asked asking = new Asked(asked++, size, consumer, time.now());
        ReservationRequest request =
                ReservationRequest.of(size).withConsumer(consumer).after(after, NativeTimepoints.NONE);
        requests.put(request, asking);
        set.reserve(request, (reservation, failure) -> {
            if (reservation == null) {
                wrong.add(String.valueOf(failure));
            } else {
                granted.accept(reservation);
            }
        });
        return asking;
    }

    private void check(Asked granted) {
        granted.heldSince = ++grants;
        passed(granted, ofBudget);
        if (granted.consumer.equals("limited")) {
            passed(granted, ofQuota);
        }
    }

    private Stream<Asked> holding(boolean limited) {
        return live.values().stream().filter(each -> !limited || each.consumer.equals("limited"));
    }

    /** Whether a request waits for the budget, or for its quota. */
    private boolean waitsFor(Asked asked, Room room) {
        boolean isLimited = asked.consumer.equals("limited");
        long used = holding(true).mapToLong(each -> each.size).sum();
        return waiting.contains(asked) && (room.ofQuota ? isLimited : !isLimited || used + asked.size <= budget / 2);
    }

    private void passed(Asked granted, Room room) {
        Asked claimant = room.claimant;
        if (claimant != null && !waitsFor(claimant, room)) {
            room.claimant = null;
        }
        long limit = room.ofQuota ? budget / 2 : budget;
        if (room.claimant == null) {
            waiting.stream()
                    .filter(each -> each.number < granted.number && waitsFor(each, room))
                    .findFirst()
                    .ifPresent(first -> overtaken(first, granted, room, limit));
        } else if (claimant.number < granted.number) {
            long beside = holding(room.ofQuota)
                    .filter(each -> each.heldSince > room.closedAt)
                    .mapToLong(each -> each.size)
                    .sum();
            if (claimant.size + beside + granted.size > limit) {
                wrong.add("%d bytes for '%s' beside %d, past %d that have waited for %d ms"
                        .formatted(
                                granted.size,
                                granted.consumer,
                                beside,
                                claimant.size,
                                (time.now() - claimant.since) / MILLI));
            }
        }
    }

    private void overtaken(Asked first, Asked granted, Room room, long limit) {
        Past past = room.ofQuota ? first.quota : first.budget;
        past.number++;
        past.bytes += granted.size;
        if (past.number >= Turns.OVERTAKINGS || past.bytes >= limit) {
            room.claimant = first;
            room.closedAt = grants;
            past.number = 0;
            past.bytes = 0;
        }
    }

    /** Uses memory as a queue without order does: released at the end of the work. */
    private void useAndRelease(Reservation reservation, long nanos, Runnable then) {
        reservation.announceRelease();
        time.work(set, nanos, () -> {
            reservation.release(Frontier.EMPTY);
            then.run();
        });
    }

    /** A stream: issued work runs one after the other, and memory is released at the issue of its last use. */
    private final class Work {
        final String consumer;
        final long axis;
        private long issued;
        private long over;

        Work(String consumer, int number) {
            this.consumer = consumer;
            this.axis = Axis.of(1, 0, CausalDomain.QUEUE, number);
            tracker.register(axis);
        }

        Frontier after() {
            return issued == 0 ? Frontier.EMPTY : Frontier.producedBy(axis, issued);
        }

        void use(Reservation reservation, long nanos, Runnable then) {
            long epoch = ++issued;
            reservation.release(Frontier.producedBy(axis, epoch));
            time.work(set, nanos * (issued - over), () -> {
                over++;
                tracker.advance(axis, epoch);
                then.run();
            });
        }
    }

    /** Invokes for ever: each asks for memory, uses the memory a while, and is followed by another. */
    private void invokeForEver(Work stream, boolean ordered, long size, long nanos) {
        Runnable again = () -> invokeForEver(stream, ordered, size, nanos);
        ask(stream.consumer, size, ordered ? stream.after() : Frontier.EMPTY, reservation -> {
            if (ordered) {
                stream.use(reservation, nanos, again);
            } else {
                useAndRelease(reservation, nanos, again);
            }
        });
    }

    @Test
    void theFirstInLineIsNotOvertakenMoreOftenThanTheRuleSays() {
        for (long seed = SEED; seed < SEED + ROUNDS; seed++) {
            new OvertakingTest().randomLoad(new Random(seed), seed);
        }
    }

    private void randomLoad(Random random, long seed) {
        int units = 8 + random.nextInt(24);
        set = set(units * UNIT);
        int streams = 1 + random.nextInt(4);
        for (int i = 0; i < streams; i++) {
            Work stream = new Work(random.nextInt(4) == 0 ? "limited" : "consumer " + i, i);
            boolean ordered = random.nextBoolean();
            int depth = 1 + random.nextInt(6);
            for (int j = 0; j < depth; j++) {
                long size = UNIT * (1 + random.nextInt(Math.max(1, units / 8)));
                invokeForEver(stream, ordered, size, MILLI + random.nextInt((int) MILLI));
            }
        }
        List<Asked> large = new ArrayList<>();
        for (int i = 0; i < 6; i++) {
            boolean limited = random.nextInt(3) == 0;
            long most = limited ? units / 2 : units;
            long size = UNIT * (most / 2 + random.nextLong(most - most / 2) + 1);
            time.plan(
                    random.nextInt(40) * MILLI,
                    () -> large.add(ask(
                            limited ? "limited" : "large",
                            Math.min(size, most * UNIT),
                            Frontier.EMPTY,
                            reservation -> useAndRelease(reservation, 3 * MILLI, () -> {}))));
        }
        time.run(400 * MILLI);
        assertThat(wrong).as("seed %d", seed).isEmpty();
        assertThat(large).as("seed %d", seed).hasSize(6);
        assertThat(waiting).as("seed %d: %s", seed, set.statistics()).doesNotContainAnyElementsOf(large);
        set.pools().forEach(Pool::verify);
    }

    @Test
    void aStreamOfSmallRequestsLetsTheWholeBudgetThroughAfterAWhile() {
        set = set(16 * UNIT);
        Work stream = new Work("small", 1);
        IntStream.range(0, 8).forEach(_ -> invokeForEver(stream, true, UNIT, MILLI));
        time.run(20 * MILLI);
        long before = grants;
        long[] granted = {-1};
        ask("large", 16 * UNIT, Frontier.EMPTY, reservation -> {
            granted[0] = grants;
            reservation.release(Frontier.EMPTY);
        });
        time.run(100 * MILLI);
        assertThat(granted[0] - before).isBetween(1L, Turns.OVERTAKINGS + 1L);
    }

    @Test
    void consumersAlwaysHoldingSomethingLetTheWholeBudgetThroughAfterAWhile() {
        set = set(16 * UNIT);
        Work queue = new Work("small", 1);
        IntStream.range(0, 8).forEach(i -> time.plan(i * MILLI / 8, () -> invokeForEver(queue, false, UNIT, MILLI)));
        time.run(20 * MILLI);
        long before = grants;
        long[] granted = {-1};
        ask("large", 16 * UNIT, Frontier.EMPTY, reservation -> {
            granted[0] = grants;
            reservation.release(Frontier.EMPTY);
        });
        time.run(100 * MILLI);
        assertThat(granted[0] - before).isBetween(1L, Turns.OVERTAKINGS + 1L);
    }

    @Test
    void aRequestBehindAnotherIsOvertakenAsOftenForEach() {
        set = set(40 * UNIT);
        Work queue = new Work("small", 1);
        IntStream.range(0, 8).forEach(i -> time.plan(i * MILLI / 8, () -> invokeForEver(queue, false, UNIT, MILLI)));
        time.run(20 * MILLI);
        long before = grants;
        long[] granted = {-1, -1};
        ask("large", 38 * UNIT, Frontier.EMPTY, reservation -> {
            granted[0] = grants;
            reservation.release(Frontier.EMPTY);
        });
        ask("larger", 40 * UNIT, Frontier.EMPTY, reservation -> {
            granted[1] = grants;
            reservation.release(Frontier.EMPTY);
        });
        time.run(100 * MILLI);
        long beside = 2; // while the first has its claim, grants beside the claim are not counted
        assertThat(granted[1] - before)
                .as("counted while each request is the first")
                .isBetween(2L * Turns.OVERTAKINGS, 2L * Turns.OVERTAKINGS + beside + 2);
    }

    @Test
    void aQuotaIsKeptForItsFirstRequestLikewise() {
        set = set(32 * UNIT);
        Work queue = new Work("limited", 1);
        IntStream.range(0, 8).forEach(i -> time.plan(i * MILLI / 8, () -> invokeForEver(queue, false, UNIT, MILLI)));
        time.run(20 * MILLI);
        long before = grants;
        long[] granted = {-1};
        ask("limited", 16 * UNIT, Frontier.EMPTY, reservation -> {
            granted[0] = grants;
            reservation.release(Frontier.EMPTY);
        });
        time.run(100 * MILLI);
        assertThat(granted[0] - before).isBetween(1L, Turns.OVERTAKINGS + 1L);
    }
}
