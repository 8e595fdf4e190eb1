package io.github.iree4j.frontier;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.HexFormat;
import java.util.Random;
import org.junit.jupiter.api.Test;

class FrontierCodecTest {
    private static final long QUEUE = Axis.of(7, 1, CausalDomain.QUEUE, 3);
    private static final long HOST = Axis.of(7, 1, CausalDomain.HOST, 1);

    private static byte[] encoded(Frontier frontier) {
        ByteBuffer bytes = ByteBuffer.allocate(FrontierCodec.encodedSize(frontier));
        FrontierCodec.encode(frontier, bytes);
        return bytes.array();
    }

    private static Frontier sample() {
        MutableFrontier gathered = new MutableFrontier();
        gathered.insertOrRaise(QUEUE, 0x0102, CompletedEpochs.NONE);
        gathered.taint();
        return gathered.produce(HOST, 9, CompletedEpochs.NONE);
    }

    /** The wire form is stable: this literal must not change. */
    @Test
    void wireFormIsStable() {
        assertThat(HexFormat.of().formatHex(encoded(sample())))
                .isEqualTo("0101020200000000"
                        + "0300000000000107" + "0201000000000000"
                        + "0100000000030107" + "0900000000000000");
    }

    @Test
    void frontierOfTwelveEntriesTakes200Bytes() {
        Frontier frontier = Frontier.EMPTY;
        for (int i = 0; i < Frontier.DEFAULT_CAPACITY; i++) {
            frontier = frontier.insertOrRaise(Axis.of(1 + i, i, CausalDomain.QUEUE, i), 1 + i);
        }
        assertThat(FrontierCodec.encodedSize(frontier)).isEqualTo(200);
        assertThat(encoded(frontier)).hasSize(200);
    }

    @Test
    void readsAndWritesAtThePositionAndKeepsTheByteOrder() {
        ByteBuffer bytes = ByteBuffer.allocate(200).order(ByteOrder.BIG_ENDIAN);
        bytes.position(3);
        FrontierCodec.encode(sample(), bytes);
        FrontierCodec.encode(Frontier.UNKNOWN, bytes);
        assertThat(bytes.position()).isEqualTo(3 + 40 + 8);
        assertThat(bytes.order()).isEqualTo(ByteOrder.BIG_ENDIAN);
        bytes.flip().position(3);
        assertThat(FrontierCodec.decode(bytes)).isEqualTo(sample());
        assertThat(FrontierCodec.decode(bytes)).isEqualTo(Frontier.UNKNOWN);
        assertThat(bytes.hasRemaining()).isFalse();
    }

    @Test
    void writesNothingWhenThereIsNoRoom() {
        ByteBuffer small = ByteBuffer.allocate(39);
        assertThatThrownBy(() -> FrontierCodec.encode(sample(), small))
                .isInstanceOfSatisfying(
                        IreeException.class, e -> assertThat(e.code()).isEqualTo(StatusCode.OUT_OF_RANGE))
                .hasMessage("frontier of 40 bytes does not fit the 39 bytes that are left");
        assertThat(small.position()).isZero();
    }

    @Test
    void reportsTheFaultInTheBytes() {
        assertCorrupt(edit(0, 2), StatusCode.INCOMPATIBLE, "frontier of version 2 cannot be read");
        assertCorrupt(edit(1, 2), StatusCode.DATA_LOSS, "unknown flags 2");
        assertCorrupt(edit(7, 1), StatusCode.DATA_LOSS, "reserved bytes 1000000");
        assertCorrupt(edit(3, 3), StatusCode.DATA_LOSS, "producer of frontier is entry 2 of 2");
        assertCorrupt(edit(2, 3), StatusCode.DATA_LOSS, "frontier of 3 entries takes 48 bytes, 32 are left");
        assertCorrupt(edit(15, 0), StatusCode.DATA_LOSS, "entry 0 of frontier: 0x1000000000003 is not an axis");
        assertCorrupt(edit(13, 4), StatusCode.DATA_LOSS, "entry 0 of frontier: 0x701040000000003 is not an axis");
        assertCorrupt(edit(23, 0x80), StatusCode.DATA_LOSS, "epoch -9223372036854775550 is not above 0");
        assertCorrupt(edit(13, 3), StatusCode.DATA_LOSS, "axis 'host:1@m1.s7' is not above 'host:3@m1.s7'");
        assertCorrupt(new byte[7], StatusCode.DATA_LOSS, "a frontier begins with 8 bytes, 7 are left");
    }

    @Test
    void entriesNeedSeparateEpochsAndAxes() {
        byte[] noEpoch = encoded(sample());
        java.util.Arrays.fill(noEpoch, 16, 24, (byte) 0);
        assertCorrupt(noEpoch, StatusCode.DATA_LOSS, "entry 0 of frontier: epoch 0 is not above 0");
        byte[] twice = encoded(sample());
        System.arraycopy(twice, 8, twice, 24, 8);
        assertCorrupt(twice, StatusCode.DATA_LOSS, "entry 1 of frontier: axis");
    }

    private static byte[] edit(int offset, int value) {
        byte[] bytes = encoded(sample());
        bytes[offset] = (byte) value;
        return bytes;
    }

    private static void assertCorrupt(byte[] bytes, StatusCode code, String message) {
        ByteBuffer buffer = ByteBuffer.wrap(bytes);
        assertThatThrownBy(() -> FrontierCodec.decode(buffer))
                .isInstanceOfSatisfying(
                        IreeException.class, e -> assertThat(e.code()).isEqualTo(code))
                .hasMessageContaining(message);
        assertThat(buffer.position()).isZero();
    }

    @Test
    void anyBytesEitherFailCleanlyOrAreAsWrittenByAnEncoder() {
        long seed = Long.getLong("iree.test.seed", 20260803);
        Random random = new Random(seed);
        int read = 0;
        for (int round = 0; round < 100_000; round++) {
            byte[] bytes = encoded(sample());
            for (int edits = random.nextInt(3); edits >= 0; edits--) {
                bytes[random.nextInt(bytes.length)] = (byte) random.nextInt(256);
            }
            int length = random.nextInt(8) == 0 ? random.nextInt(bytes.length) : bytes.length;
            try {
                Frontier frontier = FrontierCodec.decode(ByteBuffer.wrap(bytes, 0, length));
                byte[] again = encoded(frontier);
                assertThat(again).isEqualTo(java.util.Arrays.copyOf(bytes, again.length));
                read++;
            } catch (IreeException e) {
                assertThat(e.code()).isIn(StatusCode.DATA_LOSS, StatusCode.INCOMPATIBLE);
            } catch (RuntimeException e) {
                throw new AssertionError("seed %d, round %d".formatted(seed, round), e);
            }
        }
        assertThat(read).as("surviving inputs, seed " + seed).isBetween(1, 99_999);
    }
}
