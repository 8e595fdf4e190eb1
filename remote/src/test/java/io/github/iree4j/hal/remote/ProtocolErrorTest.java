package io.github.iree4j.hal.remote;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.hal.remote.Loopback.Link;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Node 2 breaks the protocol, and node 1 fails node 2. A node that only waited for node 2 has broken nothing, and
 * learns of a missing node; a user of node 2 learns of the error.
 */
@Timeout(60)
class ProtocolErrorTest {
    private final TestNodes nodes = new TestNodes();
    private final Loopback loopback = new Loopback(1);
    private final RemoteNode client = nodes.node(1);
    private final RemoteNode second = nodes.node(2);
    private final RemoteNode third = nodes.node(3);
    private final Link toSecond = loopback.connect(client, second);
    private final FarWork far = new FarWork(client);
    private TimelineSemaphore own;
    private RemoteSession session;

    @BeforeEach
    void submit() {
        loopback.connect(client, third);
        loopback.connect(second, third);
        loopback.run();
        session = client.session(2);
        toSecond.hold(PeerStream.QUEUE, true);
        own = far.fill(far.device(2, 0).queue(0), null);
    }

    @AfterEach
    void close() throws Exception {
        far.close(loopback, nodes);
    }

    private void breakTheProtocol() {
        Objects.requireNonNull(toSecond.back).change(frame -> {
            frame[4] += 5; // the number of the frame
            return frame;
        });
        second.session(1).measure();
        loopback.run();
        assertThat(Objects.requireNonNull(session.failure()).code()).isEqualTo(StatusCode.DATA_LOSS);
    }

    private IreeException failure(TimelineSemaphore of) {
        while (of.failure() == null) {
            loopback.run();
            assertThat(Thread.interrupted()).as("too late").isFalse();
        }
        return Objects.requireNonNull(of.failure());
    }

    /** A failure that names the lost node and the error, and clears the waiter of blame. */
    private static void assertIsOfAnotherNode(IreeException failure) {
        assertThat(failure.code()).as("%s", failure).isEqualTo(StatusCode.UNAVAILABLE);
        assertThat(failure).hasMessageContaining("node 2 (m2.s1)").hasMessageContaining("the transport lost");
    }

    private void assertIsCausedByTheError(Throwable failure) {
        assertThat(Stream.iterate(failure, Objects::nonNull, Throwable::getCause))
                .anyMatch(each -> each.equals(session.failure()));
    }

    private List<@Nullable IreeException> answers() {
        List<@Nullable IreeException> answers = new ArrayList<>();
        session.lanes().forEach(lane -> client.lanes().whenReached(lane.axis(), 1, answers::add));
        return answers;
    }

    @Test
    void aThirdNodeLearnsOfAMissingNode() {
        far.fill(far.device(3, 0).queue(0), own);
        loopback.run();
        List<@Nullable IreeException> answers = answers();
        breakTheProtocol();
        failure(own);
        assertThat(answers).singleElement().satisfies(each -> assertIsOfAnotherNode(Objects.requireNonNull(each)));
    }

    @Test
    void anOperationBehindASemaphoreOfTheNodeFailsForAMissingNode() {
        SemaphoreExport export = far.opened(second.export(far.semaphore()));
        TimelineSemaphore proxy = far.opened(session.semaphore(export.id(), 1));
        TimelineSemaphore waiting = far.fill(far.device(3, 0).queue(0), proxy);
        loopback.run();
        breakTheProtocol();
        IreeException failure = failure(waiting);
        assertIsOfAnotherNode(failure);
        assertThat(failure(proxy)).satisfies(this::assertIsCausedByTheError);
    }

    @Test
    void aWaitForATimelineOfTheNodeFailsForAMissingNode() {
        List<IreeException> failures = new ArrayList<>();
        long axis = session.axes().getFirst();
        client.domain().tracker().whenCompleted(Frontier.of(axis, 1L << 40), failures::add);
        breakTheProtocol();
        assertThat(failures).singleElement().satisfies(each -> {
            assertIsOfAnotherNode(each);
            assertThat(each).satisfies(this::assertIsCausedByTheError);
        });
    }

    @Test
    void anOperationOnTheNodeFailsWithTheError() {
        loopback.run();
        breakTheProtocol();
        assertThat(failure(own)).satisfies(this::assertIsCausedByTheError);
        assertThat(failure(own).code()).isEqualTo(StatusCode.ABORTED);
    }

    /** A node that is gone, cut off or stopped is named as such already; only a third node has not stopped anything. */
    @ParameterizedTest
    @EnumSource(
            value = StatusCode.class,
            names = {"UNAVAILABLE", "ABORTED", "CANCELLED"})
    void anEndOfAnotherKindKeepsItsStatusHere(StatusCode code) {
        far.fill(far.device(3, 0).queue(0), own);
        loopback.run();
        List<@Nullable IreeException> answers = answers();
        TimelineSemaphore proxy = far.opened(session.semaphore(1, 1));
        client.fail(2, IreeException.of(code, "by the test"));
        failure(own);
        assertThat(failure(proxy).code()).isEqualTo(code);
        assertThat(answers)
                .singleElement()
                .satisfies(
                        each -> assertThat(Objects.requireNonNull(each).code()).isEqualTo(StatusCode.UNAVAILABLE));
    }
}
