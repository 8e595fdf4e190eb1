package io.github.iree4j.hal.pool;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.status.NeverFits;
import org.junit.jupiter.api.Test;

/** A system with less memory than the budget: a refusal says nothing about requests for less, and nothing for ever. The test advances the clock. */
class ShortSystemTest extends DeadlockLine {
    private long delay; // of the system's answer to a request in line
    private final PoolSet set = builder(1000 * HALF)
            .pool(PoolOptions.passThrough("p"))
            .growth(action -> after(delay).execute(action))
            .delayed(this::after)
            .build();

    private static MemoryHolder call(String name) {
        return new MemoryHolder(name, new OperationsUnderWay());
    }

    private MemoryHolder ask(MemoryHolder call, String name, long size) {
        MemoryHolder before = call.enter();
        ask(set, name, size);
        call.leave(before);
        return call;
    }

    /** A program that holds one of 20 slabs. */
    private void keepOneOfTwenty() {
        slabs.system = 20 * HALF;
        ask(call("kept"), "kept", HALF).keep();
    }

    @Test
    void aSystemSlowToRefuseAgainIsNoHope() {
        delay = DeadlockDetector.CONFIRM_NANOS + 1;
        keepOneOfTwenty();
        ask(call("large"), "large", 30 * HALF);
        int asked = slabs.asked;
        pass(2 * DeadlockDetector.CONFIRM_NANOS);
        assertThat(failed).containsOnlyKeys("large");
        pass(LONG);
        assertThat(slabs.asked - asked).as("at the first look").isEqualTo(1);
    }

    @Test
    void aSmallerRequestIsServedBehindARefusedRequest() {
        keepOneOfTwenty();
        ask(call("holder"), "holder", 19 * HALF);
        ask(call("large"), "large", 30 * HALF);
        ask(call("small"), "small", 10 * HALF);
        assertThat(got).containsOnlyKeys("kept", "holder");
        release("holder");
        pass(1);
        assertThat(got).containsOnlyKeys("kept", "small");
        assertThat(failed).isEmpty();
    }

    @Test
    void aRequestRefusedByTheSystemAgainAndAgainFailsAfterTheUsualPatience() {
        keepOneOfTwenty();
        ask(call("large"), "large", 30 * HALF);
        ask(call("larger"), "larger", 40 * HALF);
        pass(DeadlockDetector.CONFIRM_NANOS);
        assertThat(failed).as("looked at once").isEmpty();
        pass(DeadlockDetector.CONFIRM_NANOS);
        assertThat(failed).containsOnlyKeys("large");
        assertThat(failed.get("large"))
                .hasMessageContaining("the system refused 1920 bytes")
                .hasMessageContaining("it may fit once other processes have ended")
                .hasMessageContaining("lower the limit")
                .satisfies(e -> assertThat(e.detail(NeverFits.class))
                        .as("the system may have more another time")
                        .isEmpty());
        pass(LONG);
        assertThat(failed).containsOnlyKeys("large", "larger");
    }

    @Test
    void aRequestRefusedByTheSystemIsGrantedOnceTheSystemHasMore() {
        slabs.system = 20 * HALF;
        ask(call("runs"), "runs", HALF);
        ask(call("large"), "large", 30 * HALF);
        pass(LONG);
        assertThat(failed).as("running work may release something").isEmpty();
        slabs.system = 31 * HALF;
        pass(DeadlockDetector.CONFIRM_NANOS + 1);
        assertThat(got).containsKey("large");
    }

    @Test
    void aDeadlockInMemoryOfTheSystemIsResolvedForTheOlder() {
        slabs.system = 20 * HALF;
        MemoryHolder a = ask(call("a"), "a", 10 * HALF);
        MemoryHolder b = ask(call("b"), "b", 10 * HALF);
        ask(a, "more for a", 10 * HALF);
        ask(b, "more for b", 10 * HALF);
        pass(2 * DeadlockDetector.CONFIRM_NANOS);
        assertThat(failed).containsOnlyKeys("more for b");
        assertThat(failed.get("more for b"))
                .hasMessageContaining("is given up for an older request")
                .hasMessageContaining("the system refused 640 bytes; it fits once others have ended");
        release("b");
        pass(1);
        assertThat(got).containsKey("more for a");
    }

    @Test
    void allRequestsRefusedByTheSystemAreTriedAgainAtALook() {
        slabs.system = 20 * HALF;
        ask(call("runs"), "runs", HALF);
        for (int i = 0; i < 5; i++) {
            ask(call("waits"), "waits " + i, (30 - i) * HALF);
        }
        int asked = slabs.asked;
        pass(10 * DeadlockDetector.CONFIRM_NANOS);
        assertThat(slabs.asked - asked).as("each once").isEqualTo(5 * 10);
        slabs.system = 28 * HALF;
        pass(DeadlockDetector.CONFIRM_NANOS);
        assertThat(got).containsOnlyKeys("runs", "waits 3");
    }

    @Test
    void smallerRequestsDoNotOvertakeARequestRefusedForEver() {
        slabs.system = 20 * HALF;
        busy = true;
        ask(call("small"), "small 0", 8 * HALF);
        ask(call("large"), "large", 15 * HALF);
        int overtakings = 0;
        while (!got.containsKey("large")) {
            assertThat(overtakings).isLessThanOrEqualTo(2 * Turns.OVERTAKINGS);
            ask(call("small"), "small " + (overtakings + 1), 8 * HALF);
            pass(1);
            release("small " + overtakings++);
            pass(1);
        }
        assertThat(failed).isEmpty();
    }

    @Test
    void aRefusalOlderThanTheEndOfWorkProvesNothing() {
        keepOneOfTwenty();
        ask(call("holder"), "holder", 19 * HALF);
        ask(call("large"), "large", 40 * HALF);
        slabs.acquired = () -> {
            slabs.system = 30 * HALF;
            set.idle();
        };
        ask(call("small"), "small", 10 * HALF);
        pass(1);
        assertThat(got).containsOnlyKeys("kept", "holder", "small");
    }

    private PoolSet shared() {
        return builder(1000 * HALF)
                .pool(PoolOptions.tlsf("shared", 10 * HALF, 10 * HALF).withSizes(0, 5 * HALF))
                .pool(PoolOptions.passThrough("p"))
                .delayed(this::after)
                .build();
    }

    @Test
    void aSharedPoolGetsTheNeedOfARequestIfTheSystemLacksASlabOfTheUsualSize() {
        PoolSet shared = shared();
        slabs.system = 8 * HALF;
        assertThat(shared.tryReserve(ReservationRequest.of(3 * HALF))).isNotNull();
        assertThat(slabs.asked).as("for the usual slab, and for less").isEqualTo(2);
        assertThat(slabs.bytesOut).isEqualTo(3 * HALF);
        ask(shared, "two", 2 * HALF);
        ask(shared, "five", 5 * HALF);
        assertThat(got).containsOnlyKeys("two");
        slabs.system = 20 * HALF;
        shared.idle();
        assertThat(got).containsOnlyKeys("two", "five");
        assertThat(slabs.bytesOut).as("of the usual size again").isEqualTo(15 * HALF);
    }

    @Test
    void aRequestInLineGetsItsNeedLikewise() {
        PoolSet shared = shared();
        slabs.system = 20 * HALF;
        ask(shared, "holder", 20 * HALF);
        ask(shared, "three", 3 * HALF);
        ask(shared, "five", 5 * HALF);
        ask(shared, "empty", 0);
        slabs.system = 4 * HALF; // others have taken the rest meanwhile
        release("holder");
        assertThat(got).containsOnlyKeys("three", "empty");
        assertThat(failed).isEmpty();
        assertThat(slabs.bytesOut).isEqualTo(4 * HALF);
        release("three");
        release("empty");
        assertThat(failed).as("nothing is live, and nothing will come").containsOnlyKeys("five");
    }

    @Test
    void memoryOfAnotherKindIsNotKnownToHelp() {
        PoolSet kinds = builder(1000 * HALF)
                .pool(PoolOptions.passThrough("p").withMemory(1, 0))
                .pool(PoolOptions.passThrough("other").withMemory(2, 0))
                .delayed(this::after)
                .build();
        slabs.system = 20 * HALF;
        MemoryHolder a = call("a");
        MemoryHolder b = call("b");
        take(kinds, a, "a", 1);
        take(kinds, b, "b", 2);
        take(kinds, a, "more for a", 1);
        take(kinds, b, "more for b", 1);
        pass(2 * DeadlockDetector.CONFIRM_NANOS);
        assertThat(failed).as("the end of b is not known to help a").containsOnlyKeys("more for a");
    }

    private void take(PoolSet kinds, MemoryHolder call, String name, int kind) {
        MemoryHolder before = call.enter();
        kinds.reserve(ReservationRequest.of(10 * HALF).withMemory(kind, 0), (reservation, failure) -> {
            if (reservation != null) {
                got.put(name, reservation);
            } else {
                failed.put(name, failure);
            }
        });
        call.leave(before);
    }
}
