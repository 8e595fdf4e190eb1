package io.github.iree4j.hal.stream;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.iree4j.async.Fence;
import io.github.iree4j.async.FrontierTracker;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.frontier.AxisAllocator;
import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.BufferParams;
import io.github.iree4j.hal.BufferUsage;
import io.github.iree4j.hal.MemoryAccess;
import io.github.iree4j.hal.MemoryType;
import io.github.iree4j.hal.SchedulingDomain;
import io.github.iree4j.hal.contract.ForgettingWaits;
import io.github.iree4j.hal.spi.DeviceOptions;
import io.github.iree4j.hal.spi.VulkanOptions;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Whether an operation comes before the allocation of its memory, for a frontier without the answer: unknown is neither
 * yes nor no. The hardware hangs until all is submitted, so nothing has completed at the time of the question.
 */
@Timeout(300)
@ParameterizedClass
@EnumSource(
        value = AbandonedDeviceTest.Library.class,
        names = {"VULKAN_WITH_ONE_MEMORY", "CUDA", "HIP"})
class ForgottenAllocationTest {
    private static final BufferParams PARAMS = new BufferParams(
            MemoryType.DEVICE_VISIBLE | MemoryType.HOST_VISIBLE, BufferUsage.DEFAULT | BufferUsage.MAPPING);
    private static final Duration LONG = Duration.ofSeconds(60);

    @TempDir
    private Path directory;

    @Parameter
    private AbandonedDeviceTest.Library library;

    private final List<AutoCloseable> opened = new ArrayList<>();
    private TestDriver fake;
    private StreamDevice device;
    private SchedulingDomain domain;

    private void open(int capacity) {
        FrontierTracker tracker = closed(FrontierTracker.create());
        domain = SchedulingDomain.create(AxisAllocator.create(9, 9), tracker, capacity);
        fake = library.in(directory, StreamDevice.CLOSE_LIMIT);
        device = closed(fake.open(DeviceOptions.builder()
                .with(VulkanOptions.DEFAULTS.compiledCode("off"))
                .schedulingDomain(domain)
                .queueCount(3)));
        fake.hang();
    }

    private <T extends AutoCloseable> T closed(T resource) {
        opened.add(resource);
        return resource;
    }

    @AfterEach
    void close() throws Exception {
        fake.goOn();
        for (AutoCloseable each : opened.reversed()) {
            each.close();
        }
        fake.assertNothingToComplainOf();
    }

    private Fence fence() {
        return closed(Fence.adopt(TimelineSemaphore.create(0), 1));
    }

    private static Frontier frontier(Fence promised) {
        return Objects.requireNonNull(promised.semaphore(0).frontierAt(1));
    }

    private long live() {
        return device.allocator().statistics().bytesLive();
    }

    /** An allocation behind hanging work. */
    private Buffer allocate(Fence ready) {
        Fence busy = fence();
        Buffer other = closed(device.allocator().allocate(PARAMS, 64));
        device.queue(0).fill(null, busy, other, 0, 64, 9, 1, 0);
        return closed(device.queue(0).alloca(busy, ready, PARAMS, 64, 0));
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 12, 255})
    void usesBehindTheAllocationRunHoweverMuchWasLost(int capacity) {
        open(capacity);
        Fence ready = fence();
        Buffer buffer = allocate(ready);
        Buffer result = closed(device.allocator().allocate(PARAMS, 64));
        long before = live();
        try (ForgettingWaits others = new ForgettingWaits(domain)) {
            Fence forgotten = fence();
            device.queue(1).barrier(closed(others.and(ready)), forgotten, 0);
            assertThat(frontier(forgotten).epochOf(device.queue(0).axis()))
                    .as("known of the allocating queue")
                    .isZero();
            Fence filled = fence();
            device.queue(1).fill(null, filled, buffer, 0, 64, 7, 1, 0);
            Fence merged = closed(Fence.join(filled, forgotten));
            Fence copied = fence();
            device.queue(2).copy(merged, copied, buffer, 0, result, 0, 64, 0);
            Fence freed = fence();
            device.queue(2).dealloca(copied, freed, buffer, 0);
            assertThat(live()).as("passed on once unused").isEqualTo(before);
            fake.goOn();
            freed.await(LONG);
            assertThat(result.map(MemoryAccess.READ, 0, 64).toArray(ValueLayout.JAVA_BYTE))
                    .containsOnly(7);
            assertThat(live()).isLessThan(before);
        }
    }

    @Test
    void memoryOfAKnownOrderIsPassedOnWhenItsDeallocationIsIssued() {
        open(3);
        Fence ready = fence();
        Buffer buffer = allocate(ready);
        long before = live();
        Fence freed = fence();
        device.queue(1).dealloca(ready, freed, buffer, 0);
        assertThat(live()).isLessThan(before);
        fake.goOn();
        freed.await(LONG);
    }

    @Test
    void tooEarlyUsesAreRefusedIfNothingWasLost() {
        open(3);
        Fence ready = fence();
        Buffer buffer = allocate(ready);
        long before = live();
        Fence filled = fence();
        device.queue(1).fill(null, filled, buffer, 0, 64, 7, 1, 0);
        Fence freed = fence();
        device.queue(2).dealloca(null, freed, buffer, 0);
        assertThat(live()).isEqualTo(before);
        fake.goOn();
        for (Fence each : List.of(filled, freed)) {
            assertThatThrownBy(() -> each.await(LONG)).hasMessageContaining("is not allocated yet");
        }
        ready.await(LONG);
        assertThat(live()).isEqualTo(before);
    }

    /** An allocation never issued has no memory to use, whatever was lost. */
    @Test
    void usesBeforeAWaitingAllocationAreRefusedAlsoIfMuchWasLost() {
        open(3);
        try (ForgettingWaits others = new ForgettingWaits(domain)) {
            Fence gate = fence();
            Fence ready = fence();
            Buffer buffer = closed(device.queue(0).alloca(gate, ready, PARAMS, 64, 0));
            Fence anything = fence();
            anything.signal();
            Fence filled = fence();
            device.queue(1).fill(closed(others.and(anything)), filled, buffer, 0, 64, 7, 1, 0);
            gate.signal();
            fake.goOn();
            assertThatThrownBy(() -> filled.await(LONG)).hasMessageContaining("is not allocated yet");
            ready.await(LONG);
        }
    }

    @Test
    void memoryDeallocatedOnALostDeviceIsGoneOnceUnused() {
        open(3);
        fake.goOn();
        Fence ready = fence();
        Buffer buffer = closed(device.queue(0).alloca(null, ready, PARAMS, 64, 0));
        ready.await(LONG);
        fake.hang();
        Fence freed = fence();
        device.queue(0).dealloca(null, freed, buffer, 0);
        assertThat(buffer.map(MemoryAccess.READ, 0, 64).byteSize())
                .as("host calls before the deallocation may read")
                .isEqualTo(64);
        CompletableFuture<Boolean> over = new CompletableFuture<>();
        domain.tracker().whenOver(frontier(freed), failure -> over.complete(failure == null));
        StreamDevices.lose(device, IreeException.of(StatusCode.DATA_LOSS, "lost on purpose"));
        fake.goOn();
        assertThat(over.orTimeout(60, TimeUnit.SECONDS).join()).isTrue();
        assertThatThrownBy(() -> buffer.map(MemoryAccess.READ, 0, 64)).hasMessageContaining("has been deallocated");
    }
}
