package io.github.iree4j.hal.pool;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.status.NeverFits;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * Calls over their quota with their own memory, while something else is always under way; the test advances the clock.
 */
class QuotaBesideWorkTest extends DeadlockLine {
    private static final long GIVEN = 5 * DeadlockDetector.CONFIRM_NANOS;

    private final AtomicInteger held = new AtomicInteger(1); // requests known to hold the waiting calls

    @BeforeEach
    void somethingIsUnderWay() {
        busy = true;
    }

    private PoolSetBuilder limited(long quota) {
        return builder(8 * HALF)
                .pool(FakeSlabs.pieces("f", HALF))
                .quota("q", quota)
                .delayed(this::after)
                .held(call -> held.get())
                .hostPatience(GIVEN);
    }

    private static MemoryHolder call() {
        return new MemoryHolder("q", new OperationsUnderWay());
    }

    private void ask(PoolSet set, MemoryHolder call, String name) {
        askAs(set, call, name, "q");
    }

    @Test
    void aCallHelpedByItsOwnMemoryOnlyFailsOnceTheHostHasHadItsTime() {
        PoolSet set = limited(HALF).build();
        MemoryHolder call = call();
        ask(set, call, "has");
        ask(set, call, "more");
        pass(GIVEN - 1);
        assertThat(failed).isEmpty();
        pass(1);
        assertThat(failed).containsOnlyKeys("more");
        assertThat(failed.get("more"))
                .hasMessageContaining("waited for memory that no running work will free")
                .satisfies(e -> assertThat(e.detail(NeverFits.class)).contains(new NeverFits(HALF)));
    }

    @Test
    void theHostHasItsTimeForEachCallDespiteAnEarlierLook() {
        PoolSet set = limited(HALF).quota("r", HALF).build();
        MemoryHolder call = call();
        ask(set, call, "has");
        ask(set, call, "more");
        pass(GIVEN / 2);
        MemoryHolder later = new MemoryHolder("r", new OperationsUnderWay());
        askAs(set, later, "has too", "r");
        askAs(set, later, "more too", "r");
        pass(GIVEN / 2);
        assertThat(failed).containsOnlyKeys("more");
        pass(GIVEN / 2);
        assertThat(failed).containsOnlyKeys("more", "more too");
    }

    @Test
    void aCallIsJudgedAtALookWithTheKnowledgeOfItsHold() {
        PoolSet set = limited(HALF).build();
        MemoryHolder call = call();
        ask(set, call, "has");
        held.set(0); // a part goes on, or may
        ask(set, call, "more");
        pass(LONG);
        assertThat(failed).isEmpty();
        held.set(1);
        pass(GIVEN);
        assertThat(failed).containsOnlyKeys("more");
    }

    @Test
    void aCallWaitsForMemoryOfItsQuotaHeldByOthers() {
        PoolSet set = limited(2 * HALF).build();
        MemoryHolder call = call();
        ask(set, call, "has");
        ask(set, call(), "other");
        ask(set, call, "more");
        pass(LONG);
        assertThat(failed).isEmpty();
        release("other");
        assertThat(got).containsKey("more");
    }

    @Test
    void aCallWaitsWhileAnotherOfItsRequestsMayBeGranted() {
        PoolSet set = builder(8 * HALF)
                .pool(PoolOptions.passThrough("p"))
                .quota("q", 3 * HALF)
                .delayed(this::after)
                .held(call -> held.get())
                .hostPatience(GIVEN)
                .build();
        MemoryHolder call = call();
        askFor(set, call, "has", 2 * HALF);
        ask(set, call(), "other");
        askFor(set, call, "much more", 2 * HALF);
        ask(set, call, "more");
        held.set(2);
        pass(LONG);
        assertThat(failed).as("a request of the call waits for the other call").isEmpty();
        release("other");
        assertThat(got).containsKey("more");
        held.set(1);
        pass(GIVEN);
        assertThat(failed).containsOnlyKeys("much more");
    }

    private void askFor(PoolSet set, MemoryHolder call, String name, long size) {
        MemoryHolder before = call.enter();
        set.reserve(ReservationRequest.of(size).withConsumer("q"), (reservation, failure) -> {
            if (reservation != null) {
                got.put(name, reservation);
            } else {
                failed.put(name, failure);
            }
        });
        call.leave(before);
    }

    @Test
    void aCallWithMissingRequestsIsNotJudged() {
        PoolSet set = limited(HALF).build();
        MemoryHolder call = call();
        ask(set, call, "has");
        ask(set, call, "more");
        held.set(2); // a request of another device
        pass(LONG);
        assertThat(failed).isEmpty();
    }

    @Test
    void aCallWaitingForItsNestedCallIsNotJudged() {
        PoolSet set = limited(HALF).build();
        MemoryHolder call = call();
        ask(set, call, "has");
        ask(set, call, "more");
        MemoryHolder awaited = call.awaits(call());
        pass(LONG);
        assertThat(failed).isEmpty();
        call.goesOn(awaited);
        pass(GIVEN);
        assertThat(failed).containsOnlyKeys("more");
    }

    @Test
    void ofSeveralRequestsOfACallOnlyOneFails() {
        PoolSet set = limited(HALF).build();
        MemoryHolder call = call();
        ask(set, call, "has");
        ask(set, call, "more");
        ask(set, call, "yet more");
        held.set(2);
        pass(GIVEN);
        assertThat(failed).as("the call is about to give back everything").hasSize(1);
        pass(DeadlockDetector.CONFIRM_NANOS);
        assertThat(failed).hasSize(1);
    }

    @Test
    void aCallWithoutAQuotaIsNotJudged() {
        PoolSet set = limited(HALF).build();
        MemoryHolder call = call();
        for (int i = 0; i < 9; i++) {
            askAs(set, call, String.valueOf(i), "free");
        }
        pass(LONG);
        assertThat(failed).as("nothing in flight is known to keep memory").isEmpty();
    }
}
