package io.github.iree4j.hal.pool;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.iree4j.async.Fence;
import io.github.iree4j.async.HeldCallbacks;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.frontier.Frontier;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * GATE-1, GATE-2, GATE-3, GATE-5: the admitted calls, their order, and pointless waits. The test advances the clock.
 */
@Timeout(300)
class AdmissionGateTest extends GateLine {
    /** Of 1,600 bytes, with calls that share slabs of 64. */
    private AdmissionGate slabs() {
        return builder(1600)
                .pool(PoolOptions.tlsf("t", 64, 64))
                .delayed(this::after)
                .build()
                .gate();
    }

    @Test
    void aFittingCallIsAdmittedAtOnce() {
        call("a", 40);
        call("b", 60);
        assertThat(entered).containsExactly("a", "b");
        exit("a");
        assertThat(gate.committed()).isEqualTo(60);
    }

    @Test
    void callsWithoutRoomAreAdmittedInOrderOfArrivalOnceThereIsRoom() {
        call("a", 80);
        call("b", 90);
        call("c", 85);
        call("d", 10);
        assertThat(entered).as("a fitting call is answered meanwhile").containsExactly("a", "d");
        assertThat(gate.waiting()).isEqualTo(2);
        exit("a");
        assertThat(entered).containsExactly("a", "d", "b");
        exit("d");
        exit("b");
        assertThat(entered).containsExactly("a", "d", "b", "c");
        assertThat(gate.waiting()).isZero();
    }

    /** The larger call is not even tried, since a smaller call of another program has found no room. */
    @Test
    void aSmallerCallOfAProgramInNeedOfOrderStaysBehindALargerCall() {
        call("a", 80);
        call("other", 50);
        gate.join("p", true, new Need(60), false, _ -> entered.add("large"));
        gate.join("p", true, new Need(10), false, _ -> entered.add("small"));
        assertThat(entered).containsExactly("a");
        exit("a");
        exit("other");
        assertThat(entered).containsExactly("a", "other", "large", "small");
    }

    @Test
    void theFirstInLineIsOvertakenAFewTimes() {
        call("a", 80);
        call("large", 90);
        for (int i = 0; i < AdmissionGate.OVERTAKINGS; i++) {
            call("small", 2);
            exit("small");
        }
        assertThat(entered).hasSize(1 + AdmissionGate.OVERTAKINGS);
        call("late", 2);
        assertThat(entered).doesNotContain("large", "late");
        exit("a");
        assertThat(entered).endsWith("large", "late");
    }

    @Test
    void theFirstInLineIsOvertakenByAsManyBytesAsThereAre() {
        call("a", 80);
        call("large", 90);
        for (int i = 0; i < 5; i++) {
            call("medium", 20);
            exit("medium");
        }
        assertThat(entered).hasSize(6);
        call("late", 2);
        assertThat(entered).hasSize(6);
    }

    @Test
    void callsOfAProgramKeepTheirOrder() {
        call("a", 80);
        gate.join("p", true, new Need(90), false, _ -> entered.add("large"));
        gate.join("p", true, new Need(10), false, _ -> entered.add("small"));
        gate.join("q", true, new Need(10), false, _ -> entered.add("other"));
        assertThat(entered).containsExactly("a", "other");
        exit("a");
        assertThat(entered).containsExactly("a", "other", "large");
    }

    @Test
    void callsOfAProgramWithoutOrderOvertakeEachOther() {
        call("a", 80);
        gate.join("p", false, new Need(90), false, _ -> entered.add("large"));
        gate.join("p", false, new Need(10), false, _ -> entered.add("small"));
        assertThat(entered).containsExactly("a", "small");
    }

    @Test
    void aCallNeedingMoreThanTheLimitTakesAllMemory() {
        call("a", 3 * LIMIT);
        assertThat(gate.committed()).isEqualTo(LIMIT);
        exit("a");
        assertThat(gate.committed()).isZero();
    }

    @Test
    void theAdmittedNeedOfACallIsReleasedOnce() {
        call("a", 40);
        call("b", 40);
        exit("a");
        exit("a");
        assertThat(gate.committed()).isEqualTo(40);
    }

    @Test
    void aCallLeavingTheLineLetsTheNextGoIn() {
        call("a", 80);
        Admission large = call("large", 90);
        for (int i = 0; i < 10; i++) {
            call("b", 10);
            exit("b");
        }
        entered.clear();
        call("small", 10);
        assertThat(entered).as("the large call has been overtaken often").isEmpty();
        assertThat(large.cancel()).isTrue();
        assertThat(large.cancel()).isFalse();
        assertThat(entered).containsExactly("small");
        assertThat(calls.get("small").cancel()).as("admitted").isFalse();
        large.exit();
        assertThat(gate.committed()).as("it was committed nothing").isEqualTo(90);
    }

    @Test
    void anInterruptedThreadLeavesTheLine() {
        call("a", 80);
        Admission large = gate.join("", true, new Need(90), false, null);
        call("small", 10);
        Thread.currentThread().interrupt();
        assertThatThrownBy(large::await).isInstanceOf(InterruptedException.class);
        assertThat(entered).containsExactly("a", "small");
    }

    @Test
    void aThreadWaitsUntilAdmitted() throws Exception {
        call("a", 80);
        Thread other = Thread.ofPlatform().daemon().start(() -> {
            while (gate.waiting() == 0) {
                Thread.onSpinWait();
            }
            exit("a");
        });
        Admission large = gate.join("", true, new Need(90), false, null);
        assertThat(large.await()).isTrue();
        assertThat(gate.committed()).isEqualTo(90);
        other.join();
    }

    @Test
    void aThreadLearnsThatItsCallHasLeft() throws Exception {
        call("a", 80);
        Admission large = gate.join("", true, new Need(90), false, null);
        Thread waits = Thread.currentThread();
        Thread other = Thread.ofPlatform().daemon().start(() -> {
            while (waits.getState() != Thread.State.WAITING) {
                Thread.onSpinWait();
            }
            large.cancel();
        });
        assertThat(large.await()).isFalse();
        other.join();
    }

    @Test
    void memoryKeptByTheHostIsMissingUntilReleased() {
        gate.keep(null, 30, false);
        call("a", 80);
        assertThat(entered).isEmpty();
        gate.keep(null, -10, false);
        assertThat(entered).containsExactly("a");
    }

    @Test
    void aCallNeedingAllButTheMemoryKeptByProgramsGoesInWhenAlone() {
        gate.keep(null, 30, true);
        call("a", LIMIT);
        assertThat(gate.committed()).isEqualTo(LIMIT);
        exit("a");
        call("b", 10);
        call("c", LIMIT);
        assertThat(entered).containsExactly("a", "b");
        exit("b");
        assertThat(entered).containsExactly("a", "b", "c");
    }

    /** Memory kept by the host is no secret of the line: a release may come between the looks at two calls. */
    @Test
    void aCallNeedingAsMuchDoesNotGoInBeforeTheFirstWhenMemoryIsReleasedBetweenLooks() throws Exception {
        gate.keep(null, 50, false);
        AtomicReference<Thread> releasing = new AtomicReference<>();
        AtomicBoolean armed = new AtomicBoolean();
        call("a", 60);
        call("b", "", new Need(60) {
            @Override
            public long bytes() {
                if (armed.getAndSet(false)) {
                    Thread other = Thread.ofPlatform().start(() -> gate.keep(null, -50, false));
                    releasing.set(other);
                    while (other.getState() != Thread.State.BLOCKED) { // released, and about to look too
                        Thread.onSpinWait();
                    }
                }
                return super.bytes();
            }
        });
        armed.set(true);
        call("c", 90);
        Objects.requireNonNull(releasing.get()).join();
        assertThat(entered).containsExactly("a");
    }

    @Test
    void aCallPastItsQuotaIsOvertakenByOtherConsumersOnly() {
        call("a", "small", new Need(30));
        call("b", "small", new Need(20));
        call("c", "small", new Need(5));
        call("d", "", new Need(20));
        assertThat(entered).containsExactly("a", "d");
        exit("a");
        assertThat(entered).containsExactly("a", "d", "b", "c");
    }

    @Test
    void memoryKeptByAConsumerIsMissingInItsQuota() {
        Share small = gate.quota("small");
        gate.keep(small, 30, false);
        call("a", "small", new Need(20));
        assertThat(entered).isEmpty();
        gate.keep(small, -30, false);
        assertThat(entered).containsExactly("a");
    }

    @ParameterizedTest
    @CsvSource({"small, '', false", "'', small, false", "small, '', true", "'', small, true"})
    void memoryKeptByACallOfTwoConsumersIsMissingInAQuotaOnlyUntilReleased(
            String first, String second, boolean isOverBetween) {
        PoolSet blocks = builder(100 * 64)
                .pool(FakeSlabs.pieces("f", 64))
                .waste(0)
                .quota("small", 40 * 64)
                .build();
        MemoryHolder call = new MemoryHolder("call", new OperationsUnderWay());
        Reservation one = reserved(blocks, call, first);
        if (isOverBetween) {
            call.end();
        }
        Reservation two = reserved(blocks, call, second);
        assertThat(one.release(Frontier.EMPTY)).isTrue();
        call.end();
        assertThat(two.release(Frontier.EMPTY)).isTrue();
        Need half = new Need(20 * 64);
        assertThat(blocks.gate().tryAdmit("small", half)).isNotNull();
        assertThat(blocks.gate().tryAdmit("small", half)).as("all of the quota").isNotNull();
        assertThat(blocks.gate().tryAdmit("small", new Need(1)))
                .as("and no more")
                .isNull();
    }

    private static Reservation reserved(PoolSet set, MemoryHolder call, String consumer) {
        MemoryHolder before = call.enter();
        try {
            return set.reserveNow(ReservationRequest.of(64).asPersistent().withConsumer(consumer));
        } finally {
            call.leave(before);
        }
    }

    @Test
    void aCallTooLargeForTheDeviceTakesNothingOfItsQuota() {
        call("a", 80);
        call("b", "small", new Need(40));
        Admission b = calls.get("b");
        assertThat(b.isAdmitted()).isFalse();
        assertThat(gate.quota("small").committed()).isZero();
        exit("a");
        assertThat(gate.quota("small").committed()).isEqualTo(40);
        exit("b");
        assertThat(gate.quota("small").committed()).isZero();
    }

    @Test
    void aCallAheadOfItsFenceCountsWithItsInputsUntilTheFenceIsReached() {
        Admission a = ahead("a", 70);
        assertThat(gate.committed()).isEqualTo(5);
        call("b", 30);
        a.due();
        a.due();
        assertThat(gate.committed()).isEqualTo(100);
        a.exit();
        a.due();
        assertThat(gate.committed()).isEqualTo(30);
        exit("b");
        assertThat(gate.committed()).isZero();
    }

    @Test
    void aCallWithAReachedFenceGetsNoMemoryBeforeThereIsRoomForItsWholeNeed() throws Exception {
        Admission a = ahead("a", 70);
        CompletableFuture<Boolean> held = new CompletableFuture<>();
        assertThat(a.mayHold()).as("the requests are not due yet").isTrue();
        assertThat(a.whenMayHold(() -> held.complete(false))).isFalse();
        call("b", 40);
        a.due();
        assertThat(gate.committed()).as("its inputs, and b").isEqualTo(45);
        assertThat(gate.waiting()).isOne();
        assertThat(a.mayHold()).isFalse();
        assertThat(a.whenMayHold(() -> held.complete(a.mayHold()))).isTrue();
        call("c", 40);
        assertThat(entered).containsExactly("a", "b", "c");
        exit("b");
        assertThat(held).as("in line, overtaken by c").isNotDone();
        call("d", 60);
        exit("c");
        assertThat(held.get()).isTrue();
        assertThat(a.whenMayHold(() -> held.complete(false))).isFalse();
        assertThat(gate.committed()).isEqualTo(70);
        assertThat(entered).doesNotContain("d");
        exit("a");
        assertThat(entered).endsWith("d");
    }

    @Test
    void aCallGetsNoMemoryOnceItsFenceIsReachedDespiteASlowReport() {
        Admission a = ahead("a", 70);
        call("b", 40);
        try (TimelineSemaphore timeline = TimelineSemaphore.create(0);
                Fence fence = Fence.at(timeline, 1)) {
            a.dueAt(fence);
            assertThat(a.mayHold()).isTrue();
            boolean held = HeldCallbacks.begin();
            timeline.signal(1);
            assertThat(gate.waiting()).isZero();
            assertThat(a.mayHold()).isFalse();
            HeldCallbacks.end(held);
        }
        exit("b");
        assertThat(a.mayHold()).isTrue();
    }

    @Test
    void aCallEndingInLineForTheRestOfItsNeedLeavesNothing() {
        Admission a = ahead("a", 70);
        call("b", 40);
        a.due();
        call("c", 90);
        a.exit();
        assertThat(gate.waiting()).isOne();
        exit("b");
        assertThat(entered).containsExactly("a", "b", "c");
        assertThat(gate.committed()).isEqualTo(90);
    }

    @Test
    void callsDueTogetherHoldTheirNeedOneAfterTheOther() {
        for (int i = 0; i < 4; i++) {
            ahead("a" + i, 80);
        }
        assertThat(entered).hasSize(4);
        calls.values().forEach(Admission::due);
        for (int i = 0; i < 4; i++) {
            assertThat(calls.values().stream().filter(Admission::mayHold)).hasSize(1);
            calls.values().stream()
                    .filter(Admission::mayHold)
                    .findAny()
                    .orElseThrow()
                    .exit();
            calls.values().removeIf(each -> !each.isAdmitted());
        }
        assertThat(gate.committed()).isZero();
    }

    @Test
    void aCallWithAReachedFenceIsBeforeACallOfTheSameMomentAskingForItsMemory() {
        Admission a = gate.tryAdmitAhead("small", new Need(10));
        Admission b = gate.join("small", true, new Need(40), false, _ -> entered.add("b"));
        a.due();
        assertThat(a.mayHold()).as("b waits for inputs").isTrue();
        assertThat(b.isAdmitted()).isFalse();
        a.exit();
        assertThat(b.isAdmitted()).isTrue();
    }

    /**
     * GATE-5: the other needs the whole quota, so it waits for the inputs of the first, though both joined at the same
     * moment.
     */
    @Test
    void aCallHoldingInputsIsServedBeforeALaterDueCallHoldingNothing() {
        Admission holds = gate.tryAdmitAhead("small", new Need(10));
        Admission runs = gate.tryAdmit("small", new Need(35));
        Admission whole = gate.join("small", false, new Need(45), true, _ -> {});
        holds.due();
        whole.due();
        assertThat(holds.mayHold()).isFalse();
        runs.exit();
        assertThat(holds.mayHold()).isTrue();
        assertThat(whole.isAdmitted()).isFalse();
        holds.exit();
        assertThat(whole.isAdmitted()).isTrue();
    }

    @Test
    void aCallWithALongWaitForItsFenceWaitsForRoomAllTheSame() {
        Admission a = ahead("a", 70);
        call("b", 40);
        pass(2 * PATIENCE);
        a.due();
        assertThat(a.mayHold()).isFalse();
        pass(PATIENCE);
        assertThat(a.mayHold()).as("competes for memory").isTrue();
    }

    @Test
    void aCallIsAdmittedBehindAnotherHoldingItsFutureNeed() {
        call("a", 90);
        ahead("b", 90);
        assertThat(entered).as("the second's memory may be the first's").containsExactly("a", "b");
    }

    @Test
    void inputsOfCallsWaitingForFencesLeaveRoomForEachToRun() {
        for (int i = 0; i < 10; i++) {
            ahead("a" + i, 92);
        }
        assertThat(entered).containsExactly("a0");
        call("b", 80);
        assertThat(entered)
                .as("no ready call waits for a call not ready")
                .contains("b")
                .hasSize(2);
        call("c", 80);
        calls.get("a9").due();
        exit("b");
        assertThat(entered).as("the line of ready calls").hasSize(3).endsWith("a9");
        exit("a9");
        assertThat(entered).hasSize(4).endsWith("c");
        exit("c");
        exit("a0");
        assertThat(entered).hasSize(5).endsWith("a1");
        for (int i = 0; i < 10; i++) {
            exit("a" + i);
        }
        assertThat(gate.committed()).isZero();
        assertThat(gate.waiting()).isZero();
    }

    @Test
    void inputsOfSmallCallsWaitingForFencesLeaveRoomForALargeCall() {
        call("large", 95);
        exit("large");
        for (int i = 0; i < 10; i++) {
            ahead("a" + i, 10);
        }
        assertThat(entered).containsExactly("large", "a0");
        call("large", 95);
        assertThat(entered).hasSize(3).endsWith("large");
    }

    @Test
    void inputsOfCallsWaitingForFencesLeaveRoomForAnUnknownLargeCall() {
        for (int i = 0; i < 10; i++) {
            ahead("a" + i, 10);
        }
        assertThat(entered).containsExactly("a0", "a1", "a2", "a3", "a4");
        call("large", 75);
        assertThat(entered).hasSize(6).endsWith("large");
    }

    @Test
    void inputsOfCallsWaitingForFencesLeaveRoomForTheShownNeedOfAFirstCall() {
        Need first = new Need(-10);
        call("first", "", first);
        first.bytes = 95;
        exit("first");
        ahead("a", 10);
        ahead("b", 10);
        assertThat(entered).containsExactly("first", "a");
        call("large", 95);
        assertThat(entered).endsWith("large");
    }

    @Test
    void inputsOfCallsWaitingForFencesLeaveRoomForSharedSlabs() {
        AdmissionGate slabs = slabs();
        Need large = new Need(1500);
        int ahead = 0;
        while (slabs.tryAdmitAhead("", large) != null) {
            ahead++;
        }
        assertThat(ahead).isEqualTo((1600 - 64 - 1500) / 5);
        assertThat(slabs.tryAdmit("", large)).isNotNull();
    }

    @Test
    void aCallWithAReachedFenceNoLongerCountsAsWaitingForIt() {
        ahead("a", 5);
        calls.get("a").due();
        call("b", 100);
        pass(HOST + 1);
        assertThat(entered).as("a runs, so b waits").containsExactly("a");
        exit("a");
        assertThat(entered).containsExactly("a", "b");
        exit("b");
        gate.keep(null, 50, false);
        call("c", 60);
        pass(2 * HOST);
        assertThat(entered).as("no call runs, so c waits for the host only").endsWith("c");
    }

    @Test
    void callsWaitingForFencesTakeNothingAwaitedByAReadyCall() {
        call("a", 80);
        call("b", 60);
        ahead("c", 10);
        assertThat(entered).containsExactly("a");
        exit("a");
        assertThat(entered).containsExactly("a", "b", "c");
    }

    @Test
    void howManyCallsWaitForAQuotaDoesNotKeepOutOthers() {
        call("a", "small", new Need(40));
        for (int i = 0; i < 100; i++) {
            call("b" + i, "small", new Need(40));
        }
        call("c", 50);
        ahead("d", 10);
        assertThat(entered).containsExactly("a", "c", "d");
    }

    @Test
    void aCallAheadOfItsFenceWaitingForItsQuotaDoesNotKeepOutOthers() {
        Share small = gate.quota("small");
        gate.keep(small, 30, false);
        ahead("a", "small", 10);
        ahead("b", 10);
        ahead("c", "small", 10);
        assertThat(entered).containsExactly("b");
        gate.keep(small, -30, false);
        assertThat(entered).containsExactly("b", "a", "c");
    }

    @Test
    void aReadyCallIsNotHeldUpForLongByInputsOfItsPossibleWaiters() {
        for (int i = 0; i < 4; i++) {
            ahead("a" + i, 80);
        }
        call("b", 90);
        assertThat(entered).hasSize(4);
        pass(HOST + 1);
        assertThat(entered).hasSize(5).endsWith("b");
    }

    @Test
    void severalAdmittedCallsNeedRoomForTheirSharedSlabs() {
        AdmissionGate slabs = slabs();
        Admission first = slabs.tryAdmit("", new Need(800));
        assertThat(first).isNotNull();
        assertThat(slabs.tryAdmit("", new Need(737))).isNull();
        assertThat(slabs.tryAdmit("", new Need(736))).isNotNull();
    }

    private AdmissionGate longerSlabs() {
        return builder(1600)
                .pool(PoolOptions.tlsf("t", 64, 64))
                .pool(PoolOptions.passThrough("large"))
                .waste(1)
                .build()
                .gate();
    }

    @Test
    void remaindersOfLongerSlabsNeedRoomToo() {
        AdmissionGate whole = longerSlabs();
        assertThat(whole.tryAdmit("", new Need(800))).isNotNull();
        assertThat(whole.tryAdmit("", new Need(800 - 64 - 28 + 1))).isNull();
        assertThat(whole.tryAdmit("", new Need(800 - 64 - 28))).isNotNull();
    }

    @Test
    void besideInputsOfCallsWaitingForFencesOnlySharedSlabsNeedRoom() {
        AdmissionGate whole = longerSlabs();
        assertThat(whole.tryAdmitAhead("", new Need(800))).isNotNull();
        assertThat(whole.tryAdmit("", new Need(1600 - 5 - 64 + 1))).isNull();
        assertThat(whole.tryAdmit("", new Need(1600 - 5 - 64))).isNotNull();
    }
}
