package io.github.iree4j.hal.remote;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.frontier.CausalDomain;
import io.github.iree4j.hal.ExecutableParams;
import io.github.iree4j.hal.remote.Loopback.Link;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A client that acts in the moment of learning: the server's frame is true by then. */
@Timeout(60)
class ToldClientTest {
    private static final RemoteOptions ONE_COMMAND = new RemoteOptions(1024, 1, 1 << 20, 100, 1 << 20, 4096);

    private final TestNodes nodes = new TestNodes();
    private final Loopback loopback = new Loopback(1);
    private final RemoteNode client = nodes.node(1);
    private final RemoteNode server = nodes.node(2, ONE_COMMAND);
    private final Link link = loopback.connect(client, server);

    @AfterEach
    void close() {
        nodes.close();
    }

    private static boolean is(FrameType type, byte[] frame) {
        return frame[0] == type.number;
    }

    private RemoteSession session() {
        return Objects.requireNonNull(server.session(1));
    }

    private FrameWriter command(long lane, long number) {
        return new FrameWriter(FrameType.COMMAND)
                .u64(lane)
                .u64(number)
                .u64(number)
                .u16(0) // no trace
                .u8(0) // no waits
                .u16(0); // no steps
    }

    @Test
    void theNextCommandOfAFullWindowMayComeBeforeTheServerHasFinishedWithTheLast() throws InterruptedException {
        loopback.run();
        long lane = client.domain().axes().allocate(CausalDomain.QUEUE);
        RemoteSession here = client.session(2);
        here.post(new FrameWriter(FrameType.OPEN_LANE).u64(lane).u16(0).u16(0));
        loopback.run();
        here.post(command(lane, 1));
        here.post(command(lane, 2));
        byte[] first = link.take(PeerStream.QUEUE);
        byte[] second = link.take(PeerStream.QUEUE);
        PeerListener receiver = Objects.requireNonNull(link.receiver);
        AtomicReference<@Nullable Thread> next = new AtomicReference<>();
        Objects.requireNonNull(link.back)
                .change(
                        frame -> { // as sent
                            if (is(FrameType.COMPLETED, frame) && next.get() == null) {
                                Thread thread = Thread.ofPlatform()
                                        .start(() -> receiver.received(PeerStream.QUEUE, ByteBuffer.wrap(second)));
                                next.set(thread);
                                while (session().statistics().commandsOfPeer() < 2
                                        && session().failure() == null) {
                                    Thread.onSpinWait();
                                }
                            }
                            return frame;
                        });
        receiver.received(PeerStream.QUEUE, ByteBuffer.wrap(first));
        Objects.requireNonNull(next.get()).join();
        loopback.run();
        assertThat(session().failure()).isNull();
        assertThat(session().servedLanes())
                .singleElement()
                .satisfies(each -> assertThat(each.completed()).isEqualTo(2));
        assertThat(session().statistics().commandsOfPeer()).isZero();
    }

    @Test
    void codeIsThereOrRefusedBeforeTheClientLearnsSo() {
        loopback.run();
        AtomicBoolean settled = new AtomicBoolean();
        Objects.requireNonNull(link.back).change(frame -> {
            if (is(FrameType.LOADED, frame)) {
                ServerObject object = session().server().objects().find(1);
                settled.set(object.isSettledOrThen(() -> {}));
                object.release();
            }
            return frame;
        });
        MemorySegment code = MemorySegment.ofArray(new byte[3000]);
        RemoteClient.Load load =
                client.session(2).client().load(0, 1, new ExecutableParams("unknown", code, null, new int[0]));
        loopback.run();
        assertThat(load.exports()).isCompletedExceptionally();
        assertThat(settled).isTrue();
    }

    @Test
    void aClientCancellingALoadOfCodeLeavesNothingAndKeepsTheSession() {
        loopback.run();
        for (int late = 0; late < 12; late++) { // frames delivered before giving up
            RemoteClient of = client.session(2).client();
            long handle = client.handle();
            byte[] code = new byte[5000 + late];
            RemoteClient.Load load =
                    of.load(0, handle, new ExecutableParams("unknown", MemorySegment.ofArray(code), null, new int[0]));
            for (int frame = 0; frame < late; frame++) {
                loopback.step();
            }
            of.release(handle);
            client.session(2).transfers().withdraw(load.transfer());
            loopback.run();
            assertThat(load.exports()).as("after %d frames", late).isCompletedExceptionally();
            assertThat(session().failure()).isNull();
            assertThat(session().transfers().count())
                    .as("after %d frames", late)
                    .isZero();
            assertThat(session().server().objects().hosted()).isZero();
        }
    }
}
