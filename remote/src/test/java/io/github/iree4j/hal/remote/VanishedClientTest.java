package io.github.iree4j.hal.remote;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.frontier.CausalDomain;
import io.github.iree4j.hal.SchedulingDomain;
import io.github.iree4j.hal.remote.Loopback.Link;
import io.github.iree4j.hal.schedule.QueueOperation;
import io.github.iree4j.hal.virtual.VirtualClock;
import io.github.iree4j.hal.virtual.VirtualDevice;
import io.github.iree4j.hal.virtual.VirtualScript;
import io.github.iree4j.status.IreeException;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A client that makes a node do much in a single command, on a device with a clock of the test. */
@Timeout(60)
class VanishedClientTest {
    private static final int STEPS = 1000;
    private static final long MEMORY = 1 << 20;

    private final TestNodes nodes = new TestNodes();
    private final Loopback loopback = new Loopback(1);
    private final VirtualClock clock = VirtualClock.stepped();
    private final AtomicInteger begun = new AtomicInteger();
    private final RemoteNode one = nodes.node(1);
    private final RemoteNode three = nodes.node(3);
    private final VirtualDevice device;
    private final RemoteNode two;

    VanishedClientTest() {
        NodeIdentity identity = new NodeIdentity(TestNodes.CLUSTER, 2, 1, 2);
        SchedulingDomain domain = TestNodes.domain(identity);
        device = VirtualDevice.builder()
                .clock(clock)
                .schedulingDomain(domain)
                .fifoQueues(1)
                .script(new VirtualScript() {
                    @Override
                    public void starts(int queue, long number, QueueOperation operation, int lane) {
                        begun.incrementAndGet();
                    }
                })
                .build();
        two = RemoteNode.builder(identity, domain)
                .device(device)
                .options(new RemoteOptions(256 << 10, 1024, MEMORY * 3 / 2, 1 << 16, 1 << 20, 4 << 20))
                .build();
    }

    @AfterEach
    void close() {
        clock.runUntilIdle();
        two.close();
        device.close();
        nodes.close();
    }

    private static void allocate(RemoteSession client, long handle) {
        client.client().allocate(0, handle, MEMORY, GrantKey.create());
    }

    /** Makes node 2 run all steps; the first has begun; returns the connection. */
    private Link submit() {
        Link link = loopback.connect(one, two);
        loopback.run();
        RemoteSession client = one.session(2);
        long lane = one.domain().axes().allocate(CausalDomain.QUEUE);
        client.post(new FrameWriter(FrameType.OPEN_LANE).u64(lane).u16(0).u16(0));
        allocate(client, 1);
        FrameWriter command = new FrameWriter(FrameType.COMMAND)
                .u64(lane)
                .u64(1)
                .u64(7)
                .u16(0) // no trace
                .u8(0) // no waits
                .u16(STEPS);
        for (int step = 0; step < STEPS; step++) {
            command.u8(Step.FILL).u64(1).u64(0).u64(MEMORY).u64(1).u8(1);
        }
        client.post(command);
        loopback.run();
        while (begun.get() == 0) {
            assertThat(clock.step()).isTrue();
        }
        return link;
    }

    private @Nullable IreeException failureOfMemory(long handle) {
        allocate(three.session(2), handle);
        loopback.run();
        ServerObject object = two.session(3).server().objects().find(handle);
        IreeException failure = object.failure();
        object.release();
        return failure;
    }

    @Test
    void aCommandOfManyStepsRunsAllSteps() {
        submit();
        clock.runUntilIdle();
        assertThat(begun).hasValue(STEPS);
        assertThat(two.session(1).servedLanes())
                .singleElement()
                .satisfies(lane -> assertThat(lane.completed()).isEqualTo(7));
        assertThat(two.session(1).statistics().commandsOfPeer()).isZero();
    }

    @Test
    void stepsNotBegunEndWithTheSession() {
        loopback.cut(submit());
        loopback.run();
        int before = begun.get();
        clock.runUntilIdle();
        assertThat(begun.get() - before).isLessThan(ServerCommand.STEPS_AHEAD);
        assertThat(device.allocator().statistics().bytesLive()).isZero();
    }

    @Test
    void memoryInUseByWorkOfALostPeerCountsAgainstTheLimitOfOthers() {
        Link link = submit();
        loopback.connect(two, three);
        loopback.run();
        assertThat(failureOfMemory(1)).as("limits are per peer").isNull();
        three.session(2).post(new FrameWriter(FrameType.RELEASE).u64(1));
        loopback.cut(link);
        loopback.run();
        assertThat(failureOfMemory(2))
                .hasMessageContaining("%d bytes that one peer may have".formatted(MEMORY * 3 / 2))
                .hasMessageContaining("lost peers, which has not ended, has %d of them".formatted(MEMORY));
        clock.runUntilIdle();
        assertThat(failureOfMemory(3)).as("what ran has ended").isNull();
    }

    @Test
    void memoryHeldByACommandCountsAfterItsRelease() {
        submit();
        RemoteSession client = one.session(2);
        client.post(new FrameWriter(FrameType.RELEASE).u64(1));
        allocate(client, 2);
        loopback.run();
        ServerObject refused = two.session(1).server().objects().find(2);
        assertThat(refused.failure()).hasMessageContaining("that one peer may have");
        refused.release();
    }
}
