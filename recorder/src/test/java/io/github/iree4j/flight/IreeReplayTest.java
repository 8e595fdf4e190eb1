package io.github.iree4j.flight;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.github.iree4j.Effort;
import io.github.iree4j.flight.FlightEvent.Point;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Captures are made here, from the layout documented in IREE's source. */
class IreeReplayTest {
    @TempDir
    Path folder;

    private static void record(ByteBuffer target, int type, int payloadType, int operation, byte[] payload) {
        record(target, type, 0, payloadType, operation, 0, payload);
    }

    private static void record(
            ByteBuffer target, int type, int flags, int payloadType, int operation, int status, byte[] payload) {
        target.putLong(96 + payload.length).putLong(payload.length).putLong(0).putLong(77);
        target.putLong(1).putLong(0).putLong(0);
        target.putInt(96).putShort((short) type).putShort((short) flags);
        target.putInt(payloadType).putInt(0).putInt(operation).putInt(status);
        target.putInt(0).putInt(0).putLong(0);
        target.put(payload);
    }

    /** A fill: the reference of a buffer, affinity, flags, counts, the length of the pattern; then points. */
    private static byte[] fill(long affinity, long... points) {
        ByteBuffer all = ByteBuffer.allocate(72 + 8 * points.length).order(ByteOrder.LITTLE_ENDIAN);
        all.position(32);
        all.putLong(affinity)
                .putLong(0)
                .putLong(points.length / 2 - 1)
                .putLong(1)
                .putLong(4);
        for (long each : points) {
            all.putLong(each);
        }
        return all.array();
    }

    private static byte[] capture() {
        return capture(IreeReplayTest::operations);
    }

    private static byte[] capture(Consumer<ByteBuffer> records) {
        ByteBuffer all = ByteBuffer.allocate(4096).order(ByteOrder.LITTLE_ENDIAN);
        all.putInt(0x50525249)
                .putShort((short) 2)
                .putShort((short) 0)
                .putInt(24)
                .putInt(0)
                .putLong(0);
        records.accept(all);
        all.putLong(16, all.position());
        return Arrays.copyOf(all.array(), all.position());
    }

    private static void operations(ByteBuffer all) {
        record(all, 1, 0, 0, new byte[3]); // the session
        record(all, 2, 10, 0, new byte[32]); // a semaphore
        record(all, 3, 15, 15, fill(1, 5, 1));
        record(all, 3, 15, 15, fill(2, 5, 1, 5, 2));
        record(all, 3, 0, 301, new byte[0]); // the end of a command buffer
        record(all, 5, 0, 20, new byte[0]); // a host call
    }

    private IreeReplay read(byte[] capture) throws IOException {
        Path file = folder.resolve("c.ireereplay");
        Files.write(file, capture);
        return IreeReplay.read(file);
    }

    @Test
    void operationsOfQueuesAreReadWithTheirWaitsAndSignals() throws IOException {
        Path file = folder.resolve("a.ireereplay");
        Files.write(file, capture());
        IreeReplay replay = IreeReplay.read(file);
        assertThat(replay.operations()).isEqualTo(2);
        assertThat(replay.leftOut()).isEqualTo(1);
        assertThat(replay.unsupported()).isEqualTo(1);
        OperationGraph graph = new OperationGraph(replay.recording());
        List<RecordedOperation> operations = graph.operations();
        assertThat(operations).extracting(RecordedOperation::name).containsExactly("fill", "fill");
        assertThat(operations.get(0).waits()).isEmpty();
        assertThat(operations.get(0).signals()).containsExactly(new Point(5, 1));
        assertThat(operations.get(1).waits()).containsExactly(new Point(5, 1));
        assertThat(operations.get(1).signals()).containsExactly(new Point(5, 2));
        assertThat(graph.producer(operations.get(1), 0)).isSameAs(operations.get(0));
        assertThat(replay.recording().queues()).extracting(RecordedQueue::index).containsExactly(0, 1);
        assertThat(new Explanation(graph).summary(100)).anyMatch(line -> line.startsWith("not ended"));
        assertThat(Replay.of(replay.recording()).differences()).isEmpty();
    }

    @Test
    void refusedOperationsAreLeftOut() throws IOException {
        IreeReplay replay = read(capture(all -> {
            operations(all);
            record(all, 3, 0, 15, 15, StatusCode.RESOURCE_EXHAUSTED.number(), fill(1, 5, 3));
        }));
        assertThat(replay.operations()).isEqualTo(2);
        assertThat(replay.leftOut()).isEqualTo(2);
    }

    @Test
    void unknownSkippableRecordsAreSkipped() throws IOException {
        assertThat(read(capture(all -> {
                            record(all, 9, 1, 0, 0, 0, new byte[5]);
                            operations(all);
                        }))
                        .operations())
                .isEqualTo(2);
        assertThatExceptionOfType(IreeException.class)
                .isThrownBy(() -> read(capture(all -> record(all, 9, 0, new byte[5].length, 0, 0, new byte[5]))))
                .satisfies(e -> assertThat(e.code()).isEqualTo(StatusCode.UNIMPLEMENTED));
    }

    /** A capture has no checksums; duplicate and reserved parts of the layout are checked. */
    @Test
    void damageInAnyByteGetsAStatusOrIsReadAsIs() throws IOException {
        byte[] whole = capture();
        int refused = 0;
        for (int at = 0; at < whole.length; at++) {
            byte[] damaged = whole.clone();
            damaged[at] ^= (byte) (1 << at % 8);
            try {
                IreeReplay replay = read(damaged);
                new Explanation(new OperationGraph(replay.recording())).summary(100);
            } catch (IreeException e) {
                assertThat(e.code())
                        .as("byte %d: %s", at, e.getMessage())
                        .isIn(StatusCode.DATA_LOSS, StatusCode.INVALID_ARGUMENT, StatusCode.UNIMPLEMENTED);
                refused++;
            }
        }
        assertThat(refused).isGreaterThan(whole.length / 4);
    }

    @Test
    void damagedCapturesGetAStatus() throws IOException {
        byte[] whole = capture();
        Random random = new Random(Effort.seed(20261123));
        Path file = folder.resolve("b.ireereplay");
        for (int i = 0; i < 2000; i++) {
            byte[] damaged = Arrays.copyOf(whole, random.nextInt(3) == 0 ? random.nextInt(whole.length) : whole.length);
            for (int j = random.nextInt(4); j > 0 && damaged.length > 0; j--) {
                damaged[random.nextInt(damaged.length)] = (byte) random.nextInt();
            }
            Files.write(file, damaged);
            try {
                IreeReplay.read(file);
            } catch (IreeException e) {
                assertThat(e.code()).isIn(StatusCode.DATA_LOSS, StatusCode.INVALID_ARGUMENT, StatusCode.UNIMPLEMENTED);
            }
        }
        Files.write(file, new byte[100]);
        assertThatExceptionOfType(IreeException.class).isThrownBy(() -> IreeReplay.read(file));
    }
}
