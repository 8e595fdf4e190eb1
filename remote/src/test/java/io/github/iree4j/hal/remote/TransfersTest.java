package io.github.iree4j.hal.remote;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** REMOTE-3: bytes arrive in order and whole, and nothing is written after the end was reported. */
class TransfersTest {
    private static final RemoteOptions SMALL = new RemoteOptions(1024, 16, 1 << 20, 100, 1 << 20, 4096);

    private final TestNodes nodes = new TestNodes();
    private final RemoteNode sender = nodes.node(1, SMALL);
    private final RemoteNode receiver = nodes.node(2, SMALL);
    private final List<@Nullable IreeException> ends = new ArrayList<>();
    private Loopback loopback = new Loopback(1);

    @AfterEach
    void closeAll() {
        nodes.close();
    }

    private void open(long seed) {
        loopback = new Loopback(seed).repeats(20);
        loopback.connect(sender, receiver);
        loopback.run();
        loopback.capacity(3);
    }

    @Test
    void chunksAreAsLargeAsBothSidesHaveRoomFor() {
        RemoteNode other = nodes.node(3, new RemoteOptions(8192, 16, 1 << 20, 100, 1 << 20, 4096));
        loopback.connect(sender, other);
        loopback.run();
        byte[] source = bytes(50_000, 9);
        for (RemoteNode giver : List.of(sender, other)) {
            RemoteSession gives = giver.session(giver.equals(sender) ? 3 : 1);
            RemoteSession takes = giver.equals(sender) ? other.session(1) : sender.session(3);
            byte[] target = new byte[source.length];
            long number = gives.transfers().next();
            gives.transfers().send(number, 0, MemorySegment.ofArray(source), 0, () -> null, _ -> {});
            takes.transfers().receive(number, 0, MemorySegment.ofArray(target), true, () -> null, ends::add);
            loopback.run();
            assertThat(gives.failure()).isNull();
            assertThat(target).isEqualTo(source);
        }
    }

    private Transfers from() {
        return sender.session(2).transfers();
    }

    private Transfers to() {
        return receiver.session(1).transfers();
    }

    private static byte[] bytes(int length, long seed) {
        byte[] bytes = new byte[length];
        new Random(seed).nextBytes(bytes);
        return bytes;
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5})
    void severalTransfersShareAFullStream(long seed) {
        open(seed);
        Random random = new Random(seed);
        List<byte[]> sent = new ArrayList<>();
        List<byte[]> received = new ArrayList<>();
        for (int i = 0; i < 10; i++) {
            byte[] source = bytes(random.nextInt(20_000), seed + i);
            byte[] target = new byte[source.length];
            sent.add(source);
            received.add(target);
            long number = from().next();
            from().send(number, 0, MemorySegment.ofArray(source), 0, () -> null, _ -> {});
            to().receive(number, 0, MemorySegment.ofArray(target), true, () -> null, ends::add);
        }
        loopback.run();
        assertThat(ends).hasSize(10).containsOnlyNulls();
        for (int i = 0; i < 10; i++) {
            assertThat(received.get(i)).as("seed %d, transfer %d", seed, i).isEqualTo(sent.get(i));
        }
        assertThat(to().count()).isZero();
        assertThat(sender.session(2).statistics().bytesWaiting())
                .as("no chunk is queued")
                .isZero();
    }

    @Test
    void nothingIsSentWithoutCredit() {
        open(1);
        long number = from().next();
        from().send(number, 0, MemorySegment.ofArray(bytes(5000, 1)), 0, () -> null, _ -> {});
        loopback.run();
        Outbox bulk = sender.session(2).outbox(PeerStream.BULK);
        assertThat(bulk.bytes()).isZero();
        byte[] half = new byte[2500];
        to().receive(number, 0, MemorySegment.ofArray(half), true, () -> null, ends::add);
        loopback.run();
        assertThat(bulk.bytes()).isEqualTo(2500 + bulk.frames() * (FrameWriter.HEAD + 16));
        byte[] rest = new byte[2500];
        to().receive(number, 2500, MemorySegment.ofArray(rest), true, () -> null, ends::add);
        loopback.run();
        assertThat(ends).hasSize(2).containsOnlyNulls();
        assertThat(rest[2499]).isEqualTo(bytes(5000, 1)[4999]);
    }

    @Test
    void bytesAfterTheEndAreNotWritten() {
        open(3);
        byte[] target = new byte[50_000];
        long number = from().next();
        from().send(number, 0, MemorySegment.ofArray(bytes(50_000, 3)), 0, () -> null, _ -> {});
        to().receive(number, 0, MemorySegment.ofArray(target), true, () -> null, ends::add);
        for (int i = 0; i < 10; i++) {
            loopback.step();
        }
        receiver.fail(1, IreeException.of(StatusCode.UNAVAILABLE, "left the view"));
        assertThat(ends).singleElement().extracting(IreeException::code).isEqualTo(StatusCode.UNAVAILABLE);
        byte[] then = target.clone();
        loopback.run();
        assertThat(target).isEqualTo(then);
    }

    @Test
    void aStoppingSideTellsTheOther() {
        open(4);
        long number = from().next();
        List<@Nullable IreeException> atSender = new ArrayList<>();
        IreeException stop = IreeException.of(StatusCode.CANCELLED, "not wanted");
        from().send(number, 0, MemorySegment.ofArray(bytes(50_000, 3)), 0, () -> null, atSender::add);
        to().receive(number, 0, MemorySegment.ofArray(new byte[50_000]), true, () -> stop, ends::add);
        loopback.run();
        assertThat(ends).containsExactly(stop);
        assertThat(atSender).singleElement().extracting(IreeException::code).isEqualTo(StatusCode.CANCELLED);
        assertThat(sender.session(2).isOpen()).isTrue();
    }

    @Test
    void thePartAfterAPartEndingOnTwoThreadsStays() {
        open(5);
        long number = from().next();
        MemorySegment bytes = MemorySegment.ofArray(bytes(2000, 5));
        IreeException late = IreeException.of(StatusCode.CANCELLED, "not wanted");
        Supplier<@Nullable IreeException> stop = () -> {
            from().withdraw(number); // another thread ends the part and comes with the next part, before this thread
            // does
            from().send(number, 1000, bytes.asSlice(1000), 0, () -> null, _ -> {});
            return late;
        };
        from().send(number, 0, bytes.asSlice(0, 1000), 1000, stop, ends::add);
        assertThat(ends).hasSize(1).containsOnlyNulls();
        assertThat(from().count()).isEqualTo(1);
    }

    @Test
    void aNumberInUseIsRefusedAndItsTransferIsNotDisturbed() {
        open(6);
        byte[] source = bytes(5000, 6);
        byte[] target = new byte[5000];
        long number = from().next();
        List<@Nullable IreeException> refused = new ArrayList<>();
        to().receive(number, 0, MemorySegment.ofArray(target), true, () -> null, ends::add);
        to().receive(number, 0, MemorySegment.ofArray(new byte[5000]), true, () -> null, refused::add);
        from().send(number, 0, MemorySegment.ofArray(source), 0, () -> null, ends::add);
        from().send(number, 0, MemorySegment.ofArray(new byte[5000]), 0, () -> null, refused::add);
        to().send(number, 0, MemorySegment.ofArray(new byte[5000]), 0, () -> null, refused::add);
        assertThat(refused).hasSize(3).allSatisfy(each -> {
            assertThat(each.code()).isEqualTo(StatusCode.ALREADY_EXISTS);
            assertThat(each).hasMessageContaining("transfer " + number);
        });
        loopback.run();
        assertThat(ends).hasSize(2).containsOnlyNulls();
        assertThat(target).isEqualTo(source);
    }

    @Test
    void aPeerCannotTakeNumbersOfThisSide() {
        open(7);
        FrameReader frame = new FrameReader(PeerStream.QUEUE, new FrameWriter(FrameType.COMMAND).finish());
        assertThat(to().ofPeer(frame, 1)).isEqualTo(1);
        assertThat(from().ofPeer(frame, 2)).isEqualTo(2);
        for (long number : new long[] {0, 2, -1}) {
            assertThatThrownBy(() -> to().ofPeer(frame, number)).hasMessageContaining("transfer " + number);
        }
    }
}
