package io.github.iree4j.hal.local;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.Effort;
import io.github.iree4j.async.Fence;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.BufferParams;
import io.github.iree4j.hal.BufferRef;
import io.github.iree4j.hal.CommandBuffer;
import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.record.RecordedCommandBuffer;
import io.github.iree4j.hal.spi.DeviceOptions;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Command buffers recorded, finished and dropped in any order: the recorder of a finished buffer is used again. */
@Timeout(60)
class InterleavedRecordingsTest {
    private static final long SEED = Effort.seed(20261125);
    private static final int BYTES = 256;
    private static final int WORDS_OF_FILL = 6;
    private static final int STAGE = CommandBuffer.STAGE_TRANSFER;

    private static final class Recorded {
        final CommandBuffer commands;
        final Buffer buffer;
        final byte[] expected = new byte[BYTES];
        int fills;

        Recorded(Device device) {
            commands = device.createCommandBuffer(CommandBuffer.ONE_SHOT, CommandBuffer.TRANSFER, -1, 0);
            buffer = device.allocator().allocate(BufferParams.DEFAULT, BYTES);
            fill(0, BYTES, (byte) 0);
        }

        void fill(int from, int to, byte value) {
            commands.fillBuffer(new BufferRef(buffer, 0, from, to - from), value, 1, 0);
            commands.executionBarrier(STAGE, STAGE, 0);
            fills++;
            Arrays.fill(expected, from, to, value);
        }

        void check(Device device) {
            commands.finish();
            assertThat(((RecordedCommandBuffer) commands).recording().code()).hasSize(fills * WORDS_OF_FILL);
            try (TimelineSemaphore timeline = device.createSemaphore(0, 0);
                    Fence done = Fence.at(timeline, 1)) {
                device.queue(0).execute(null, done, commands, null, 0);
                done.await();
            }
            byte[] actual = new byte[BYTES];
            buffer.read(0, MemorySegment.ofArray(actual));
            assertThat(actual).isEqualTo(expected);
        }

        void close() {
            commands.close();
            buffer.close();
        }
    }

    @Test
    void eachHasItsOwnCommandsAndKeepsItsOwnBuffers() {
        for (long seed = SEED; seed < SEED + Effort.rounds(20); seed++) {
            Random random = new Random(seed);
            try (Device device = new LocalDriverProvider()
                    .open("local", DeviceOptions.builder().build())) {
                List<Recorded> open = new ArrayList<>();
                for (int i = 0; i < 200; i++) {
                    int which = random.nextInt(5);
                    if (which >= open.size()) {
                        open.add(new Recorded(device));
                        continue;
                    }
                    Recorded each = open.get(which);
                    if (random.nextInt(8) > 0) {
                        int from = random.nextInt(BYTES);
                        each.fill(from, from + 1 + random.nextInt(BYTES - from), (byte) random.nextInt());
                        continue;
                    }
                    if (random.nextBoolean()) {
                        each.check(device);
                    }
                    each.close();
                    open.remove(each);
                }
                open.forEach(Recorded::close);
                assertThat(device.allocator().statistics().bytesLive())
                        .as("seed %d", seed)
                        .isZero();
            }
        }
    }
}
