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
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Captures are made here, from the layout that IREE's source documents. */
class IreeReplayTest {
    @TempDir
    Path folder;

    private static void record(ByteBuffer target, int type, int payloadType, int operation, byte[] payload) {
        int padding = -payload.length & 7;
        target.putLong(96 + payload.length + padding)
                .putLong(payload.length)
                .putLong(0)
                .putLong(77);
        target.putLong(1).putLong(0).putLong(0);
        target.putInt(96).putShort((short) type).putShort((short) 0);
        target.putInt(payloadType)
                .putInt(0)
                .putInt(operation)
                .putInt(0)
                .putInt(0)
                .putInt(0)
                .putLong(0);
        target.put(payload).put(new byte[padding]);
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
        ByteBuffer all = ByteBuffer.allocate(4096).order(ByteOrder.LITTLE_ENDIAN);
        all.putInt(0x50525249)
                .putShort((short) 2)
                .putShort((short) 0)
                .putInt(24)
                .putInt(0)
                .putLong(0);
        record(all, 1, 0, 0, new byte[3]); // the session
        record(all, 2, 10, 0, new byte[32]); // a semaphore
        record(all, 3, 15, 15, fill(1, 5, 1));
        record(all, 3, 15, 15, fill(2, 5, 1, 5, 2));
        record(all, 3, 0, 301, new byte[0]); // the end of a command buffer
        record(all, 5, 0, 0, new byte[0]);
        all.putLong(16, all.position());
        return Arrays.copyOf(all.array(), all.position());
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
        assertThat(new Explanation(graph).summary(10)).anyMatch(line -> line.startsWith("not ended"));
        assertThat(Replay.of(replay.recording()).differences()).isEmpty();
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
