package io.github.iree4j.hal.pool;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Objects;
import org.junit.jupiter.api.Test;

/**
 * The hope given by a call whose fence is reached, in line at the gate for the rest of its need; the test advances the
 * clock.
 */
class DueCallsInDeadlocksTest extends DeadlockLine {

    /** A due call with its inputs, and another that needs more than admitted, of consumers with the same name. */
    private void due(PoolSet set, String consumer, long need) {
        MemoryHolder due = new MemoryHolder("due", new OperationsUnderWay());
        Admission right = Objects.requireNonNull(set.gate().tryAdmitAhead("", new KnownNeed(HALF, HALF / 4)));
        due.admitted(right);
        askAs(set, due, "due", consumer);
        MemoryHolder other = new MemoryHolder("other", new OperationsUnderWay());
        other.admitted(admitted(set, need));
        askAs(set, other, "other", consumer);
        right.due();
        assertThat(right.mayHold()).isFalse();
        askAs(set, other, "more for other", consumer);
    }

    private static Admission admitted(PoolSet set, long need) {
        return Objects.requireNonNull(set.gate().tryAdmit("", new KnownNeed(need, HALF / 4)));
    }

    @Test
    void aCallWaitingForTheRestOfItsNeedGivesNoHopeToItsObstacle() {
        due(halves().build(), "", 2 * HALF - HALF / 2);
        pass(2 * DeadlockDetector.CONFIRM_NANOS);
        assertThat(failed).containsOnlyKeys("more for other");
    }

    @Test
    void aCallWaitingForTheRestOfItsNeedGivesHopeWhileACallWithoutMemoryRuns() {
        PoolSet set = halves().build();
        Admission runs = admitted(set, 1);
        due(set, "", 2 * HALF - HALF / 2 - 8);
        pass(LONG);
        assertThat(failed).isEmpty();
        runs.exit();
        pass(LONG);
        assertThat(failed).containsOnlyKeys("more for other");
    }

    @Test
    void aCallWaitingForTheRestOfItsNeedGivesHopeWhileACallOfAnotherConsumerRuns() {
        PoolSet set = builder(4 * HALF)
                .pool(FakeSlabs.pieces("f", HALF))
                .quota("q", 2 * HALF)
                .delayed(this::after)
                .build();
        MemoryHolder runs = new MemoryHolder("runs", new OperationsUnderWay());
        runs.admitted(admitted(set, 3 * HALF));
        askFor(set, runs, "runs");
        due(set, "q", HALF / 2);
        pass(LONG);
        assertThat(failed).isEmpty();
    }
}
