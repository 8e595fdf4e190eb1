package io.github.iree4j.spring.serving;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.iree4j.spring.RetryLater;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.PriorityQueue;
import java.util.Random;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class RequestLineTests {

    private static final long MILLI = 1_000_000;
    private static final Duration PATIENCE = Duration.ofMillis(100);

    private long now;
    private int refused;
    private final PriorityQueue<Timer> timers = new PriorityQueue<>(Comparator.comparingLong(Timer::at));
    private final RequestLine line = line(2, PATIENCE);

    private record Timer(long at, Runnable action) {}

    private RequestLine line(int places, Duration patience) {
        return new RequestLine(
                places,
                patience,
                () -> refused++,
                () -> now,
                (nanos, action) -> timers.add(new Timer(now + nanos, action)));
    }

    private void advance(long nanos) {
        long end = now + nanos;
        for (Timer next = timers.peek(); next != null && next.at <= end; next = timers.peek()) {
            timers.remove();
            now = next.at;
            next.action.run();
        }
        now = end;
    }

    private static @Nullable IreeException failure(RequestLine.Turn turn) {
        try {
            turn.requirePlace();
            return null;
        } catch (IreeException e) {
            return e;
        }
    }

    @Test
    void asManyAsThereArePlacesAreComputedAndOthersFollowInOrderOfArrival() {
        List<RequestLine.Turn> turns = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            turns.add(line.join(null));
        }
        assertThat(turns).extracting(RequestLine.Turn::isDecided).containsExactly(true, true, false, false, false);
        turns.get(1).leave();
        turns.get(1).leave();
        assertThat(turns).extracting(RequestLine.Turn::isDecided).containsExactly(true, true, true, false, false);
        turns.get(0).leave();
        assertThat(turns.get(3).isDecided()).isTrue();
        assertThat(line.computed()).isEqualTo(2);
        assertThat(line.waiting()).isEqualTo(1);
        turns.get(4).leave();
        turns.get(3).leave();
        turns.get(2).leave();
        assertThat(line.computed()).isZero();
        assertThat(line.waiting()).isZero();
    }

    @Test
    void withoutKnowledgeAWaiterWaitsUntilItsTimeIsOver() {
        line.join(null);
        line.join(null);
        RequestLine.Turn third = line.join(null);
        AtomicBoolean told = new AtomicBoolean();
        third.whenDecided(() -> told.set(true));
        advance(PATIENCE.toNanos() - 1);
        assertThat(told).isFalse();
        advance(1);
        assertThat(told).isTrue();
        IreeException refusal = Objects.requireNonNull(failure(third));
        assertThat(refusal.code()).isEqualTo(StatusCode.RESOURCE_EXHAUSTED);
        assertThat(refusal)
                .hasMessageContaining("2 requests are computed and 0 wait")
                .hasMessageContaining("has waited for 100 ms")
                .hasMessageContaining("iree.serving.max-wait");
        assertThat(line.waiting()).isZero();
        assertThat(refused).isEqualTo(1);
    }

    @Test
    void aRequestWithATooLongWaitIsRefusedAtOnceWithTheTimeOfOthers() {
        learnThatAPlaceBecomesFreeEvery(20 * MILLI);
        line.join(null);
        line.join(null);
        for (int i = 0; i < 5; i++) { // waits of 20, 40, .. 100 ms
            line.checkRoom();
            line.join(null);
        }
        assertThatThrownBy(line::checkRoom).hasMessageContaining("a further one would wait for about 120 ms");
        assertThatThrownBy(() -> line.join(null)).isInstanceOfSatisfying(IreeException.class, e -> {
            assertThat(e.code()).isEqualTo(StatusCode.RESOURCE_EXHAUSTED);
            assertThat(e.detail(RetryLater.class).orElseThrow().after())
                    .isBetween(Duration.ofMillis(119), Duration.ofMillis(121));
            assertThat(e.detail(RetryLater.class).orElseThrow().seconds()).isEqualTo(1);
        });
    }

    @Test
    void waitsMayBeLongerThanNanosecondsCanSay() {
        Duration centuries = Duration.ofDays(300 * 365);
        RequestLine patient = line(1, centuries);
        RequestLine.Turn first = patient.join(centuries);
        RequestLine.Turn second = patient.join(centuries);
        patient.checkRoom();
        first.leave();
        assertThat(failure(second)).isNull();
    }

    @Test
    void aRequestWithAShorterOwnTimeIsLateAfterwards() {
        line.join(null);
        line.join(null);
        RequestLine.Turn hasty = line.join(Duration.ofMillis(10));
        RequestLine.Turn other = line.join(Duration.ofHours(1));
        advance(10 * MILLI);
        assertThat(Objects.requireNonNull(failure(hasty)).code()).isEqualTo(StatusCode.DEADLINE_EXCEEDED);
        assertThat(other.isDecided()).isFalse();
        advance(90 * MILLI);
        assertThat(Objects.requireNonNull(failure(other)).code()).isEqualTo(StatusCode.RESOURCE_EXHAUSTED);
    }

    /** Times with another order of ends than of arrivals, beside free places, against a searched line. */
    @Test
    void everyWaiterIsRefusedAtTheEndOfItsTimeWhateverBecomesOfOthers() {
        long seed = 20261126;
        Random random = new Random(seed);
        for (int i = 0; i < 300; i++) {
            int round = i;
            List<RequestLine.Turn> computed = new ArrayList<>(List.of(line.join(null), line.join(null)));
            Map<RequestLine.Turn, Long> waiting = new LinkedHashMap<>();
            for (int step = 0; step < 40; step++) {
                if (random.nextInt(3) > 0) {
                    long limit = 1 + random.nextInt(150);
                    try {
                        waiting.put(line.join(Duration.ofMillis(limit)), now + Math.min(limit, 100) * MILLI);
                    } catch (IreeException e) {
                        assertThat(e.code()).isEqualTo(StatusCode.RESOURCE_EXHAUSTED);
                    }
                } else if (!waiting.isEmpty() && random.nextInt(4) == 0) {
                    RequestLine.Turn gone = waiting.keySet().iterator().next();
                    assertThat(gone.leaveLine()).isTrue();
                    waiting.remove(gone);
                } else if (random.nextInt(4) == 0) {
                    computed.removeFirst().leave();
                    Iterator<RequestLine.Turn> first = waiting.keySet().iterator();
                    RequestLine.Turn next = first.hasNext() ? first.next() : line.join(null);
                    assertThat(failure(next))
                            .as("seed %d, round %d", seed, round)
                            .isNull();
                    waiting.remove(next);
                    computed.add(next);
                }
                advance(random.nextInt(20) * MILLI);
                waiting.entrySet().removeIf(each -> {
                    boolean isLate = each.getValue() <= now;
                    assertThat(each.getKey().isDecided())
                            .as("seed %d, round %d", seed, round)
                            .isEqualTo(isLate);
                    return isLate;
                });
            }
            waiting.keySet().forEach(RequestLine.Turn::leave);
            computed.forEach(RequestLine.Turn::leave);
        }
        advance(PATIENCE.toNanos());
        assertThat(timers).as("alarms without anyone in line").isEmpty();
    }

    @Test
    void aSingleAlarmIsForAllWaiters() {
        line.join(null);
        line.join(null);
        for (int i = 0; i < 1_000; i++) {
            line.join(null);
        }
        assertThat(timers).hasSize(1);
    }

    @Test
    void aLeaverOfTheLineIsNotCalled() {
        line.join(null);
        RequestLine.Turn second = line.join(null);
        RequestLine.Turn third = line.join(null);
        RequestLine.Turn fourth = line.join(null);
        AtomicBoolean told = new AtomicBoolean();
        third.whenDecided(() -> told.set(true));
        assertThat(third.leaveLine()).isTrue();
        assertThat(third.leaveLine()).isFalse();
        second.leave();
        advance(PATIENCE.toNanos());
        assertThat(told).isFalse();
        assertThat(failure(fourth)).isNull();
        assertThat(fourth.leaveLine()).isFalse();
    }

    @Test
    void withoutPatienceNobodyWaits() {
        RequestLine without = line(1, Duration.ZERO);
        RequestLine.Turn first = without.join(null);
        assertThatThrownBy(() -> without.join(null)).hasMessageContaining("none may wait");
        first.leave();
        without.join(null).leave();
    }

    @Test
    void hungRequestsAreNotTakenForFastRequests() {
        for (int i = 0; i < 100; i++) { // fast until now
            RequestLine.Turn turn = line.join(null);
            advance(MILLI);
            turn.leave();
        }
        line.join(null);
        line.join(null);
        int waiting = 0;
        advance(PATIENCE.toNanos() * 20);
        while (waiting < 1_000) {
            try {
                line.join(null);
            } catch (IreeException e) {
                break;
            }
            waiting++;
        }
        assertThat(waiting).isLessThan(3);
    }

    /** A client that obeys the hint would otherwise ask again and again while the requests hang. */
    @Test
    void whileRequestsHangNobodyWaitsInVainAndTheHintGrowsWithTheHang() {
        learnThatAPlaceBecomesFreeEvery(MILLI);
        line.join(null);
        line.join(null);
        long taken = now;
        advance(PATIENCE.toNanos());
        RequestLine.Turn hopeful = line.join(null);
        assertThat(hopeful.leaveLine()).isTrue();
        for (int times : new int[] {2, 5, 9}) {
            advance(taken + times * PATIENCE.toNanos() - now);
            assertThat(hint()).isEqualTo(PATIENCE.multipliedBy(times));
        }
        advance(100 * PATIENCE.toNanos());
        assertThat(hint()).as("at most").isEqualTo(PATIENCE.multipliedBy(10));
    }

    private Duration hint() {
        try {
            line.join(null);
            throw new AssertionError("a request waits");
        } catch (IreeException e) {
            return e.detail(RetryLater.class).orElseThrow().after();
        }
    }

    @Test
    void aRequestWithAWaitLongerThanItsOwnTimeoutLearnsSo() {
        learnThatAPlaceBecomesFreeEvery(20 * MILLI);
        line.join(null);
        line.join(null);
        line.checkRoom();
        assertThatThrownBy(() -> line.join(Duration.ofMillis(1)))
                .hasMessageContaining("would wait for about 20")
                .hasMessageContaining(
                        "longer than the 1000 us until its deadline; try again in 1 s, or with a longer timeout")
                .hasMessageNotContaining("iree.serving");
        assertThat(refused).isEqualTo(1);
    }

    @Test
    void aBurstMayWaitForPatienceAndALongerLineAtAStandstillOnlyForAQuarter() {
        learnThatAPlaceBecomesFreeEvery(11 * MILLI);
        ArrayDeque<RequestLine.Turn> computed = new ArrayDeque<>(List.of(line.join(null), line.join(null)));
        ArrayDeque<RequestLine.Turn> waiting = new ArrayDeque<>();
        fill(waiting);
        assertThat(waiting).as("11 ms for each, within 100").hasSize(9);
        for (long end = now + PATIENCE.toNanos(); now <= end; serve(computed, waiting)) {
            assertThat(fill(waiting)).hasMessageContaining("the limit is 100 ms");
        }
        while (waiting.size() > 2) {
            assertThatThrownBy(() -> line.join(null)).hasMessageContaining("the limit is 25 ms");
            assertThatThrownBy(line::checkRoom).hasMessageContaining("the limit is 25 ms");
            serve(computed, waiting);
        }
        serve(computed, waiting);
        fill(waiting);
        assertThat(waiting).as("11 ms for each, within 25").hasSize(2);
        while (!waiting.isEmpty()) {
            serve(computed, waiting);
        }
        fill(waiting);
        assertThat(waiting).as("a burst after the line was empty").hasSizeGreaterThanOrEqualTo(9);
    }

    /** A computed request leaves after 10 ms, and the first waiter has the place. */
    private void serve(ArrayDeque<RequestLine.Turn> computed, ArrayDeque<RequestLine.Turn> waiting) {
        advance(10 * MILLI);
        computed.removeFirst().leave();
        computed.addLast(waiting.removeFirst());
        assertThat(failure(computed.getLast())).isNull();
    }

    private void learnThatAPlaceBecomesFreeEvery(long nanos) {
        for (int i = 0; i < 100; i++) {
            RequestLine.Turn turn = line.join(null);
            advance(2 * nanos);
            turn.leave();
        }
    }

    /** Requests join until a refusal. */
    private IreeException fill(ArrayDeque<RequestLine.Turn> waiting) {
        while (true) {
            try {
                waiting.add(line.join(null));
            } catch (IreeException e) {
                return e;
            }
        }
    }

    /** A server of a fixed rate, and as many clients as a multiple of the rate, at random moments. */
    @ParameterizedTest
    @CsvSource({"1, 0.5", "4, 0.9", "4, 1.5", "4, 4", "16, 4", "100, 10", "100, 1.1"})
    void whateverComesThePlacesAreTakenAndNobodyServedHasWaitedForLongerThanPatience(int places, double load) {
        long seed = 20261125;
        Random random = new Random(seed);
        RequestLine server = line(places, PATIENCE);
        long service = places * MILLI; // a request per millisecond
        PriorityQueue<Long> ends = new PriorityQueue<>();
        ArrayDeque<RequestLine.Turn> computed = new ArrayDeque<>();
        int served = 0;
        int arrived = 0;
        int refusedEarly = 0;
        int refusedLate = 0;
        long longest = 0; // of the second half
        long start = now;
        long span = 20_000 * MILLI;
        long next = now;
        List<RequestLine.Turn> waiting = new ArrayList<>();
        while (now - start < span) {
            long end = ends.isEmpty() ? Long.MAX_VALUE : ends.peek();
            advance(Math.max(0, Math.min(end, next) - now));
            if (now >= end) {
                ends.remove();
                computed.remove().leave();
                served++;
            }
            if (now >= next) {
                next = now + (long) (-Math.log(1 - random.nextDouble()) * MILLI / load);
                arrived++;
                try {
                    waiting.add(server.join(null));
                } catch (IreeException e) {
                    refusedEarly++;
                }
            }
            for (RequestLine.Turn each : List.copyOf(waiting)) {
                if (each.isDecided()) {
                    waiting.remove(each);
                    if (failure(each) == null) {
                        assertThat(each.waited()).isLessThanOrEqualTo(PATIENCE);
                        longest = now - start > span / 2
                                ? Math.max(longest, each.waited().toNanos())
                                : longest;
                        computed.add(each);
                        ends.add(now + (long) (service * (0.5 + random.nextDouble())));
                    } else {
                        refusedLate++;
                    }
                }
            }
        }
        double rate = served / (span / (double) MILLI);
        assertThat(rate).as("requests per ms, of %s; seed %d", load, seed).isGreaterThan(0.95 * Math.min(1, load));
        assertThat(refusedLate).as("refused after a wait").isLessThan(arrived / 50 + 1);
        if (load >= 4) {
            assertThat(longest)
                    .as("wait in a line at a standstill, %d places, load %s", places, load)
                    .isLessThan(PATIENCE.toNanos() / 2);
        }
        if (load < 1) {
            assertThat(refusedEarly)
                    .as("refused behind a line long at a standstill")
                    .isLessThan(arrived / 1_000);
        }
    }
}
