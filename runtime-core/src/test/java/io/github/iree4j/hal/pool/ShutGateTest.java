package io.github.iree4j.hal.pool;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.iree4j.async.Cancellation;
import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.status.IreeException;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * GATE-1: calls that come while released memory of others is kept for a request stay outside, without a chance of
 * memory, and are admitted afterwards. The test advances the clock.
 */
@Timeout(300)
class ShutGateTest extends DeadlockLine {
    private final PoolSet set = builder(4 * HALF)
            .pool(PoolOptions.passThrough("p"))
            .waste(0)
            .quota("q", 3 * HALF)
            .delayed(this::after)
            .build();
    private final AdmissionGate gate = set.gate();
    private final List<String> entered = new ArrayList<>();

    /** The need of a call as far as known, and the most possible need. */
    private record Need(long bytes, long most) implements MemoryEstimate {
        @Override
        public long inputs() {
            return HALF / 4;
        }
    }

    /** The knowledge about a new call. */
    enum Kind {
        KNOWN,
        GUESSED,
        AHEAD;

        Admission join(AdmissionGate gate, List<String> entered) {
            return gate.join("", true, need(), this == AHEAD, _ -> entered.add("new"));
        }

        boolean isAdmittedAtOnce(AdmissionGate gate) {
            return (this == AHEAD ? gate.tryAdmitAhead("", need()) : gate.tryAdmit("", need())) != null;
        }

        private Need need() {
            return new Need(HALF, this == GUESSED ? 5 * HALF : HALF);
        }
    }

    private Cancellation ask(MemoryHolder call, String name, String consumer, long size) {
        return ask(set, call, name, consumer, size);
    }

    private Cancellation ask(PoolSet pools, MemoryHolder call, String name, String consumer, long size) {
        MemoryHolder before = call.enter();
        try {
            return pools.reserve(ReservationRequest.of(size).withConsumer(consumer), (reservation, failure) -> {
                if (reservation != null) {
                    got.put(name, reservation);
                } else {
                    failed.put(name, failure);
                }
            });
        } finally {
            call.leave(before);
        }
    }

    /** Two calls fail for the request of a third and have not ended; they hold the rest. */
    private Cancellation help(String consumer, long size) {
        return help(set, consumer, HALF, size, HALF, 2 * HALF);
    }

    /**
     * Two calls fail for the request of a third and have not ended.
     *
     * @param first the bytes held by the third call
     * @param size the bytes missing in the third call
     * @param others the bytes held by each of the other calls
     * @param more the bytes asked for in vain by each of the other calls
     */
    private Cancellation help(PoolSet pools, String consumer, long first, long size, long others, long more) {
        MemoryHolder a = new MemoryHolder("a", new OperationsUnderWay());
        MemoryHolder b = new MemoryHolder("b", new OperationsUnderWay());
        MemoryHolder c = new MemoryHolder("c", new OperationsUnderWay());
        ask(pools, a, "a", consumer, first);
        ask(pools, b, "b", consumer, others);
        ask(pools, c, "c", consumer, others);
        Cancellation lacking = ask(pools, a, "more for a", consumer, size);
        ask(pools, b, "more for b", consumer, more);
        ask(pools, c, "more for c", consumer, more);
        pass(2 * DeadlockDetector.CONFIRM_NANOS);
        assertThat(failed).containsOnlyKeys("more for b", "more for c");
        return lacking;
    }

    @ParameterizedTest
    @EnumSource
    void noCallIsAdmittedBeforeTheHelpedRequestIsGranted(Kind kind) {
        help("", 3 * HALF);
        assertThat(kind.isAdmittedAtOnce(gate)).isFalse();
        kind.join(gate, entered);
        release("b");
        assertThat(entered).as("this is not enough").isEmpty();
        release("c");
        assertThat(got).containsKey("more for a");
        assertThat(entered).containsExactly("new");
    }

    @ParameterizedTest
    @EnumSource
    void aCallWaitsNoLongerThanMemoryIsKeptForARequest(Kind kind) {
        help("", 3 * HALF);
        kind.join(gate, entered);
        pass(Turns.CLAIM_NANOS - DeadlockDetector.CONFIRM_NANOS);
        assertThat(entered).isEmpty();
        pass(DeadlockDetector.CONFIRM_NANOS);
        assertThat(entered).containsExactly("new");
    }

    @ParameterizedTest
    @EnumSource
    void aCallIsAdmittedOnceTheHelpedRequestIsWithdrawn(Kind kind) {
        Cancellation more = help("", 3 * HALF);
        kind.join(gate, entered);
        assertThat(more.cancel()).isTrue();
        assertThat(entered).containsExactly("new");
    }

    @Test
    void callsOfOtherConsumersAreAdmittedWhileMemoryIsKeptForARequestWaitingForItsQuota() {
        help("q", 2 * HALF);
        assertThat(gate.tryAdmit("q", new Need(HALF, HALF))).isNull();
        Admission other = gate.tryAdmit("", new Need(HALF, HALF));
        Objects.requireNonNull(other).exit();
        gate.join("q", true, new Need(HALF, HALF), false, _ -> entered.add("new"));
        release("b");
        assertThat(entered).as("this is not enough").isEmpty();
        release("c");
        assertThat(got).containsKey("more for a");
        assertThat(entered).containsExactly("new");
    }

    @Test
    void aQuotaIsOpenOnceMemoryIsNoLongerKeptThoughNothingIsReleased() {
        help("q", 2 * HALF);
        gate.join("q", true, new Need(HALF, HALF), false, _ -> entered.add("new"));
        pass(Turns.CLAIM_NANOS);
        assertThat(entered).containsExactly("new");
    }

    /**
     * The call that failed for the request goes on, and fails again: the second claim is longer than a failed call is
     * expected to end in.
     */
    @Test
    void othersHaveTheBudgetWhileMemoryIsKeptAgainForARequestWaitingForItsQuota() {
        PoolSet large = builder(100 * HALF)
                .pool(PoolOptions.passThrough("p"))
                .waste(0)
                .quota("q", 2 * HALF)
                .delayed(this::after)
                .build();
        MemoryHolder a = new MemoryHolder("a", new OperationsUnderWay());
        MemoryHolder b = new MemoryHolder("b", new OperationsUnderWay());
        askAs(large, a, "a", "q");
        askAs(large, b, "b", "q");
        askAs(large, a, "more for a", "q");
        askAs(large, b, "more for b", "q");
        pass(2 * DeadlockDetector.CONFIRM_NANOS);
        assertThat(failed).containsOnlyKeys("more for b");
        askAs(large, b, "again for b", "q");
        pass(Turns.CLAIM_NANOS + 2 * DeadlockDetector.CONFIRM_NANOS);
        assertThat(failed).containsOnlyKeys("more for b", "again for b");
        for (int i = 0; i < 2 * Turns.CLAIM_NANOS / DeadlockDetector.CONFIRM_NANOS; i++) {
            pass(DeadlockDetector.CONFIRM_NANOS);
            Objects.requireNonNull(large.tryReserve(ReservationRequest.of(HALF)))
                    .release(Frontier.EMPTY);
            Objects.requireNonNull(large.gate().tryAdmit("", new Need(HALF, HALF)))
                    .exit();
        }
        assertThat(got).doesNotContainKey("more for a");
        release("b");
        assertThat(got).containsKey("more for a");
    }

    @Test
    void callsOfOthersAreAdmittedWhileTheHelpedRequestWaitsForItsQuotaInstead() {
        PoolSet large = builder(10 * HALF)
                .pool(PoolOptions.passThrough("p"))
                .waste(0)
                .quota("q", 4 * HALF)
                .delayed(this::after)
                .build();
        MemoryHolder a = new MemoryHolder("a", new OperationsUnderWay());
        MemoryHolder b = new MemoryHolder("b", new OperationsUnderWay());
        MemoryHolder c = new MemoryHolder("c", new OperationsUnderWay());
        ask(large, a, "a", "q", HALF);
        ask(large, b, "b", "", 4 * HALF);
        ask(large, c, "c", "", 4 * HALF);
        ask(large, a, "more for a", "q", 3 * HALF);
        ask(large, b, "more for b", "", 4 * HALF);
        ask(large, c, "more for c", "", 4 * HALF);
        pass(3 * DeadlockDetector.CONFIRM_NANOS);
        assertThat(failed).containsOnlyKeys("more for c");
        assertThat(large.gate().tryAdmit("", new Need(HALF, HALF))).isNull();
        ask(large, a, "a too", "q", HALF);
        pass(DeadlockDetector.CONFIRM_NANOS);
        Objects.requireNonNull(large.gate().tryAdmit("", new Need(HALF, HALF))).exit();
        release("a too");
        pass(DeadlockDetector.CONFIRM_NANOS);
        assertThat(large.gate().tryAdmit("", new Need(HALF, HALF))).as("again").isNull();
        release("c");
        assertThat(got).containsKey("more for a");
        assertThat(large.gate().tryAdmit("", new Need(HALF, HALF))).isNotNull();
    }

    @Test
    void callsAreAdmittedBesideAnOftenOvertakenRequestWithoutAVictim() {
        busy = true;
        MemoryHolder a = new MemoryHolder("a", new OperationsUnderWay());
        ask(a, "a", "", 2 * HALF);
        ask(new MemoryHolder("b", new OperationsUnderWay()), "b", "", 3 * HALF);
        for (int i = 0; i < Turns.OVERTAKINGS; i++) {
            Objects.requireNonNull(set.tryReserve(ReservationRequest.of(HALF))).release(Frontier.EMPTY);
        }
        assertThat(set.tryReserve(ReservationRequest.of(2 * HALF)))
                .as("not overtaken any more")
                .isNull();
        for (int i = 0; i < Claim.EXCEPTIONS; i += 2) {
            Admission admission = Objects.requireNonNull(gate.tryAdmit("", new Need(2 * HALF, 2 * HALF)));
            MemoryHolder call = admitted(admission);
            List.of(inputs(set, call, HALF), inputs(set, call, HALF)).forEach(each -> each.release(Frontier.EMPTY));
            admission.exit();
        }
        assertThat(gate.tryAdmit("", new Need(HALF, HALF))).as("inputs neither").isNull();
        release("a");
        assertThat(got).containsKey("b");
    }

    /** The gate is not shut when the call comes. */
    @Test
    void aCallAdmittedBeforeOthersFailHasItsInputsAndNoMore() {
        MemoryHolder early = admitted(gate.tryAdmit("", new Need(HALF, HALF)));
        help("", 3 * HALF);
        assertThatThrownBy(() -> inputs(set, new MemoryHolder("not admitted", new OperationsUnderWay()), HALF))
                .isInstanceOf(IreeException.class);
        assertThatThrownBy(() -> inputs(set, early, HALF + 1)).isInstanceOf(IreeException.class);
        Reservation input = inputs(set, early, HALF);
        assertThatThrownBy(() -> inputs(set, early, 1)).isInstanceOf(IreeException.class);
        release("b");
        release("c");
        assertThat(got).doesNotContainKey("more for a");
        input.release(Frontier.EMPTY);
        assertThat(got).containsKey("more for a");
    }

    /** The memory is in a slab already, and nothing is released in between: no other event makes the gate look. */
    @Test
    void noCallIsAdmittedOnceNewCallsHaveHadManyInputs() {
        busy = true;
        PoolSet slab = builder(1000 * HALF)
                .pool(PoolOptions.tlsf("t", 1000 * HALF, 1000 * HALF))
                .waste(0)
                .delayed(this::after)
                .build();
        ask(slab, new MemoryHolder("a", new OperationsUnderWay()), "a", "", 500 * HALF);
        ask(slab, new MemoryHolder("b", new OperationsUnderWay()), "b", "", 900 * HALF);
        for (int i = 0; i < Turns.OVERTAKINGS; i++) {
            Objects.requireNonNull(slab.tryReserve(ReservationRequest.of(HALF))).release(Frontier.EMPTY);
        }
        for (int i = 0; i < Claim.EXCEPTIONS; i++) {
            inputs(slab, admitted(slab.gate().tryAdmit("", new Need(HALF, HALF))), HALF);
        }
        assertThat(slab.gate().tryAdmit("", new Need(HALF, HALF))).isNull();
    }

    /** There is room, all kept for the request that others have failed for. */
    @Test
    void nestedCallsHaveNoMoreInputsThanAdmittedForTheirOuterCall() {
        PoolSet large = builder(200 * HALF)
                .pool(PoolOptions.passThrough("p"))
                .waste(0)
                .delayed(this::after)
                .build();
        MemoryHolder early = admitted(large.gate().tryAdmit("", new Need(2 * HALF, 2 * HALF)));
        help(large, "", HALF, 199 * HALF, 90 * HALF, 110 * HALF);
        MemoryHolder nested = new MemoryHolder("nested", new OperationsUnderWay(), null, early);
        MemoryHolder deeper = new MemoryHolder("deeper", new OperationsUnderWay(), null, nested);
        inputs(large, deeper, HALF);
        inputs(large, early, HALF);
        assertThatThrownBy(() -> inputs(large, early, HALF)).isInstanceOf(IreeException.class);
        assertThatThrownBy(() -> inputs(large, nested, HALF)).isInstanceOf(IreeException.class);
        MemoryHolder other = new MemoryHolder("other", new OperationsUnderWay(), null, early);
        assertThatThrownBy(() -> inputs(large, other, HALF)).isInstanceOf(IreeException.class);
    }

    private static MemoryHolder admitted(@Nullable Admission admission) {
        MemoryHolder call = new MemoryHolder("new", new OperationsUnderWay());
        call.admitted(Objects.requireNonNull(admission));
        return call;
    }

    private static Reservation inputs(PoolSet pools, MemoryHolder call, long size) {
        MemoryHolder before = call.enter();
        try {
            return pools.reserveNow(ReservationRequest.of(size).asPersistent());
        } finally {
            call.leave(before);
        }
    }
}
