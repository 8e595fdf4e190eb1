package io.github.iree4j.async;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.frontier.AxisAllocator;
import io.github.iree4j.frontier.CausalDomain;
import io.github.iree4j.frontier.CompletedEpochs;
import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.frontier.MutableFrontier;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** TRACK-5: when nothing of a frontier is in flight any more, even on failed axes. */
class QuietAxesTest {
    private static final IreeException LOST = IreeException.of(StatusCode.ABORTED, "device is lost");

    private final AxisAllocator allocator = AxisAllocator.create(7, 1);
    private final long first = allocator.allocate(CausalDomain.QUEUE);
    private final long second = allocator.allocate(CausalDomain.QUEUE);
    private final FrontierTracker tracker = FrontierTracker.create();
    private final List<String> calls = new ArrayList<>();

    @BeforeEach
    void register() {
        tracker.register(first);
        tracker.register(second);
    }

    @AfterEach
    void close() {
        tracker.close();
    }

    private void called(IreeException failure) {
        calls.add(failure == null ? "over" : failure.code().name());
    }

    private Frontier both(long firstEpoch, long secondEpoch) {
        return Frontier.of(first, firstEpoch).merge(Frontier.of(second, secondEpoch));
    }

    private Frontier produced(long axis, long epoch, Frontier waits) {
        MutableFrontier gathered = new MutableFrontier();
        gathered.merge(waits);
        return gathered.produce(axis, epoch, CompletedEpochs.NONE);
    }

    @Test
    void completedFrontiersAreOver() {
        assertThat(tracker.isComplete(Frontier.EMPTY)).isTrue();
        assertThat(tracker.isComplete(both(2, 1))).isFalse();
        tracker.advance(first, 2);
        assertThat(tracker.isComplete(both(2, 1))).as("the other is in flight").isFalse();
        tracker.advance(second, 1);
        assertThat(tracker.isComplete(both(2, 1))).isTrue();
        assertThat(tracker.isComplete(both(3, 1))).isFalse();
    }

    @Test
    void workOnAFailedAxisIsOverOnceTheAxisIsQuiet() {
        tracker.fail(first, LOST);
        assertThat(tracker.isComplete(Frontier.of(first, 2)))
                .as("may still be running")
                .isFalse();
        tracker.quiesce(first, 1);
        assertThat(tracker.isComplete(Frontier.of(first, 1))).isTrue();
        assertThat(tracker.isComplete(Frontier.of(first, 2))).isFalse();
        tracker.quiesce(first, 2);
        assertThat(tracker.isComplete(Frontier.of(first, 2))).isTrue();
        tracker.quiesce(first, 1);
        assertThat(tracker.isComplete(Frontier.of(first, 2)))
                .as("reported late")
                .isTrue();
        assertThat(tracker.completed(first)).as("quiet is not completed").isZero();
    }

    @Test
    void everyAxisMustBeQuiet() {
        tracker.fail(first, LOST);
        tracker.quiesce(first, 5);
        assertThat(tracker.isComplete(both(5, 1))).isFalse();
        assertThat(tracker.isComplete(produced(first, 5, Frontier.of(second, 1))))
                .as("a lost operation does not vouch for its dependencies")
                .isFalse();
        tracker.advance(second, 1);
        assertThat(tracker.isComplete(both(5, 1))).isTrue();
        assertThat(tracker.isComplete(produced(first, 5, Frontier.of(second, 1))))
                .isTrue();
    }

    @Test
    void theUnknownIsNotOver() {
        long unknown = allocator.allocate(CausalDomain.COLLECTIVE);
        assertThat(tracker.isComplete(Frontier.of(unknown, 1))).isFalse();
        tracker.fail(first, LOST);
        tracker.quiesce(first, 5);
        assertThat(tracker.isComplete(Frontier.of(first, 5).tainted())).isFalse();
        assertThat(tracker.isComplete(produced(first, 5, Frontier.UNKNOWN)))
                .as("its dependencies are incomplete")
                .isFalse();
        tracker.advance(second, 3);
        assertThat(tracker.isComplete(produced(second, 3, Frontier.UNKNOWN)))
                .as("its producer has completed")
                .isTrue();
    }

    @Test
    void aWaitForTheEndOutlastsFailures() {
        tracker.whenOver(both(2, 1), this::called);
        tracker.fail(first, LOST);
        assertThat(calls).isEmpty();
        tracker.quiesce(first, 1);
        assertThat(calls).isEmpty();
        tracker.quiesce(first, 2);
        assertThat(calls).as("the other is in flight").isEmpty();
        tracker.advance(second, 1);
        assertThat(calls).containsExactly("over");
    }

    @Test
    void aWaitForTheEndIsCalledOnceTheLastAxisIsQuiet() {
        tracker.whenOver(Frontier.of(first, 3), this::called);
        tracker.whenOver(Frontier.of(first, 2), this::called);
        tracker.fail(first, LOST);
        tracker.quiesce(first, 2);
        assertThat(calls).containsExactly("over");
        tracker.quiesce(first, 9);
        assertThat(calls).containsExactly("over", "over");
    }

    @Test
    void aWaitAfterTheFailureWaitsForQuietToo() {
        tracker.fail(first, LOST);
        tracker.whenOver(Frontier.of(first, 2), this::called);
        assertThat(calls).isEmpty();
        tracker.quiesce(first, 2);
        assertThat(calls).containsExactly("over");
        tracker.whenOver(Frontier.of(first, 2), this::called);
        assertThat(calls).containsExactly("over", "over");
    }

    @Test
    void quietDoesNotEndAWaitForCompletion() {
        tracker.quiesce(first, 1); // of an axis about to fail
        tracker.whenCompleted(Frontier.of(first, 1), this::called);
        tracker.quiesce(first, 2);
        assertThat(calls).isEmpty();
        tracker.fail(first, LOST);
        assertThat(calls).containsExactly("ABORTED");
    }

    @Test
    void retiringAnAxisEndsWaitsForLaterEpochs() {
        tracker.whenOver(Frontier.of(first, 2), this::called);
        tracker.retire(first);
        assertThat(calls).containsExactly("CANCELLED");
    }

    @Test
    void aLostOperationDoesNotVouchForItsDependencies() {
        Frontier lost = produced(first, 5, Frontier.of(second, 1));
        tracker.fail(first, LOST);
        tracker.whenOver(lost, this::called);
        tracker.quiesce(first, 5);
        assertThat(calls).isEmpty();
        tracker.advance(second, 1);
        assertThat(calls).containsExactly("over");
    }

    @Test
    void aLostOperationDoesNotVouchForItsDependenciesBeforeItsAxisFails() {
        Frontier lost = produced(first, 5, Frontier.of(second, 1));
        tracker.whenOver(lost, this::called);
        tracker.quiesce(first, 5); // its queue knows of the loss, the tracker not yet
        tracker.whenOver(lost, this::called);
        assertThat(calls).isEmpty();
        tracker.fail(first, LOST);
        assertThat(calls).isEmpty();
        tracker.advance(second, 1);
        assertThat(calls).containsExactly("over", "over");
    }

    @Test
    void theEndOfDependenciesForgottenByALostOperationIsUnknown() {
        Frontier lost = produced(first, 5, Frontier.of(second, 1).tainted());
        tracker.fail(first, LOST);
        tracker.advance(second, 1);
        tracker.quiesce(first, 5);
        tracker.whenOver(lost, this::called);
        assertThat(calls).containsExactly("CANCELLED");
    }
}
