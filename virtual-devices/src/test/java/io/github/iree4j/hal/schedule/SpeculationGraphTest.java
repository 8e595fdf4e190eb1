package io.github.iree4j.hal.schedule;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.async.Fence;
import io.github.iree4j.async.FrontierTracker;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.frontier.AxisAllocator;
import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.hal.SchedulingDomain;
import io.github.iree4j.hal.virtual.VirtualDevice;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The epochs of the draft below each operation, and the verified epochs; operations end when the test says so. */
class SpeculationGraphTest {
    private static final IreeException REJECTED = IreeException.of(StatusCode.CANCELLED, "rejected");

    private final FrontierTracker tracker = FrontierTracker.create();
    private final SchedulingDomain domain =
            SchedulingDomain.create(AxisAllocator.create(9, 0), tracker, Frontier.DEFAULT_CAPACITY);
    private final VirtualDevice device = VirtualDevice.builder().build();
    private final QueueScheduler draft = queue();
    private final QueueScheduler verifier = queue();
    private final QueueScheduler other = queue();
    private final List<Step> steps = new ArrayList<>();
    private SpeculationGraph graph = graph(true);

    @AfterEach
    void close() {
        device.close();
        tracker.close();
    }

    private QueueScheduler queue() {
        return QueueScheduler.create(domain, device, device, (UnorderedBackend) operation -> {});
    }

    private SpeculationGraph graph(boolean ordered) {
        return new SpeculationGraph(tracker, draft.axis(), verifier.axis(), ordered);
    }

    private static Fence.Entry at(TimelineSemaphore timeline, long value) {
        return new Fence.Entry(timeline, value);
    }

    /** An operation and its signals. */
    private final class Step {
        final Nothing operation = new Nothing();
        final QueueScheduler queue;
        final Fence.Entry done;

        Step(QueueScheduler queue, Fence.Entry done, List<Fence.Entry> waits) {
            this.queue = queue;
            this.done = done;
            graph.add(queue, operation, waits, List.of(done));
            steps.add(this);
        }

        /** The operation is on its queue. */
        Step issued(long epoch) {
            operation.setFrontierRelease(Frontier.producedBy(queue.axis(), epoch));
            return this;
        }

        Step over(long epoch) {
            issued(epoch);
            graph.over(operation, false, 0);
            return this;
        }
    }

    private Step run(QueueScheduler queue, Fence.Entry... waits) {
        return signal(queue, at(TimelineSemaphore.create(0), 1), waits);
    }

    private Step signal(QueueScheduler queue, Fence.Entry done, Fence.Entry... waits) {
        return new Step(queue, done, List.of(waits));
    }

    /** The condemned steps, by number. */
    private List<Integer> condemned(long from) {
        graph.condemn(from, REJECTED);
        graph.takeReady();
        List<SpeculationGraph.Node> all = graph.nodes();
        List<Integer> numbers = new ArrayList<>();
        for (int i = 0; i < steps.size(); i++) {
            QueueOperation operation = steps.get(i).operation;
            if (all.stream().anyMatch(node -> node.operation == operation && node.condemned != null)) {
                numbers.add(i);
            }
        }
        return numbers;
    }

    private List<Integer> ready() {
        List<SpeculationGraph.Node> ready = graph.takeReady();
        List<Integer> numbers = new ArrayList<>();
        for (int i = 0; i < steps.size(); i++) {
            QueueOperation operation = steps.get(i).operation;
            if (ready.stream().anyMatch(node -> node.operation == operation)) {
                numbers.add(i);
            }
        }
        return numbers;
    }

    @Test
    void aLateWaiterStandsOnTheLowestSignalAtOrAboveItsValue() {
        TimelineSemaphore tokens = TimelineSemaphore.create(0);
        signal(draft, at(tokens, 1)).issued(1);
        signal(draft, at(tokens, 3)).issued(2);
        signal(draft, at(tokens, 5)).issued(3);
        run(other, at(tokens, 2));
        run(other, at(tokens, 1));
        run(other, at(tokens, 4));
        assertThat(condemned(2)).containsExactly(1, 2, 3, 5);
    }

    @Test
    void aLateWaiterForEndedWorkStandsOnThatSignalToo() {
        TimelineSemaphore tokens = TimelineSemaphore.create(0);
        signal(draft, at(tokens, 1)).over(1);
        signal(draft, at(tokens, 3)).over(2);
        signal(draft, at(tokens, 5)).over(3);
        run(other, at(tokens, 2));
        run(other, at(tokens, 1));
        assertThat(condemned(2)).containsExactly(3);
    }

    @Test
    void workEndedBeforeItsProducerEndedForUsStandsOnTheProducer() {
        Step guess = run(draft).issued(1);
        Step user = run(other, guess.done);
        user.over(1); // woken by the signal, on the signalling thread
        guess.over(1);
        run(other, user.done);
        assertThat(condemned(1)).containsExactly(2);
    }

    @Test
    void workBehindVerifiedWorkOnTheDraftsStreamIsVerified() {
        Step guess = run(draft).over(1);
        Step verified = run(verifier, guess.done).over(1);
        run(draft, verified.done).over(2);
        run(draft).issued(3);
        run(draft);
        assertThat(condemned(1)).isEmpty();
    }

    @Test
    void issuedWorkHandsOnVerificationAndUnissuedWorkDoesNot() {
        Step guess = run(draft).over(1);
        Step verified = run(verifier, guess.done).over(1);
        run(draft, verified.done).issued(2);
        run(draft).issued(3);
        assertThat(condemned(1)).isEmpty();
        graph = graph(true);
        steps.clear();
        guess = run(draft).over(1);
        verified = run(verifier, guess.done);
        run(draft, verified.done);
        run(draft, at(TimelineSemaphore.create(0), 1));
        assertThat(condemned(1)).as("perhaps run before the other").containsExactly(3);
    }

    @Test
    void anUnorderedDraftHandsOnNothing() {
        graph = graph(false);
        Step guess = run(draft).over(1);
        Step verified = run(verifier, guess.done).over(1);
        run(draft, verified.done).over(2);
        Step beside = run(draft, guess.done).over(3);
        run(other, beside.done);
        run(draft);
        assertThat(condemned(1)).containsExactly(4);
    }

    @Test
    void aForeignSignalIsVerifiedUpToTheVerifiersEpochInItsKnowledge() {
        TimelineSemaphore host = TimelineSemaphore.create(0);
        Step five = null;
        for (int epoch = 1; epoch <= 6; epoch++) {
            Step guess = run(draft).over(epoch);
            five = epoch == 5 ? guess : five;
        }
        run(verifier, at(five.done.semaphore(), 1)).over(3);
        run(verifier, at(steps.get(5).done.semaphore(), 1)).over(4);
        host.signal(1, Frontier.of(draft.axis(), 5).merge(Frontier.of(verifier.axis(), 3)));
        host.signal(2, Frontier.of(draft.axis(), 6).merge(Frontier.of(verifier.axis(), 3)));
        host.signal(3, Frontier.of(draft.axis(), 5).merge(Frontier.of(verifier.axis(), 2)));
        host.signal(4, Frontier.of(draft.axis(), 6).merge(Frontier.of(verifier.axis(), 4)));
        graph.forget(4);
        for (int value = 1; value <= 4; value++) {
            run(other, at(host, value));
        }
        assertThat(condemned(6)).as("only the last is verified").containsExactly(9);
        assertThat(condemned(5))
                .as("the third was signalled before the verification")
                .containsExactly(9, 10);
    }

    @Test
    void workToBeIssuedComesAfterAllEpochs() {
        tracker.advance(draft.axis(), 7); // before the scope was opened
        run(draft);
        assertThat(condemned(8)).containsExactly(0);
        run(draft).issued(11);
        run(draft);
        assertThat(condemned(12)).containsExactly(0, 2);
    }

    @Test
    void workFailingByItselfNeedNotComeFirst() {
        TimelineSemaphore tokens = TimelineSemaphore.create(0);
        signal(draft, at(tokens, 1)).issued(1);
        signal(draft, at(tokens, 2)).issued(2);
        graph.condemn(1, REJECTED);
        assertThat(ready()).containsExactly(0, 1);
    }

    @Test
    void aValueOfSeveralSignallersDoesNotComeBeforeItself() {
        TimelineSemaphore both = TimelineSemaphore.create(0);
        signal(draft, at(both, 1)).issued(1);
        signal(other, at(both, 1));
        graph.condemn(1, REJECTED);
        assertThat(ready()).containsExactly(0);
    }

    @Test
    void workFailingBehindOthersHoldsThemBackHoweverSubmitted() {
        TimelineSemaphore shared = TimelineSemaphore.create(0);
        TimelineSemaphore[] links = new TimelineSemaphore[4];
        for (int i = 0; i < links.length; i++) {
            links[i] = TimelineSemaphore.create(0);
        }
        Step survives = signal(other, at(shared, 1));
        Step guess = run(draft).issued(1);
        Step verified = signal(verifier, at(links[3], 1), guess.done); // signals the first link in the end
        assertThat(verified.done.value()).isEqualTo(1);
        // Each waits for the previous operation, submitted in mixed order; all are verified, so none is condemned
        // itself.
        signal(verifier, at(links[0], 1), guess.done);
        signal(verifier, at(links[2], 1), at(links[1], 1));
        signal(verifier, at(links[1], 1), at(links[0], 1));
        signal(verifier, at(shared, 2), at(links[2], 1));
        graph.condemn(1, REJECTED);
        assertThat(ready()).as("shared would fail before reaching 1").isEmpty();
        survives.over(1);
        assertThat(ready()).containsExactly(1);
    }

    @Test
    void endedAndAcceptedWorkIsForgotten() {
        TimelineSemaphore tokens = TimelineSemaphore.create(0);
        for (int value = 1; value <= 100; value++) {
            Step guess = signal(draft, at(tokens, value)).over(value);
            run(verifier, guess.done).over(value);
        }
        assertThat(graph.remembered()).isGreaterThanOrEqualTo(200);
        graph.forget(99);
        assertThat(graph.remembered()).as("the last guess and the verification").isLessThanOrEqualTo(3);
    }
}
