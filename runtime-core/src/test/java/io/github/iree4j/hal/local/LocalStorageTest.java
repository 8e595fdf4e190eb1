package io.github.iree4j.hal.local;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.Effort;
import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.BufferParams;
import io.github.iree4j.hal.DeviceQueue;
import io.github.iree4j.hal.spi.DeviceOptions;
import io.github.iree4j.status.IreeException;
import java.lang.foreign.ValueLayout;
import java.util.concurrent.CyclicBarrier;
import org.junit.jupiter.api.Test;

class LocalStorageTest {
    // BUF-1: storage is freed once and never while pinned.
    // BUF-2: a pinning thread sees the storage.
    @Test
    void storageLivesWhilePinnedAndIsFreedOnce() throws Exception {
        try (LocalDevice device = (LocalDevice) new LocalBackend().open(DeviceOptions.builder())) {
            DeviceQueue queue = device.queue(0);
            for (int round = 0; round < Effort.rounds(3000); round++) {
                LocalBuffer buffer =
                        LocalBuffer.reserved(device.memory(), BufferParams.DEFAULT, 64, (LocalQueue) queue, 0);
                CyclicBarrier start = new CyclicBarrier(3);
                int value = round;
                Thread commit = Thread.ofPlatform().start(() -> {
                    await(start);
                    buffer.commit(device.memory().acquire(BufferParams.DEFAULT, 64));
                });
                Thread user = Thread.ofPlatform().start(() -> {
                    await(start);
                    for (int i = 0; i < 50; i++) {
                        try {
                            HostMemory.Block block = buffer.pin();
                            // The only block of this size: if it were freed now, no bytes would be live.
                            assert device.allocator().statistics().bytesLive() >= 64;
                            block.segment.set(ValueLayout.JAVA_INT, 0, value);
                            buffer.unpin();
                        } catch (IreeException e) {
                            // Not committed yet, or gone.
                        }
                    }
                });
                await(start);
                buffer.close();
                commit.join();
                user.join();
                assertThat(device.allocator().statistics().bytesLive()).isZero();
                assertThat(device.allocator().statistics().freeCount()).isEqualTo(round + 1);
            }
        }
    }

    @Test
    void buffersOutliveTheirDevice() {
        LocalDevice device = (LocalDevice) new LocalBackend().open(DeviceOptions.builder());
        Buffer small = device.allocator().allocate(BufferParams.DEFAULT, 100);
        Buffer large = device.allocator().allocate(BufferParams.DEFAULT, 10 << 20);
        device.close();
        small.map(3, 0, 100).fill((byte) 7);
        large.map(3, 0, 10 << 20).fill((byte) 7);
        small.close();
        large.close();
        assertThat(device.allocator().statistics().bytesReserved()).isZero();
    }

    @Test
    void largeBlocksAreReusedAndTrimmed() {
        try (LocalDevice device = (LocalDevice) new LocalBackend().open(DeviceOptions.builder())) {
            device.allocator().allocate(BufferParams.DEFAULT, 10 << 20).close();
            long reserved = device.allocator().statistics().bytesReserved();
            assertThat(reserved).isGreaterThanOrEqualTo(10 << 20);
            device.allocator().allocate(BufferParams.DEFAULT, 10 << 20).close();
            assertThat(device.allocator().statistics().bytesReserved()).isEqualTo(reserved);
            device.allocator().trim();
            assertThat(device.allocator().statistics().bytesReserved()).isZero();
        }
    }

    private static void await(CyclicBarrier barrier) {
        try {
            barrier.await();
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }
}
