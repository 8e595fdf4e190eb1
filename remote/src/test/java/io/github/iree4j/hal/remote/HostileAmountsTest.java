package io.github.iree4j.hal.remote;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.iree4j.frontier.CausalDomain;
import io.github.iree4j.hal.ExecutableParams;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Frames that take more memory than their bytes: many small frames, and frames with many small things inside. */
@Timeout(120)
class HostileAmountsTest {
    private static final RemoteOptions LITTLE = new RemoteOptions(256 << 10, 1024, 1 << 30, 1 << 16, 1 << 20, 4 << 20);
    private static final long HOST_LIMIT = 64L << 20; // for so little content
    private static final int MANY = 1 << 16;

    private final TestNodes nodes = new TestNodes();
    private final Loopback loopback = new Loopback(1);
    private final RemoteNode one = nodes.node(1);
    private final RemoteNode two = nodes.node(2, LITTLE);

    private RemoteSession client() {
        loopback.connect(one, two);
        loopback.run();
        return one.session(2);
    }

    @AfterEach
    void close() {
        nodes.close();
    }

    private static FrameWriter recording(long handle, int commands) {
        return new FrameWriter(FrameType.RECORD)
                .u64(handle)
                .u16(0) // device
                .u16(1) // slots
                .u32(commands)
                .bytes(new byte[commands]); // barriers
    }

    private static @Nullable IreeException failure(ServerObjects objects, long handle) {
        ServerObject object = objects.find(handle);
        try {
            return object.failure();
        } finally {
            object.release();
        }
    }

    @Test
    void recordingsOfAPeerAreLimited() {
        RemoteSession client = client();
        ServerObjects objects = two.session(1).server().objects();
        long each = MANY * (1L + RecordedCommands.COMMAND_BYTES);
        int fit = (int) (HOST_LIMIT / each);
        for (int handle = 1; handle <= fit + 2; handle++) {
            client.post(recording(handle, MANY));
            loopback.run();
        }
        assertThat(objects.hosted()).isBetween(fit * each, HOST_LIMIT);
        assertThat(failure(objects, fit)).isNull();
        assertThat(failure(objects, fit + 1))
                .hasMessageContaining("the %d bytes that one peer may have".formatted(HOST_LIMIT));
        assertThat(client.failure()).as("only the user of the id fails").isNull();
        client.post(new FrameWriter(FrameType.RELEASE).u64(1));
        client.post(recording(fit + 3, MANY));
        loopback.run();
        assertThat(failure(objects, fit + 3)).isNull();
    }

    @Test
    void announcedCodeTakesItsPlaceBeforeItArrives() {
        loopback.connect(one, two).hold(PeerStream.BULK, true);
        loopback.run();
        RemoteClient client = one.session(2).client();
        MemorySegment code = MemorySegment.ofArray(new byte[1 << 20]);
        ExecutableParams params = new ExecutableParams("no-such-format", code, null, new int[0]);
        List<RemoteClient.Load> loads = new ArrayList<>();
        for (int handle = 1; handle <= 65; handle++) {
            loads.add(client.load(0, handle, params));
            loopback.run();
        }
        assertThat(two.session(1).server().objects().hosted()).isEqualTo(HOST_LIMIT);
        assertThat(loads.get(63).exports()).isNotDone();
        assertThat(loads.get(64).exports())
                .failsWithin(Duration.ZERO)
                .withThrowableThat()
                .havingCause()
                .withMessageContaining("the %d bytes that one peer may have".formatted(HOST_LIMIT));
    }

    @Test
    void manyStepsOfCommandsInProgressEndTheSession() {
        RemoteSession client = client();
        long lane = one.domain().axes().allocate(CausalDomain.QUEUE);
        long never = one.domain().axes().allocate(CausalDomain.QUEUE);
        client.post(recording(1, 0));
        client.post(new FrameWriter(FrameType.OPEN_LANE).u64(lane).u16(0).u16(0));
        RemoteSession server = two.session(1);
        int sent = 0;
        while (server.failure() == null && sent < 1000) {
            sent++;
            FrameWriter command = new FrameWriter(FrameType.COMMAND)
                    .u64(lane)
                    .u64(sent)
                    .u64(sent)
                    .u16(0) // no trace
                    .u8(1)
                    .u64(2)
                    .u64(never)
                    .u64(1)
                    .u16(20_000);
            for (int step = 0; step < 20_000; step++) {
                command.u8(Step.EXECUTE).u64(1).u16(0);
            }
            client.post(command);
            loopback.run();
        }
        assertThat(server.failure().code()).isEqualTo(StatusCode.RESOURCE_EXHAUSTED);
        assertThat(sent).as("commands of 220 KB that take 2.8 MB each").isBetween(90, 100);
    }

    @Test
    void shortUnreadFramesCountWithTheMemoryTaken() {
        PeerConnection full = new PeerConnection() {
            @Override
            public boolean trySend(PeerStream stream, ByteBuffer head, ByteBuffer body) {
                return false;
            }

            @Override
            public void close(IreeException cause) {}

            @Override
            public String describe() {
                return "one that does not read";
            }
        };
        Outbox outbox = new Outbox(full, PeerStream.QUEUE, 1 << 20);
        int most = (int) (Outbox.HARD_LIMIT / 128); // 16 bytes each
        assertThatThrownBy(() -> {
                    for (int i = 0; i < most; i++) {
                        outbox.post(new FrameWriter(FrameType.PONG).u64(i));
                    }
                })
                .hasMessageContaining("that one that does not read does not read, the limit is " + Outbox.HARD_LIMIT);
        assertThat(outbox.waitingBytes()).isLessThan(Outbox.HARD_LIMIT / 8);
    }
}
