package io.github.iree4j.hal.pool;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.frontier.Frontier;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The claim of a request overtaken often enough, and the limits of the claim. The test advances the clock. */
class TurnsTest extends DeadlockLine {
    private static final long UNIT = 4096;
    private static final long LITTLE = 64;

    private PoolSet set = units();

    @BeforeEach
    void somethingIsUnderWay() {
        busy = true;
    }

    /** Ten units, each piece apart. */
    private PoolSet units() {
        return builder(10 * UNIT + LITTLE)
                .pool(PoolOptions.passThrough("p"))
                .waste(0)
                .quota("limited", 4 * UNIT)
                .delayed(this::after)
                .build();
    }

    @BeforeEach
    void aConsumerHasMemory() {
        hold("busy", LITTLE);
    }

    /** A request allowed past the line unless there is a claim: of a consumer with memory. */
    private @Nullable Reservation reserve(long size) {
        return set.tryReserve(ReservationRequest.of(size).withConsumer("busy"));
    }

    /** Overtakes the first in line a number of times. */
    private void overtake(int times) {
        for (int i = 0; i < times; i++) {
            Reservation small = reserve(LITTLE);
            assertThat(small).as("number %d", i).isNotNull();
            small.release(Frontier.EMPTY);
        }
    }

    private void overtake() {
        overtake(Turns.OVERTAKINGS);
    }

    private MemoryHolder call(String name, long size) {
        MemoryHolder call = new MemoryHolder(name, new OperationsUnderWay());
        askFor(call, name, size);
        return call;
    }

    private void askFor(MemoryHolder call, String name, long size) {
        MemoryHolder before = call.enter();
        ReservationRequest request = ReservationRequest.of(size).withConsumer("busy");
        set.reserve(request, (reservation, failure) -> got.put(name, Objects.requireNonNull(reservation)));
        call.leave(before);
    }

    /** A request without a call, with an unannounced release. */
    private void hold(String name, long size) {
        got.put(
                name,
                Objects.requireNonNull(
                        set.tryReserve(ReservationRequest.of(size).withConsumer(name))));
    }

    @Test
    void aRequestOvertakenOftenEnoughIsNotOvertakenUntilGranted() {
        hold("holder", 4 * UNIT);
        ask(set, "all", 10 * UNIT);
        overtake();
        assertThat(reserve(UNIT)).isNull();
        release("holder");
        assertThat(got).containsOnlyKeys("busy", "all");
        release("all");
        assertThat(reserve(UNIT)).isNotNull();
    }

    /** Two units of a kind of memory, and eight of another. */
    private PoolSet kinds(long budget) {
        PoolOptions pieces = PoolOptions.passThrough("p");
        return builder(budget)
                .pool(pieces.withMemory(1, 0).withBudget(2 * UNIT))
                .pool(PoolOptions.passThrough("other").withMemory(2, 0).withBudget(8 * UNIT))
                .waste(0)
                .delayed(this::after)
                .build();
    }

    private @Nullable Reservation reserve(int kind, long size) {
        return set.tryReserve(ReservationRequest.of(size).withConsumer("busy").withMemory(kind, 0));
    }

    private void waitForAllOfAKind() {
        assertThat(reserve(1, LITTLE)).isNotNull();
        overtakeOfAKind();
        assertThat(reserve(1, LITTLE)).as("it has a claim").isNull();
    }

    private void overtakeOfAKind() {
        set.reserve(ReservationRequest.of(2 * UNIT).withMemory(1, 0), (_, _) -> {});
        for (int i = 0; i < Turns.OVERTAKINGS; i++) {
            Objects.requireNonNull(reserve(1, LITTLE)).release(Frontier.EMPTY);
        }
    }

    @Test
    void aRequestForAnotherKindOfMemoryIsNotHeldBackWhileThereIsRoomForBoth() {
        set = kinds(10 * UNIT);
        waitForAllOfAKind();
        assertThat(reserve(2, 4 * UNIT)).isNotNull();
        assertThat(reserve(2, 3 * UNIT)).isNotNull();
        assertThat(reserve(2, UNIT)).as("beside the two units waited for").isNull();
    }

    @Test
    void theSlabOfARequestIsNoReasonToGrowForALongerRequestThatMayNotKeepItsOwn() {
        set = kinds(10 * UNIT);
        assertThat(reserve(2, 4 * UNIT)).isNotNull();
        Reservation blocker = Objects.requireNonNull(reserve(2, 4 * UNIT));
        assertThat(reserve(1, LITTLE)).isNotNull();
        overtakeOfAKind();
        set.reserve(ReservationRequest.of(4 * UNIT).withMemory(2, 0), (_, _) -> order.add("longer"));
        set.reserve(ReservationRequest.of(2 * UNIT).withMemory(2, 0), (_, _) -> order.add("shorter"));
        assertThat(order).isEmpty();
        int asked = slabs.asked;
        blocker.release(Frontier.EMPTY);
        assertThat(order).containsExactly("shorter");
        assertThat(slabs.asked - asked).isEqualTo(1);
    }

    @Test
    void aRequestForAnotherKindOfMemoryOvertakesNobodyWhileThereIsRoomForBoth() {
        set = kinds(100 * UNIT);
        assertThat(reserve(1, LITTLE)).isNotNull();
        set.reserve(ReservationRequest.of(2 * UNIT).withMemory(1, 0), (_, _) -> {});
        for (int i = 0; i < 2 * Turns.OVERTAKINGS; i++) {
            Objects.requireNonNull(reserve(2, LITTLE)).release(Frontier.EMPTY);
        }
        assertThat(reserve(1, LITTLE)).as("it has no claim").isNotNull();
    }

    @Test
    void aWithdrawnRequestHoldsNobodyBack() {
        hold("holder", 4 * UNIT);
        var all = ask(set, "all", 10 * UNIT);
        overtake();
        assertThat(reserve(UNIT)).isNull();
        assertThat(all.cancel()).isTrue();
        assertThat(reserve(UNIT)).isNotNull();
    }

    @Test
    void requestsFittingBesideAClaimAreGrantedAsLongAsTheyFit() {
        hold("holder", 6 * UNIT);
        ask(set, "first", 7 * UNIT);
        overtake();
        Reservation one = reserve(2 * UNIT);
        assertThat(one).isNotNull();
        assertThat(reserve(2 * UNIT)).as("seven, two and two are more than ten").isNull();
        assertThat(reserve(UNIT)).isNotNull();
        one.release(Frontier.EMPTY);
        assertThat(reserve(3 * UNIT)).isNull();
        assertThat(reserve(2 * UNIT)).as("again").isNotNull();
        release("holder");
        assertThat(got).containsKey("first");
    }

    @Test
    void uploadsGiveWayLikewise() {
        hold("holder", 6 * UNIT);
        ask(set, "first", 7 * UNIT);
        overtake();
        assertThat(set.tryReserve(ReservationRequest.of(3 * UNIT).asPersistent()))
                .isNotNull();
        assertThat(set.tryReserve(ReservationRequest.of(UNIT).asPersistent())).isNull();
        release("holder");
        assertThat(got).containsKey("first");
    }

    @Test
    void aRequestWaitingForMemoryKeptByTheHostHoldsNobodyBack() {
        Reservation kept = set.tryReserve(ReservationRequest.of(4 * UNIT).asPersistent());
        ask(set, "first", 7 * UNIT);
        overtake();
        overtake();
        assertThat(kept).isNotNull();
        kept.release(Frontier.EMPTY);
        assertThat(got).containsKey("first");
    }

    @Test
    void theClaimBelongsToTheFirstNotKeptWaitingByTheHost() {
        Reservation kept = set.tryReserve(ReservationRequest.of(2 * UNIT).asPersistent());
        hold("holder", 2 * UNIT);
        ask(set, "first", 9 * UNIT);
        ask(set, "second", 8 * UNIT);
        overtake();
        assertThat(reserve(UNIT)).isNull();
        release("holder");
        assertThat(got).containsOnlyKeys("busy", "second");
        assertThat(kept).isNotNull();
    }

    @Test
    void aCallHoldingMemoryNeededByTheFirstGoesOnAndAPatientCallDoesNot() {
        MemoryHolder large = call("large", 4 * UNIT);
        MemoryHolder small = call("small", UNIT);
        ask(set, "first", 8 * UNIT);
        overtake();
        askFor(small, "more for small", 3 * UNIT);
        assertThat(got).as("eight beside one are within ten").doesNotContainKey("more for small");
        askFor(large, "more for large", 3 * UNIT);
        assertThat(got).as("eight beside four are not").containsKey("more for large");
        release("large");
        release("more for large");
        assertThat(got).containsKey("first");
    }

    @Test
    void aCallGoingOnDoesNotDoSoForEver() {
        MemoryHolder large = call("large", 4 * UNIT);
        ask(set, "first", 8 * UNIT);
        overtake();
        int number = 0;
        for (; number <= Claim.EXCEPTIONS; number++) {
            askFor(large, "more", 3 * UNIT);
            if (!got.containsKey("more")) {
                break;
            }
            release("more");
        }
        assertThat(number).isEqualTo(Claim.EXCEPTIONS);
    }

    @Test
    void aLaterCallGetsNothing() {
        hold("holder", 4 * UNIT);
        ask(set, "first", 8 * UNIT);
        overtake();
        MemoryHolder call = call("later", 2 * UNIT);
        assertThat(got).containsKey("later"); // beside the claim
        askFor(call, "more for later", 2 * UNIT);
        assertThat(got).doesNotContainKey("more for later");
        release("holder");
        assertThat(got).containsKey("first");
    }

    @Test
    void whenNothingMovesWhoeverFitsIsServed() {
        hold("holder", 4 * UNIT);
        ask(set, "first", 10 * UNIT + LITTLE);
        overtake();
        ask(set, "small", LITTLE);
        for (int i = 0; i < 3; i++) {
            pass(DeadlockDetector.CONFIRM_NANOS);
            set.lookAtLine();
        }
        assertThat(got).as("something is under way").doesNotContainKey("small");
        busy = false;
        set.idle();
        assertThat(got).as("between two operations").doesNotContainKey("small");
        pass(DeadlockDetector.CONFIRM_NANOS);
        set.idle(); // something was under way in between
        pass(DeadlockDetector.CONFIRM_NANOS);
        set.lookAtLine();
        set.lookAtLine(); // the first could acquire memory
        assertThat(got).as("the last has just ended").doesNotContainKey("small");
        pass(2 * DeadlockDetector.CONFIRM_NANOS);
        assertThat(got).containsKey("small");
        release("small");
        assertThat(reserve(UNIT)).as("the claim goes on").isNull();
    }

    @Test
    void aClaimEndsByItselfDespiteALookDueBeforeItsBegin() {
        busy = false;
        hold("holder", 4 * UNIT);
        ask(set, "first", 10 * UNIT + LITTLE);
        overtake();
        busy = true;
        ask(set, "small", LITTLE);
        pass(Turns.CLAIM_NANOS - 1);
        assertThat(got).doesNotContainKey("small");
        pass(1);
        assertThat(got).containsKey("small");
    }

    @Test
    void aClaimEndsByItselfAndLastsLongerTheNextTime() {
        hold("holder", 4 * UNIT);
        ask(set, "first", 10 * UNIT);
        overtake();
        ask(set, "small", UNIT);
        pass(Turns.CLAIM_NANOS - 1);
        assertThat(got).doesNotContainKey("small");
        pass(1);
        assertThat(got).containsKey("small");
        release("small");
        overtake(Turns.OVERTAKINGS - 1);
        ask(set, "another", UNIT);
        pass(2 * Turns.CLAIM_NANOS - 1);
        assertThat(got).doesNotContainKey("another");
        pass(1);
        assertThat(got).containsKey("another");
    }

    @Test
    void anOlderRequestGoesAheadOfAClaimOnceItsQuotaAllows() {
        hold("limited", 2 * UNIT);
        hold("holder", 4 * UNIT);
        ask(set, "limited", 4 * UNIT);
        ask(set, "second", 8 * UNIT);
        overtake();
        assertThat(reserve(3 * UNIT)).isNull();
        release("limited");
        assertThat(got.get("limited").size()).isEqualTo(4 * UNIT);
    }

    @Test
    void anotherRequestOfTheClaimingCallGoesAhead() {
        hold("holder", 4 * UNIT);
        MemoryHolder call = call("call", 2 * UNIT);
        askFor(call, "first", 7 * UNIT);
        overtake();
        assertThat(reserve(3 * UNIT)).isNull();
        askFor(call, "second", 3 * UNIT);
        assertThat(got).containsKey("second").doesNotContainKey("first");
    }

    @Test
    void aRequestTurningToWaitForItsQuotaHoldsNobodyBackAndIsOvertakenAnew() {
        hold("holder", 7 * UNIT);
        ask(set, "limited", 4 * UNIT);
        overtake();
        hold("limited", 2 * UNIT); // beside the claim
        release("holder");
        Reservation large = reserve(7 * UNIT);
        assertThat(large).isNotNull();
        release("limited");
        assertThat(got).doesNotContainKey("limited");
        assertThat(reserve(2 * UNIT)).isNotNull();
        large.release(Frontier.EMPTY);
        assertThat(got.get("limited").size()).isEqualTo(4 * UNIT);
    }

    @Test
    void aClaimOnAQuotaHoldsBackItsConsumerOnly() {
        hold("limited", 2 * UNIT);
        ask(set, "limited", 4 * UNIT);
        ReservationRequest small = ReservationRequest.of(LITTLE).withConsumer("limited");
        for (int i = 0; i < Turns.OVERTAKINGS; i++) {
            Objects.requireNonNull(set.tryReserve(small)).release(Frontier.EMPTY);
        }
        assertThat(set.tryReserve(small)).isNull();
        assertThat(reserve(UNIT)).isNotNull();
        release("limited");
        assertThat(got.get("limited").size()).isEqualTo(4 * UNIT);
    }

    /** A call with inputs granted one after the other, for constant movement. */
    @Test
    void fittingCallsDoNotFailForALargerRequestHoldingThemBack() {
        busy = false;
        hold("holder", UNIT);
        ask(set, "all", 10 * UNIT + LITTLE);
        overtake();
        List<MemoryHolder> calls = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            MemoryHolder call = new MemoryHolder("call " + i, new OperationsUnderWay());
            call.admitted(Objects.requireNonNull(set.gate().tryAdmit("", new KnownNeed(UNIT, LITTLE))));
            addInput(call);
            calls.add(call);
        }
        release("holder");
        release("busy"); // with a user outside of calls, so nobody would fail
        for (int i = 0; i < 4; i++) {
            MemoryHolder before = calls.get(i).enter();
            ask(set, "result " + i, LITTLE);
            calls.get(i).leave(before);
        }
        for (int i = 0; i < 8; i++) {
            addInput(calls.getFirst());
            pass(DeadlockDetector.CONFIRM_NANOS / 2);
        }
        assertThat(failed).isEmpty();
        assertThat(got).containsOnlyKeys("result 0", "result 1", "result 2", "result 3");
    }

    private void addInput(MemoryHolder call) {
        assertThat(call.request(
                        set.gate(),
                        "",
                        true,
                        () -> set.reserveNow(ReservationRequest.of(LITTLE).asPersistent())))
                .isTrue();
    }
}
