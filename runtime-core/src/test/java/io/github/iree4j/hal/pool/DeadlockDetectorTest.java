package io.github.iree4j.hal.pool;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.Objects;
import org.junit.jupiter.api.Test;

/** Requests with a vain wait and requests with hope; the test advances the clock. */
class DeadlockDetectorTest extends DeadlockLine {

    @Test
    void ofTwoCallsWaitingForEachOtherTheYoungerFailsAndTheOlderContinues() {
        deadlock(halves());
        pass(DeadlockDetector.CONFIRM_NANOS);
        assertThat(failed).as("looked at once").isEmpty();
        pass(DeadlockDetector.CONFIRM_NANOS);
        assertThat(failed).containsOnlyKeys("more for b");
        assertThat(failed.get("more for b"))
                .hasMessageContaining("allocation of 64 bytes is given up for an older request")
                .hasMessageContaining("it fits once others have ended")
                .hasMessageContaining("memoryLimit")
                .hasMessageNotContaining("call of");
        pass(LONG);
        assertThat(failed).as("the failed call will release its memory").hasSize(1);
        release("b");
        assertThat(got).containsKey("more for a");
    }

    /** Releases memory never used again: the part lost by its last user is not known to be over. */
    private void releaseForGood(String name) {
        tracker.fail(AXIS, IreeException.of(StatusCode.DATA_LOSS, "lost on purpose"));
        tracker.quiesce(AXIS, 1);
        got.remove(name).release(Frontier.producedBy(AXIS, 1).tainted());
    }

    @Test
    void memoryNeverKnownToBeUnusedIsNotWaitedFor() {
        PoolSet set = halves().build();
        holding(set, "a").keep();
        holding(set, "b");
        releaseForGood("b");
        askFor(set, new MemoryHolder("c", new OperationsUnderWay()), "c");
        pass(2 * DeadlockDetector.CONFIRM_NANOS);
        assertThat(failed).containsOnlyKeys("c");
    }

    @Test
    void aDeadlockIsNotResolvedWithMemoryNeverKnownToBeUnused() {
        PoolSet set = builder(3 * HALF)
                .pool(FakeSlabs.pieces("f", HALF))
                .delayed(this::after)
                .build();
        holding(set, "gone");
        MemoryHolder a = holding(set, "a");
        MemoryHolder b = holding(set, "b");
        releaseForGood("gone");
        askFor(set, a, "more for a");
        askFor(set, b, "more for b");
        pass(2 * DeadlockDetector.CONFIRM_NANOS);
        assertThat(failed).containsOnlyKeys("more for b");
    }

    @Test
    void aDeadlockIsNotResolvedWhileTheHostMayReleaseEnough() {
        long given = 5 * DeadlockDetector.CONFIRM_NANOS;
        PoolSet set = builder(3 * HALF)
                .pool(FakeSlabs.pieces("f", HALF))
                .delayed(this::after)
                .hostPatience(given)
                .build();
        holding(set, "kept").end(); // an unclosed result
        MemoryHolder a = holding(set, "a");
        MemoryHolder b = holding(set, "b");
        askFor(set, a, "more for a");
        askFor(set, b, "more for b");
        pass(given);
        assertThat(failed).isEmpty();
        pass(2 * DeadlockDetector.CONFIRM_NANOS);
        assertThat(failed).containsOnlyKeys("more for b");
    }

    @Test
    void aCallContinuingAfterAFailedRequestIsJudgedAnewAfterAWhile() {
        Deadlock deadlock = deadlock(halves());
        pass(2 * DeadlockDetector.CONFIRM_NANOS);
        assertThat(failed).containsOnlyKeys("more for b");
        askFor(deadlock.set(), deadlock.b(), "again for b");
        pass(DeadlockDetector.END_NANOS - DeadlockDetector.CONFIRM_NANOS);
        assertThat(failed).as("perhaps about to end").hasSize(1);
        pass(3 * DeadlockDetector.CONFIRM_NANOS);
        assertThat(failed).containsOnlyKeys("more for b", "again for b");
    }

    @Test
    void aRequestWaitingForARunningCallHasHope() {
        PoolSet set = halves().build();
        MemoryHolder a = holding(set, "a");
        holding(set, "b");
        MemoryHolder before = a.enter(); // its code runs
        ask(set, "more for b", HALF);
        a.leave(before);
        MemoryHolder c = new MemoryHolder("c", new OperationsUnderWay());
        askFor(set, c, "c");
        pass(LONG);
        assertThat(failed).as("b holds memory and waits for none").isEmpty();
        release("b");
        release("a");
        assertThat(got).containsKeys("more for b", "c");
    }

    @Test
    void aCallWaitingForItsInnerCallGivesNoHopeWhileTheInnerCallWaits() {
        PoolSet set = halves().build();
        MemoryHolder outer = holding(set, "outer");
        MemoryHolder inner = holding(set, "inner");
        MemoryHolder before = outer.enter(); // its code runs, and is about to wait
        askFor(set, inner, "more for inner");
        pass(LONG);
        assertThat(failed).as("the code of the outer call may release").isEmpty();
        MemoryHolder awaited = outer.awaits(inner);
        pass(2 * DeadlockDetector.CONFIRM_NANOS);
        assertThat(failed).containsOnlyKeys("more for inner");
        assertThat(failed.get("more for inner"))
                .hasMessageContaining("waited for memory that no running work will free")
                .hasMessageContaining("calls that wait for this one hold what it lacks");
        outer.goesOn(awaited);
        askFor(set, inner, "again for inner");
        pass(LONG);
        assertThat(failed).as("the outer call goes on").hasSize(1);
        outer.leave(before);
    }

    @Test
    void aCallBehindACallInLineGivesAsMuchHopeAsTheCallInItsTurn() {
        PoolSet set = halves().build();
        MemoryHolder outer = holding(set, "outer");
        MemoryHolder first = holding(set, "first");
        MemoryHolder inner = new MemoryHolder("inner", new OperationsUnderWay());
        inner.waitsForTurn(() -> first);
        MemoryHolder before = outer.enter();
        outer.awaits(inner);
        pass(LONG);
        MemoryHolder other = new MemoryHolder("other", new OperationsUnderWay());
        askFor(set, other, "other");
        pass(LONG);
        assertThat(failed).as("the first waits for nothing").isEmpty();
        askFor(set, first, "more for first");
        pass(2 * DeadlockDetector.CONFIRM_NANOS);
        assertThat(failed).containsOnlyKeys("more for first");
        outer.leave(before);
    }

    @Test
    void aCycleOfCallsWaitingForEachOtherIsFollowedOnce() {
        PoolSet set = halves().build();
        MemoryHolder outer = holding(set, "outer");
        MemoryHolder inner = new MemoryHolder("inner", new OperationsUnderWay());
        inner.waitsForTurn(() -> outer);
        MemoryHolder before = outer.enter();
        outer.awaits(inner);
        holding(set, "other");
        MemoryHolder waiting = new MemoryHolder("waiting", new OperationsUnderWay());
        askFor(set, waiting, "waiting");
        pass(LONG);
        assertThat(failed)
                .as("the cycle does not involve memory: the waiter has hope")
                .isEmpty();
        outer.leave(before);
    }

    @Test
    void aWaitingCallWithRunningCodeGivesHope() {
        PoolSet set = halves().build();
        MemoryHolder a = holding(set, "a");
        MemoryHolder b = holding(set, "b");
        MemoryHolder before = a.enter(); // its code goes on, and may release
        ask(set, "more for a", HALF);
        askFor(set, b, "more for b");
        pass(LONG);
        assertThat(failed).isEmpty();
        a.leave(before);
        pass(LONG);
        assertThat(failed).containsOnlyKeys("more for b");
    }

    @Test
    void whileSomethingIsUnderWayNoneFails() {
        PoolSet set = halves().build();
        MemoryHolder a = holding(set, "a");
        MemoryHolder b = holding(set, "b");
        busy = true;
        askFor(set, a, "more for a");
        askFor(set, b, "more for b");
        pass(LONG);
        assertThat(failed).isEmpty();
        busy = false;
        set.idle();
        pass(LONG);
        assertThat(failed).containsOnlyKeys("more for b");
    }

    @Test
    void whileFreedMemoryHasAUserNoneFails() {
        PoolSet set = halves().build();
        MemoryHolder a = holding(set, "a");
        MemoryHolder b = holding(set, "b");
        got.get("a").release(Frontier.producedBy(AXIS, 1)); // to be over
        askFor(set, b, "more for b");
        askFor(set, a, "a again");
        pass(LONG);
        assertThat(failed).isEmpty();
        tracker.advance(AXIS, 1);
        assertThat(got).containsKey("more for b");
    }

    private PoolSet whole(long budget) {
        return builder(budget)
                .pool(PoolOptions.passThrough("p"))
                .waste(0)
                .delayed(this::after)
                .build();
    }

    /** Half of the memory, released by work that is over before the host has retired the work. */
    private Reservation overButNotRetired(PoolSet set) {
        Reservation ahead = Objects.requireNonNull(set.tryReserve(ReservationRequest.of(HALF)));
        ahead.releaseAhead(Frontier.producedBy(AXIS, 1));
        tracker.advance(AXIS, 1);
        return ahead;
    }

    @Test
    void whileTheHostHasFreedMemoryToRetireNoneFails() {
        PoolSet set = whole(2 * HALF);
        Reservation ahead = overButNotRetired(set);
        askFor(new MemoryHolder("a", new OperationsUnderWay()), set, "a", 2 * HALF);
        pass(LONG);
        assertThat(failed).as("the slab of the other half will go back").isEmpty();
        ahead.accessEnded();
        assertThat(got).containsKey("a");
    }

    @Test
    void aDeadlockIsResolvedAsIfTheHostHadRetiredEndedWork() {
        PoolSet set = whole(3 * HALF);
        MemoryHolder a = holding(set, "a");
        Reservation ahead = overButNotRetired(set);
        MemoryHolder b = holding(set, "b"); // in the slab of the other
        askFor(a, set, "more for a", 2 * HALF);
        askFor(b, set, "more for b", 2 * HALF);
        pass(2 * DeadlockDetector.CONFIRM_NANOS);
        assertThat(failed).as("the slab of b will go back").containsOnlyKeys("more for b");
        release("b");
        assertThat(got).doesNotContainKey("more for a");
        pass(LONG);
        ahead.accessEnded();
        assertThat(got).containsKey("more for a");
    }

    @Test
    void workEndingInBetweenPostponesTheVerdict() {
        Deadlock deadlock = deadlock(halves());
        pass(DeadlockDetector.CONFIRM_NANOS);
        busy = true; // an operation begins
        pass(LONG);
        assertThat(failed).isEmpty();
        busy = false;
        deadlock.set().idle();
        pass(DeadlockDetector.CONFIRM_NANOS);
        assertThat(failed).as("the doubt begins anew").isEmpty();
        pass(DeadlockDetector.CONFIRM_NANOS);
        assertThat(failed).hasSize(1);
    }

    @Test
    void memoryOnlyTheHostCanFreeIsWaitedForDuringHostPatience() {
        long given = 5 * DeadlockDetector.CONFIRM_NANOS;
        PoolSet set = halves().hostPatience(given).build();
        holding(set, "a").end(); // unclosed results
        holding(set, "b").end();
        askFor(set, new MemoryHolder("c", new OperationsUnderWay()), "c");
        pass(given);
        assertThat(failed).isEmpty();
        pass(2 * DeadlockDetector.CONFIRM_NANOS);
        assertThat(failed).containsOnlyKeys("c");
        assertThat(failed.get("c")).hasMessageContaining("it fits once results or tensors are closed");
    }

    @Test
    void aRequestWithoutACallIsJudgedToo() {
        PoolSet set = halves().patience(10 * LONG).build();
        holding(set, "a").keep();
        holding(set, "b").keep();
        ask(set, "c", HALF);
        pass(2 * DeadlockDetector.CONFIRM_NANOS);
        assertThat(failed).containsOnlyKeys("c");
    }

    @Test
    void memoryOfOtherConsumersIsNoHopeForARequestWaitingForItsQuota() {
        PoolSet set = builder(4 * HALF)
                .pool(FakeSlabs.pieces("f", HALF))
                .quota("q", HALF)
                .delayed(this::after)
                .build();
        MemoryHolder a = holding(set, "q");
        holding(set, "b"); // could run
        askFor(set, a, "q");
        pass(2 * DeadlockDetector.CONFIRM_NANOS);
        assertThat(failed).containsOnlyKeys("q");
    }

    @Test
    void aCallBeginningToWaitLongAfterItsRequestIsJudged() {
        PoolSet set = halves().build();
        MemoryHolder a = holding(set, "a");
        MemoryHolder b = holding(set, "b");
        MemoryHolder before = a.enter();
        ask(set, "more for a", HALF);
        askFor(set, b, "more for b");
        pass(LONG);
        assertThat(failed).as("a runs").isEmpty();
        a.leave(before);
        pass(3 * DeadlockDetector.CONFIRM_NANOS);
        assertThat(failed).containsOnlyKeys("more for b");
    }

    @Test
    void aCallBeginningToWaitForAnEarlierRequesterIsJudgedAndGivesHopeWhenItContinues() {
        PoolSet set = halves().build();
        MemoryHolder a = holding(set, "a");
        MemoryHolder b = holding(set, "b");
        MemoryHolder inner = new MemoryHolder("inner", new OperationsUnderWay());
        askFor(set, b, "more for b");
        askFor(set, inner, "inner");
        MemoryHolder before = a.enter();
        MemoryHolder awaited = a.awaits(inner);
        a.goesOn(awaited);
        pass(LONG);
        assertThat(failed).as("a runs").isEmpty();
        a.awaits(inner);
        pass(3 * DeadlockDetector.CONFIRM_NANOS);
        assertThat(failed).isNotEmpty();
        a.goesOn(null);
        a.leave(before);
    }

    @Test
    void aCallHoldingNothingDoesNotFailInPlaceOfAHolder() {
        Deadlock deadlock = deadlock(halves());
        askFor(deadlock.set(), new MemoryHolder("c", new OperationsUnderWay()), "c");
        pass(2 * DeadlockDetector.CONFIRM_NANOS);
        assertThat(failed).containsOnlyKeys("more for b");
    }

    @Test
    void ofSeveralRequestsOfACallOnlyOneFails() {
        Deadlock deadlock = deadlock(halves());
        askFor(deadlock.set(), deadlock.b(), "yet more for b");
        pass(DeadlockDetector.END_NANOS);
        assertThat(failed).as("the call is about to give back everything").containsOnlyKeys("yet more for b");
        pass(3 * DeadlockDetector.CONFIRM_NANOS);
        assertThat(failed).as("or goes on").containsOnlyKeys("yet more for b", "more for b");
    }

    @Test
    void hopeInBetweenPostponesTheVerdict() {
        Deadlock deadlock = deadlock(halves());
        pass(DeadlockDetector.CONFIRM_NANOS);
        MemoryHolder before = deadlock.a().enter(); // its code runs
        pass(DeadlockDetector.CONFIRM_NANOS);
        deadlock.a().leave(before);
        pass(DeadlockDetector.CONFIRM_NANOS);
        assertThat(failed).as("the doubt begins anew").isEmpty();
        pass(DeadlockDetector.CONFIRM_NANOS);
        assertThat(failed).containsOnlyKeys("more for b");
    }

    @Test
    void aReleaseInBetweenPostponesTheVerdictEvenIfNoRequestFits() {
        PoolSet set = builder(3 * HALF)
                .pool(PoolOptions.tlsf("t", HALF, HALF))
                .delayed(this::after)
                .build();
        MemoryHolder a = holding(set, "a");
        MemoryHolder b = holding(set, "b");
        holding(set, "kept").keep();
        askForBoth(set, a, "more for a");
        askForBoth(set, b, "more for b");
        pass(DeadlockDetector.CONFIRM_NANOS);
        release("kept"); // half of each one's need
        pass(DeadlockDetector.CONFIRM_NANOS);
        assertThat(failed).as("the doubt begins anew").isEmpty();
        pass(DeadlockDetector.CONFIRM_NANOS);
        assertThat(failed).containsOnlyKeys("more for b");
    }

    private void askForBoth(PoolSet set, MemoryHolder call, String name) {
        MemoryHolder before = call.enter();
        ask(set, name, 2 * HALF);
        call.leave(before);
    }

    @Test
    void hopeSpreadsFromHolderToHolder() {
        PoolSet set = builder(2 * HALF)
                .pool(FakeSlabs.pieces("f", HALF))
                .quota("q", HALF)
                .delayed(this::after)
                .build();
        MemoryHolder b = holding(set, "q"); // the whole quota of its account
        holding(set, "c"); // runs, or may
        askFor(set, b, "more for b"); // waits for the memory of c
        askFor(set, new MemoryHolder("a", new OperationsUnderWay()), "q"); // waits for the memory of b
        pass(LONG);
        assertThat(failed).isEmpty();
        release("c");
        assertThat(got).containsKey("more for b");
    }

    @Test
    void hopeSpreadsToHoldersListedBeforeItsSource() {
        PoolSet set = builder(4 * HALF)
                .pool(FakeSlabs.pieces("f", HALF))
                .quota("q", HALF)
                .quota("r", HALF)
                .delayed(this::after)
                .build();
        MemoryHolder a = holding(set, "a");
        MemoryHolder b = holding(set, "r"); // the whole quota of this account
        MemoryHolder c = holding(set, "q"); // and this call
        holding(set, "d"); // runs, or may
        askFor(set, c, "more for c"); // waits for the memory of d
        askFor(set, b, "q"); // waits for the memory of c
        askFor(set, a, "r"); // waits for the memory of b
        pass(LONG);
        assertThat(failed).isEmpty();
    }

    @Test
    void memoryKeptByAProgramIsNotWaitedFor() {
        PoolSet set = halves().build();
        holding(set, "a").keep();
        holding(set, "b").keep();
        askFor(set, new MemoryHolder("c", new OperationsUnderWay()), "c");
        pass(2 * DeadlockDetector.CONFIRM_NANOS);
        assertThat(failed).containsOnlyKeys("c");
        assertThat(failed.get("c"))
                .hasMessageContaining("it fits once programs are unloaded; unload programs, or raise the limit");
    }

    @Test
    void allRequestsWaitingInVainFailOneAfterAnother() {
        PoolSet set = halves().build();
        holding(set, "a").keep();
        holding(set, "b").keep();
        askFor(set, new MemoryHolder("c", new OperationsUnderWay()), "c");
        askFor(set, new MemoryHolder("d", new OperationsUnderWay()), "d");
        pass(2 * DeadlockDetector.CONFIRM_NANOS);
        assertThat(failed).hasSize(1);
        pass(LONG);
        assertThat(failed).containsOnlyKeys("c", "d");
    }

    @Test
    void memoryHeldWithoutACallIsAlwaysHope() {
        PoolSet set = halves().build();
        ask(set, "no call", HALF);
        MemoryHolder b = holding(set, "b");
        askFor(set, b, "more for b");
        pass(LONG);
        assertThat(failed).isEmpty();
        release("no call");
        assertThat(got).containsKey("more for b");
    }

    @Test
    void aCallWaitingForItsTurnHasTheHopeOfTheCallBefore() {
        PoolSet set = halves().build();
        MemoryHolder a = holding(set, "a");
        MemoryHolder b = holding(set, "b");
        b.waitsForTurn(() -> a);
        askFor(set, a, "more for a"); // b has half and cannot begin before a, which waits for b's half
        pass(2 * DeadlockDetector.CONFIRM_NANOS);
        assertThat(failed).containsOnlyKeys("more for a");
        failed.clear();
        b.begins();
        MemoryHolder c = new MemoryHolder("c", new OperationsUnderWay());
        askFor(set, c, "c");
        pass(LONG);
        assertThat(failed).isEmpty();
    }

    @Test
    void aRequestFailsAfterTheLongestWaitWhateverIsUnderWay() {
        PoolSet set = halves().patience(1_000_000).build();
        busy = true;
        ask(set, "a", HALF);
        ask(set, "b", HALF);
        ask(set, "c", HALF);
        pass(500_000);
        ask(set, "d", HALF);
        pass(499_999);
        assertThat(failed).isEmpty();
        pass(1);
        assertThat(failed).containsOnlyKeys("c");
        assertThat(Objects.requireNonNull(failed.get("c")))
                .hasMessageContaining("has waited 1 ms for memory, the longest wait allowed");
        pass(500_000);
        assertThat(failed).containsOnlyKeys("c", "d");
    }

    @Test
    void memoryReleasedByFailedCallsIsKeptForTheHelpedCall() {
        PoolSet set = builder(4 * HALF)
                .pool(PoolOptions.passThrough("p"))
                .waste(0)
                .delayed(this::after)
                .build();
        MemoryHolder a = holding(set, "a");
        MemoryHolder b = holding(set, "b");
        MemoryHolder c = holding(set, "c");
        askFor(a, set, "more for a", 3 * HALF); // of which a single piece is free
        askFor(b, set, "more for b", 2 * HALF);
        askFor(c, set, "more for c", 2 * HALF);
        pass(2 * DeadlockDetector.CONFIRM_NANOS);
        assertThat(failed)
                .as("both at once, since a single call would not do")
                .containsOnlyKeys("more for b", "more for c");
        ReservationRequest upload = ReservationRequest.of(HALF).asPersistent();
        assertThat(set.tryReserve(upload))
                .as("there is room, but not for uploads")
                .isNull();
        release("b");
        assertThat(set.tryReserve(upload)).isNull();
        askFor(set, new MemoryHolder("b again", new OperationsUnderWay()), "b again");
        assertThat(got).doesNotContainKey("b again");
        release("c");
        assertThat(got).containsKey("more for a").doesNotContainKey("b again");
        release("a");
        release("more for a");
        assertThat(got).containsKey("b again");
        assertThat(set.tryReserve(upload)).isNotNull();
    }

    private void askFor(MemoryHolder call, PoolSet set, String name, long size) {
        MemoryHolder before = call.enter();
        ask(set, name, size);
        call.leave(before);
    }

    @Test
    void anEndlessReleaserIsNoHopeForEver() {
        PoolSet set = builder(3 * HALF)
                .pool(PoolOptions.passThrough("p"))
                .waste(0)
                .delayed(this::after)
                .build();
        MemoryHolder a = holding(set, "a");
        MemoryHolder b = holding(set, "b");
        askFor(a, set, "more for a", 2 * HALF);
        askFor(b, set, "more for b", 2 * HALF);
        ReservationRequest upload = ReservationRequest.of(HALF).asPersistent();
        long step = DeadlockDetector.CONFIRM_NANOS / 3;
        for (long time = 0; time < DeadlockDetector.END_NANOS + 2 * DeadlockDetector.CONFIRM_NANOS; time += step) {
            Reservation brief = set.tryReserve(upload);
            if (brief != null) {
                brief.release(Frontier.EMPTY);
            }
            pass(step);
        }
        assertThat(failed).containsOnlyKeys("more for b");
    }

    /** The victim is the request of a call that waits for nothing else. */
    @Test
    void aCallIsNotGivenUpWhileAnotherOfItsRequestsHasHope() {
        PoolSet set = builder(4 * HALF)
                .pool(FakeSlabs.pieces("f", HALF))
                .quota("limited", 2 * HALF)
                .delayed(this::after)
                .hostPatience(0)
                .build();
        MemoryHolder first = new MemoryHolder("first", new OperationsUnderWay());
        MemoryHolder second = new MemoryHolder("second", new OperationsUnderWay());
        MemoryHolder running = new MemoryHolder("running", new OperationsUnderWay());
        askAs(set, first, "first holds", "limited");
        askAs(set, second, "second holds", "limited");
        MemoryHolder outside = running.enter(); // its code runs
        askAs(set, running, "running holds", "free");
        askAs(set, running, "running holds more", "free");
        askAs(set, first, "more for first", "limited");
        askAs(set, second, "more for second", "limited");
        askAs(set, second, "from the budget", "free");
        pass(LONG);
        running.leave(outside);
        assertThat(failed).containsOnlyKeys("more for first");
    }
}
