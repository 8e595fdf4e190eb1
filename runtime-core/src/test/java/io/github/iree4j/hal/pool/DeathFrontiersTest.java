package io.github.iree4j.hal.pool;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.async.FrontierTracker;
import io.github.iree4j.frontier.Axis;
import io.github.iree4j.frontier.CausalDomain;
import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.frontier.MutableFrontier;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * The time for reuse of blocks whose joined death frontiers have lost entries: not before the end of all users, and
 * then for certain.
 */
class DeathFrontiersTest {
    private static final IreeException LOST = IreeException.of(StatusCode.DATA_LOSS, "lost on purpose");

    private final FrontierTracker tracker = FrontierTracker.create();

    @AfterEach
    void close() {
        tracker.close();
    }

    private static long axis(int number) {
        return Axis.of(1, 0, CausalDomain.QUEUE, number);
    }

    /** The epoch {@code 1 + number} on each of these registered axes. */
    private Frontier users(int from, int to) {
        MutableFrontier all = new MutableFrontier(Frontier.MAXIMUM_CAPACITY);
        for (int i = from; i < to; i++) {
            tracker.register(axis(i));
            all.merge(Frontier.of(axis(i), 1 + i));
        }
        return all.snapshot();
    }

    @Test
    void aJoinWithTooManyEntriesIsNotOverBeforeItsLostPart() {
        DeathFrontiers deaths = new DeathFrontiers(tracker, Frontier.MAXIMUM_CAPACITY);
        Frontier joined = deaths.join(users(0, 200), users(200, 400));
        assertThat(joined).isNotNull();
        assertThat(joined.size()).isEqualTo(255);
        assertThat(joined.reaches(axis(0), 1).name()).isEqualTo("UNKNOWN");
        for (int i = 399; i >= 0; i--) {
            assertThat(deaths.isCompleted(joined))
                    .as("%d entries are not over", i + 1)
                    .isFalse();
            tracker.advance(axis(i), 1 + i);
        }
        assertThat(deaths.isCompleted(joined)).isTrue();
    }

    @Test
    void entriesOfAFailedQueueAreOverOnceItsWorkIsNotInFlight() {
        DeathFrontiers deaths = new DeathFrontiers(tracker, 2);
        Frontier joined = deaths.join(users(0, 2), users(2, 4));
        assertThat(joined).isNotNull();
        for (int failed : new int[] {0, 3}) { // lost by the join, and kept
            tracker.fail(axis(failed), LOST);
            tracker.quiesce(axis(failed), 1 + failed);
        }
        tracker.advance(axis(1), 2);
        assertThat(deaths.isCompleted(joined)).isFalse();
        tracker.advance(axis(2), 3);
        assertThat(deaths.isCompleted(joined)).isTrue();
        assertThat(deaths.isTainted(joined)).isFalse();
    }

    /** Each user waited for a semaphore of another domain, unknown to this tracker for ever. */
    @Test
    void workOfAnotherDomainAwaitedByUsersKeepsNoMemory() {
        for (int capacity : new int[] {1, 2, 12}) {
            DeathFrontiers deaths = new DeathFrontiers(tracker, capacity);
            long first = axis(2 * capacity);
            long second = axis(2 * capacity + 1);
            tracker.register(first);
            tracker.register(second);
            Frontier joined = deaths.join(user(first, 1_000), user(second, 1_001));
            tracker.advance(first, 1);
            assertThat(deaths.isCompleted(joined)).isFalse();
            tracker.advance(second, 1);
            assertThat(deaths.isCompleted(joined)).isTrue();
        }
    }

    private Frontier user(long axis, int other) {
        MutableFrontier waited = new MutableFrontier(12);
        waited.merge(Frontier.producedBy(axis(other), 5), tracker);
        return waited.produce(axis, 1, tracker);
    }

    @Test
    void theLostPastOfAnOperationOfAFailedQueueIsNeverKnownToBeOver() {
        DeathFrontiers deaths = new DeathFrontiers(tracker, 4);
        users(0, 3);
        Frontier lossy = Frontier.producedBy(axis(0), 1).tainted();
        Frontier joined = deaths.join(lossy, Frontier.of(axis(1), 2));
        assertThat(joined).isNotNull();
        assertThat(deaths.isNeverKnown(lossy)).as("it is in flight").isFalse();
        tracker.fail(axis(0), LOST);
        assertThat(deaths.isNeverKnown(joined)).as("it is in flight").isFalse();
        tracker.quiesce(axis(0), 1);
        assertThat(deaths.isNeverKnown(lossy)).isTrue();
        assertThat(deaths.isNeverKnown(joined))
                .as("the joined part is in flight")
                .isFalse();
        tracker.advance(axis(1), 2);
        assertThat(deaths.isCompleted(joined))
                .as("the awaited part may be in flight")
                .isFalse();
        assertThat(deaths.isTainted(joined)).isTrue();
        assertThat(deaths.isNeverKnown(joined)).isTrue();
        deaths.join(Frontier.producedBy(axis(2), 3).tainted(), Frontier.of(axis(1), 4));
        assertThat(deaths.isNeverKnown(joined))
                .as("an operation with losses is in flight, too")
                .isFalse();
        tracker.advance(axis(2), 3);
        assertThat(deaths.isNeverKnown(joined)).isTrue();
    }

    @Test
    void theLostPartOfAJoinWillBeKnownToBeOver() {
        DeathFrontiers deaths = new DeathFrontiers(tracker, 2);
        Frontier joined = deaths.join(users(0, 2), users(2, 4));
        assertThat(joined).isNotNull();
        for (int i = 3; i >= 0; i--) {
            assertThat(deaths.isNeverKnown(joined)).isFalse();
            tracker.advance(axis(i), 1 + i);
        }
        assertThat(deaths.isNeverKnown(joined)).as("it is over").isFalse();
    }
}
