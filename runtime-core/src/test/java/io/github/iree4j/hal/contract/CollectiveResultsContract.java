package io.github.iree4j.hal.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.iree4j.async.Fence;
import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.BufferRef;
import io.github.iree4j.hal.Channel;
import io.github.iree4j.hal.Collective;
import io.github.iree4j.hal.MemoryAccess;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The content left in the targets by each kind of collective. */
public abstract class CollectiveResultsContract extends CollectiveFixture {
    /** On a backend, closed after each test. */
    protected CollectiveResultsContract(Backend backend) {
        super(backend);
    }

    @Test
    void gathersOfAllAreInTheOrderOfRanks() {
        List<Buffer> targets = run(
                "gather",
                Collective.of(Collective.ALL_GATHER, 0, Collective.S32),
                0,
                2,
                new int[6],
                new int[] {1, 2},
                new int[] {3, 4},
                new int[] {5, 6});
        assertThat(targets).allSatisfy(target -> assertThat(read(target)).containsExactly(1, 2, 3, 4, 5, 6));
    }

    @Test
    void elementsOfTwoBytesAreMovedWithAnyType() {
        for (int type : new int[] {Collective.S16, Collective.U16, Collective.F16, Collective.BF16}) {
            List<Buffer> targets = run(
                    "moved",
                    Collective.of(Collective.ALL_GATHER, 0, type),
                    0,
                    2,
                    new int[2],
                    new int[] {0x7FFF_8001},
                    new int[] {-1});
            assertThat(targets).allSatisfy(target -> assertThat(read(target)).containsExactly(0x7FFF_8001, -1));
        }
    }

    @Test
    void allToAllTransposesParts() {
        List<Buffer> targets = run(
                "transpose",
                Collective.of(Collective.ALL_TO_ALL, 0, Collective.S32),
                0,
                4,
                new int[4],
                new int[] {1, 2, 3, 4},
                new int[] {5, 6, 7, 8});
        assertThat(read(targets.get(0))).containsExactly(1, 2, 5, 6);
        assertThat(read(targets.get(1))).containsExactly(3, 4, 7, 8);
    }

    @Test
    void aBroadcastReachesAllButTheRoot() {
        List<Buffer> targets = run(
                "broadcast",
                Collective.of(Collective.BROADCAST, 0, Collective.S32),
                1,
                1,
                new int[] {-1},
                new int[] {1},
                new int[] {2},
                new int[] {3});
        assertThat(read(targets.get(0))).containsExactly(2);
        assertThat(read(targets.get(1))).as("root").containsExactly(-1);
        assertThat(read(targets.get(2))).containsExactly(2);
    }

    @Test
    void aReduceReachesTheRootAlone() {
        List<Buffer> targets = run(
                "reduce",
                Collective.of(Collective.REDUCE, Collective.MAXIMUM, Collective.S32),
                2,
                2,
                new int[] {-1, -1},
                new int[] {1, 9},
                new int[] {7, -2},
                new int[] {3, 4});
        assertThat(read(targets.get(0))).containsExactly(-1, -1);
        assertThat(read(targets.get(2))).containsExactly(7, 9);
    }

    @Test
    void aReduceScatterGivesEachItsPart() {
        List<Buffer> targets = run(
                "scatter",
                Collective.of(Collective.REDUCE_SCATTER, Collective.SUM, Collective.S32),
                0,
                1,
                new int[1],
                new int[] {1, 2},
                new int[] {10, 20});
        assertThat(read(targets.get(0))).containsExactly(11);
        assertThat(read(targets.get(1))).containsExactly(22);
    }

    @Test
    void sendsMeetReceivesInAnyOrder() {
        List<Channel> channels = channels("pair", 3);
        Collective send = Collective.of(Collective.SEND, 0, Collective.S32);
        Collective receive = Collective.of(Collective.RECV, 0, Collective.S32);
        List<Buffer> targets = List.of(ints(0, 0), ints(1, 0));
        List<Fence> done = new ArrayList<>();
        for (int rank = 0; rank < 2; rank++) { // both send first: no barrier between the two, so they run together
            Channel channel = channels.get(rank);
            Buffer source = ints(rank, rank + 5);
            Buffer target = targets.get(rank);
            int peer = 1 - rank;
            done.add(submit(rank, null, commands(rank, commands -> {
                commands.collective(channel, send, peer, BufferRef.of(source), null, 1);
                commands.collective(channel, receive, peer, null, BufferRef.of(target), 1);
            })));
        }
        assertReached(done);
        assertThat(read(targets.get(0))).containsExactly(6);
        assertThat(read(targets.get(1))).containsExactly(5);
        assertThat(frontier(done.get(0)).size()).isOne();
    }

    @Test
    void sendReceiveShiftsAndFillsWithZeros() {
        List<Channel> channels = channels("shift", 3);
        Collective operation = Collective.of(Collective.SEND_RECV, 0, Collective.S32);
        List<Buffer> targets = List.of(ints(0, -1), ints(1, -1), ints(2, -1));
        List<Fence> done = new ArrayList<>();
        for (int rank = 0; rank < 3; rank++) { // to the right; the first has no predecessor
            int peers = Collective.peers(rank == 2 ? -1 : rank + 1, rank - 1);
            done.add(submit(
                    rank,
                    null,
                    one(rank, channels.get(rank), operation, peers, ints(rank, rank + 1), targets.get(rank), 1)));
        }
        assertReached(done);
        assertThat(targets.stream().map(target -> read(target)[0])).containsExactly(0, 1, 2);
    }

    @Test
    void reducesEveryTypeByEveryReduction() {
        double[] values = {6, 3, 9}; // the product, 162, wraps around in 8 bits
        for (int type = Collective.S8; type <= Collective.BF16; type++) {
            double[] expected = {0, 18, type == Collective.S8 ? 162 - 256 : 162, 3, 9, 6};
            for (int reduction = Collective.SUM; reduction <= Collective.AVERAGE; reduction++) {
                Collective operation = Collective.of(Collective.ALL_REDUCE, reduction, type);
                if (!backend.has(operation)) {
                    assertRefused(operation);
                    continue;
                }
                assertThat(reduce(type, reduction, values))
                        .as("type %d, reduction %d", type, reduction)
                        .isEqualTo(expected[reduction]);
            }
        }
    }

    @Test
    void unsignedElementsCompareAsSuch() {
        for (int type : new int[] {Collective.U8, Collective.U16, Collective.U32, Collective.U64}) {
            if (!backend.has(Collective.of(Collective.ALL_REDUCE, Collective.MAXIMUM, type))) {
                continue;
            }
            assertThat(reduce(type, Collective.MAXIMUM, -1, 3))
                    .as("type " + type)
                    .isNotEqualTo(3);
            assertThat(reduce(type, Collective.MINIMUM, -1, 3))
                    .as("type " + type)
                    .isEqualTo(3);
        }
        for (int type : new int[] {Collective.S8, Collective.S16, Collective.S32, Collective.S64, Collective.F16}) {
            if (backend.has(Collective.of(Collective.ALL_REDUCE, Collective.MAXIMUM, type))) {
                assertThat(reduce(type, Collective.MAXIMUM, -1, 3))
                        .as("type " + type)
                        .isEqualTo(3);
            }
        }
    }

    @Test
    void averagesOfIntegersDoNotOverflowOrAreRefused() {
        if (!backend.has(Collective.of(Collective.ALL_REDUCE, Collective.AVERAGE, Collective.S32))) {
            for (int type = Collective.S8; type <= Collective.U64; type++) {
                assertRefused(Collective.of(Collective.ALL_REDUCE, Collective.AVERAGE, type));
            }
            return;
        }
        assertThat(reduce(Collective.S32, Collective.AVERAGE, Integer.MAX_VALUE, Integer.MAX_VALUE))
                .isEqualTo(Integer.MAX_VALUE);
        assertThat(reduce(Collective.U64, Collective.AVERAGE, -2, 0)).isEqualTo((double) (-2L >>> 1));
    }

    @Test
    void sumsBetweenTwoNumbersAreRoundedToTheNearest() {
        // Eight bits: beyond 256 only even numbers are representable.
        assertThat(reduce(Collective.BF16, Collective.SUM, 256, 1))
                .as("a tie, to even")
                .isEqualTo(256);
        assertThat(reduce(Collective.BF16, Collective.SUM, 258, 1))
                .as("a tie, to even")
                .isEqualTo(260);
        assertThat(reduce(Collective.BF16, Collective.SUM, 512, 3))
                .as("the nearer one")
                .isEqualTo(516);
    }

    @Test
    void floatsKeepNaNAndRoundOnce() {
        assertThat(reduce(Collective.F32, Collective.MAXIMUM, 1, Double.NaN)).isNaN();
        assertThat(reduce(Collective.BF16, Collective.SUM, 1, Double.NaN)).isNaN();
        // 256 + 1 + 1 is even in bfloat16 with eight bits; rounding twice would lose both ones.
        assertThat(reduce(Collective.BF16, Collective.SUM, 256, 1, 1)).isEqualTo(258);
        assertThat(reduce(Collective.F16, Collective.SUM, 65504, 65504)).isInfinite();
    }

    private void assertRefused(Collective operation) {
        List<Channel> channels = channels("refused", 1);
        Buffer memory = bytes(0, operation.elementSize());
        assertThatThrownBy(() -> one(0, channels.getFirst(), operation, 0, memory, memory, 1))
                .isInstanceOfSatisfying(
                        IreeException.class, e -> assertThat(e.code()).isEqualTo(StatusCode.UNIMPLEMENTED));
    }

    /** Runs an operation on all ranks, and returns the targets. */
    private List<Buffer> run(
            String id, Collective operation, int parameter, long count, int[] target, int[]... sources) {
        List<Channel> channels = channels(id, sources.length);
        List<Fence> done = new ArrayList<>();
        List<Buffer> targets = new ArrayList<>();
        for (int rank = 0; rank < sources.length; rank++) {
            assertThat(done).noneMatch(Fence::isReached);
            targets.add(ints(rank, target.clone()));
            done.add(submit(
                    rank,
                    null,
                    one(
                            rank,
                            channels.get(rank),
                            operation,
                            parameter,
                            ints(rank, sources[rank]),
                            targets.get(rank),
                            count)));
        }
        assertReached(done);
        return targets;
    }

    /** All-reduces an element of each participant, and checks for equal results. */
    private double reduce(int type, int reduction, double... values) {
        Collective operation = Collective.of(Collective.ALL_REDUCE, reduction, type);
        List<Channel> channels = channels("types", values.length);
        List<Buffer> targets = new ArrayList<>();
        List<Fence> done = new ArrayList<>();
        for (int rank = 0; rank < values.length; rank++) {
            Buffer target = bytes(rank, operation.elementSize());
            Buffer source = bytes(rank, operation.elementSize());
            encode(source.map(MemoryAccess.WRITE, 0, Buffer.WHOLE), type, values[rank]);
            targets.add(target);
            done.add(submit(rank, null, one(rank, channels.get(rank), operation, 0, source, target, 1)));
        }
        assertReached(done);
        double first = decode(targets.getFirst().map(MemoryAccess.READ, 0, Buffer.WHOLE), type);
        assertThat(targets)
                .allSatisfy(target -> assertThat(decode(target.map(MemoryAccess.READ, 0, Buffer.WHOLE), type))
                        .isEqualTo(Double.valueOf(first)));
        return first;
    }

    private static void encode(MemorySegment bytes, int type, double value) {
        switch (type) {
            case Collective.S8, Collective.U8 -> bytes.set(ValueLayout.JAVA_BYTE, 0, (byte) (long) value);
            case Collective.S16, Collective.U16 -> bytes.set(ValueLayout.JAVA_SHORT, 0, (short) (long) value);
            case Collective.S32, Collective.U32 -> bytes.set(ValueLayout.JAVA_INT, 0, (int) (long) value);
            case Collective.S64, Collective.U64 -> bytes.set(ValueLayout.JAVA_LONG, 0, (long) value);
            case Collective.F16 -> bytes.set(ValueLayout.JAVA_SHORT, 0, Float.floatToFloat16((float) value));
            case Collective.F32 -> bytes.set(ValueLayout.JAVA_FLOAT, 0, (float) value);
            case Collective.F64 -> bytes.set(ValueLayout.JAVA_DOUBLE, 0, value);
            default -> // exact for the values used here
                bytes.set(ValueLayout.JAVA_SHORT, 0, (short) (Float.floatToRawIntBits((float) value) >>> 16));
        }
    }

    private static double decode(MemorySegment bytes, int type) {
        return switch (type) {
            case Collective.S8 -> bytes.get(ValueLayout.JAVA_BYTE, 0);
            case Collective.U8 -> bytes.get(ValueLayout.JAVA_BYTE, 0) & 0xFF;
            case Collective.S16 -> bytes.get(ValueLayout.JAVA_SHORT, 0);
            case Collective.U16 -> bytes.get(ValueLayout.JAVA_SHORT, 0) & 0xFFFF;
            case Collective.S32 -> bytes.get(ValueLayout.JAVA_INT, 0);
            case Collective.U32 -> bytes.get(ValueLayout.JAVA_INT, 0) & 0xFFFF_FFFFL;
            case Collective.S64, Collective.U64 -> bytes.get(ValueLayout.JAVA_LONG, 0);
            case Collective.F16 -> Float.float16ToFloat(bytes.get(ValueLayout.JAVA_SHORT, 0));
            case Collective.F32 -> bytes.get(ValueLayout.JAVA_FLOAT, 0);
            case Collective.F64 -> bytes.get(ValueLayout.JAVA_DOUBLE, 0);
            default -> Float.intBitsToFloat(bytes.get(ValueLayout.JAVA_SHORT, 0) << 16);
        };
    }
}
