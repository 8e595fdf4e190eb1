package io.github.iree4j.hal.vulkan;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.Effort;
import io.github.iree4j.hal.stream.StreamDevices;
import io.github.iree4j.hal.stream.StreamStorage;
import io.github.iree4j.nativeaccess.vulkan.VulkanWords;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Runs the words of an encoder on an array, like a driver that runs commands between barriers in any order. */
@Tag("long")
class CommandEncoderTest {
    private static final int TARGET = 1;
    private static final int SCRATCH = 2;
    private static final int SIZE = 600;
    private static final int TARGET_START = 256;

    private final byte[] target = new byte[SIZE];
    private final byte[] scratch = new byte[64];
    private final CommandEncoder encoder =
            new CommandEncoder(() -> StreamDevices.storage(1, SCRATCH, 32, CommandEncoder.SCRATCH));
    private final StreamStorage storage = StreamDevices.storage(2, TARGET, TARGET_START, SIZE - TARGET_START);

    @Test
    void fillsAnyRangeWithAnyPatternAndNothingElse() {
        long seed = Effort.seed(CommandEncoderTest.class, "fills", 20261120);
        Random random = new Random(seed);
        for (int round = 0; round < Effort.rounds(2000, 50_000); round++) {
            int patternLength = 1 << random.nextInt(4);
            int offset = random.nextInt(40); // a subspan may begin anywhere
            int length = patternLength * random.nextInt(30);
            long pattern = random.nextInt(4) == 0 ? 0x0101_0101_0101_0101L * random.nextInt(256) : random.nextLong();
            random.nextBytes(target);
            byte[] expected = target.clone();
            for (int i = 0; i < length; i++) {
                expected[TARGET_START + offset + i] = (byte) (pattern >>> 8 * (i % patternLength));
            }
            encoder.clear();
            encoder.fill(storage, offset, length, pattern, patternLength);
            run();
            assertThat(target)
                    .as(
                            "seed %d, round %d: %d bytes at %d with %d of %x",
                            seed, round, length, offset, patternLength, pattern)
                    .isEqualTo(expected);
        }
    }

    @Test
    void severalOddFillsInTheSameRecordingKeepApart() {
        encoder.fill(storage, 1, 3, 0x11, 1);
        encoder.fill(storage, 5, 24, 0x1122334455667788L, 8);
        encoder.fill(storage, 31, 6, 0x9988, 2);
        run();
        byte[] expected = new byte[SIZE];
        Arrays.fill(expected, TARGET_START + 1, TARGET_START + 4, (byte) 0x11);
        for (int i = 0; i < 24; i++) {
            expected[TARGET_START + 5 + i] = (byte) (0x1122334455667788L >>> 8 * (i % 8));
        }
        for (int i = 0; i < 6; i++) {
            expected[TARGET_START + 31 + i] = (byte) (0x9988 >>> 8 * (i % 2));
        }
        assertThat(target).isEqualTo(expected);
    }

    @ParameterizedTest
    @CsvSource({"0,256", "4,8", "16,4"})
    void alignedFillIsASingleCommand(int offset, int length) {
        encoder.fill(storage, offset, length, 0xABCD, 2);
        assertThat(encoder.count()).isEqualTo(5);
        assertThat(encoder.words().getAtIndex(ValueLayout.JAVA_LONG, 0)).isEqualTo(VulkanWords.FILL);
    }

    @Test
    void emptyTransfersAreNoCommands() {
        encoder.fill(storage, 3, 0, 1, 1);
        encoder.copy(storage, 0, storage, 100, 0);
        assertThat(encoder.isEmpty()).isTrue();
    }

    @Test
    void constantsArePackedEightBytesToAWord() {
        encoder.constants(4, MemorySegment.ofArray(new int[] {0x11223344, 0x55667788, 0x99AABBCC}));
        assertThat(Arrays.copyOf(encoder.words().toArray(ValueLayout.JAVA_LONG), encoder.count()))
                .containsExactly(4, 12, 0x5566778811223344L, 0x99AABBCCL);
    }

    /** Runs the commands; between barriers no command may access another's writes. */
    private void run() {
        boolean[][] read = {new boolean[0], new boolean[target.length], new boolean[scratch.length]};
        boolean[][] written = {new boolean[0], new boolean[target.length], new boolean[scratch.length]};
        long[] words = encoder.words().toArray(ValueLayout.JAVA_LONG);
        int at = 0;
        while (at < encoder.count()) {
            switch ((int) words[at]) {
                case (int) VulkanWords.BARRIER -> {
                    for (int i = 1; i <= 2; i++) {
                        Arrays.fill(read[i], false);
                        Arrays.fill(written[i], false);
                    }
                    at += 5;
                }
                case (int) VulkanWords.FILL -> {
                    int buffer = (int) words[at + 1];
                    int offset = (int) words[at + 2];
                    int size = (int) words[at + 3];
                    assertThat(offset % 4 + size % 4).as("alignment of a fill").isZero();
                    assertThat(size).isPositive();
                    for (int i = 0; i < size; i++) {
                        write(buffer, offset + i, (byte) (words[at + 4] >>> 8 * (i % 4)), read, written);
                    }
                    at += 5;
                }
                case (int) VulkanWords.COPY -> {
                    int size = (int) words[at + 5];
                    assertThat(size).isPositive();
                    byte[] bytes = new byte[size];
                    for (int i = 0; i < size; i++) {
                        int source = (int) words[at + 1];
                        int from = (int) words[at + 2] + i;
                        assertThat(written[source][from])
                                .as("reads bytes under writing")
                                .isFalse();
                        read[source][from] = true;
                        bytes[i] = memory(source)[from];
                    }
                    for (int i = 0; i < size; i++) {
                        write((int) words[at + 3], (int) words[at + 4] + i, bytes[i], read, written);
                    }
                    at += 6;
                }
                default -> throw new AssertionError("word " + words[at] + " at " + at);
            }
        }
        assertThat(at).isEqualTo(encoder.count());
    }

    private void write(int buffer, int at, byte value, boolean[][] read, boolean[][] written) {
        assertThat(read[buffer][at]).as("writes bytes under reading").isFalse();
        assertThat(written[buffer][at]).as("writes bytes under writing").isFalse();
        written[buffer][at] = true;
        memory(buffer)[at] = value;
    }

    private byte[] memory(int buffer) {
        return buffer == TARGET ? target : scratch;
    }
}
