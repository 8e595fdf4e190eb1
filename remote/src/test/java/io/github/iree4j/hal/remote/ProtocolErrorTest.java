package io.github.iree4j.hal.remote;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.async.Fence;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.BufferParams;
import io.github.iree4j.hal.BufferUsage;
import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.MemoryType;
import io.github.iree4j.hal.remote.Loopback.Link;
import io.github.iree4j.hal.spi.DeviceOptions;
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
 * Node 2 breaks the protocol, and node 1 fails node 2. Who only waited for node 2 has broken nothing, and learns of a node that is not there;
 * who uses node 2 learns of the error.
 */
@Timeout(60)
class ProtocolErrorTest {
    private final TestNodes nodes = new TestNodes();
    private final Loopback loopback = new Loopback(1);
    private final RemoteNode client = nodes.node(1);
    private final RemoteNode second = nodes.node(2);
    private final RemoteNode third = nodes.node(3);
    private final Link toSecond = loopback.connect(client, second);
    private final List<AutoCloseable> opened = new ArrayList<>();
    private TimelineSemaphore own;
    private RemoteSession session;

    @BeforeEach
    void submit() {
        loopback.connect(client, third);
        loopback.connect(second, third);
        loopback.run();
        session = client.session(2);
        toSecond.hold(PeerStream.QUEUE, true);
        own = fill(far(2), null);
    }

    @AfterEach
    void close() throws Exception {
        loopback.start(); // devices wait for their work
        for (AutoCloseable each : opened.reversed()) {
            each.close();
        }
        nodes.close();
        loopback.stop();
    }

    private Device far(int node) {
        RemoteSession to = client.session(node);
        DeviceOptions options =
                DeviceOptions.builder().schedulingDomain(client.domain()).build();
        Device device = to.openDevice(to.devices().getFirst().id(), options);
        opened.add(device);
        return device;
    }

    private TimelineSemaphore semaphore() {
        TimelineSemaphore made = TimelineSemaphore.create(0);
        opened.add(made);
        return made;
    }

    private TimelineSemaphore fill(Device device, @Nullable TimelineSemaphore after) {
        Buffer buffer = device.allocator().allocate(new BufferParams(MemoryType.DEVICE_LOCAL, BufferUsage.DEFAULT), 64);
        opened.add(buffer);
        TimelineSemaphore done = semaphore();
        try (Fence wait = after == null ? null : Fence.at(after, 1);
                Fence signal = Fence.at(done, 1)) {
            device.queue(0).fill(wait, signal, buffer, 0, 64, 1, 1, 0);
        }
        return done;
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

    /** A failure that names the lost node and the error, and says that it is not the waiter's. */
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
    void aThirdNodeIsToldOfANodeThatIsNotThere() {
        fill(far(3), own);
        loopback.run();
        List<@Nullable IreeException> answers = answers();
        breakTheProtocol();
        failure(own);
        assertThat(answers).singleElement().satisfies(each -> assertIsOfAnotherNode(Objects.requireNonNull(each)));
    }

    @Test
    void anOperationBehindASemaphoreOfTheNodeFailsForANodeThatIsNotThere() {
        SemaphoreExport export = second.export(semaphore());
        opened.add(export);
        TimelineSemaphore proxy = session.semaphore(export.id(), 1);
        opened.add(proxy);
        TimelineSemaphore waiting = fill(far(3), proxy);
        loopback.run();
        breakTheProtocol();
        IreeException failure = failure(waiting);
        assertIsOfAnotherNode(failure);
        assertThat(failure(proxy)).satisfies(this::assertIsCausedByTheError);
    }

    @Test
    void aWaitForATimelineOfTheNodeFailsForANodeThatIsNotThere() {
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

    /** A node that is gone, was cut off or has stopped is named as such already; only a third node has not stopped anything. */
    @ParameterizedTest
    @EnumSource(
            value = StatusCode.class,
            names = {"UNAVAILABLE", "ABORTED", "CANCELLED"})
    void anEndOfAnotherKindKeepsItsStatusHere(StatusCode code) {
        fill(far(3), own);
        loopback.run();
        List<@Nullable IreeException> answers = answers();
        TimelineSemaphore proxy = session.semaphore(1, 1);
        opened.add(proxy);
        client.fail(2, IreeException.of(code, "by the test"));
        failure(own);
        assertThat(failure(proxy).code()).isEqualTo(code);
        assertThat(answers)
                .singleElement()
                .satisfies(
                        each -> assertThat(Objects.requireNonNull(each).code()).isEqualTo(StatusCode.UNAVAILABLE));
    }
}
