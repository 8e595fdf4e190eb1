package io.github.iree4j.hal.vulkan;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.iree4j.Effort;
import io.github.iree4j.async.Cancellation;
import io.github.iree4j.async.Fence;
import io.github.iree4j.async.SemaphoreOptions;
import io.github.iree4j.async.SemaphoreScope;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.hal.BindingTable;
import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.BufferParams;
import io.github.iree4j.hal.DeviceInfo;
import io.github.iree4j.hal.DeviceQueue;
import io.github.iree4j.hal.DispatchConfig;
import io.github.iree4j.hal.Executable;
import io.github.iree4j.hal.MemoryAccess;
import io.github.iree4j.hal.QueueCounters;
import io.github.iree4j.hal.spi.DeviceOptions;
import io.github.iree4j.hal.stream.EmptyCommands;
import io.github.iree4j.hal.stream.StreamDevice;
import io.github.iree4j.hal.stream.StreamDevices;
import io.github.iree4j.nativeaccess.vulkan.FakeVulkan;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** STREAM-1, STREAM-3: several hardware queues and their faults, on a library without hardware. */
@Timeout(300)
class VulkanQueuesTest {
    @TempDir
    private Path directory;

    private final List<AutoCloseable> opened = new ArrayList<>();
    private @Nullable VulkanDriver driver;
    private @Nullable FakeVulkan library;
    private final List<StreamDevice> devices = new ArrayList<>();

    @AfterEach
    void close() throws Exception {
        for (AutoCloseable each : opened.reversed()) {
            each.close();
        }
        for (StreamDevice device : devices) {
            device.close();
            VulkanDrivers.assertNothingLeft(device);
        }
        if (driver != null) {
            assertThat(driver.takeValidationMessages()).isEmpty();
        }
    }

    private VulkanDriver driver(String settings) {
        FakeVulkan fake = FakeVulkan.in(directory, settings);
        library = fake;
        VulkanDriver made = new VulkanDriver(fake.library(), true);
        driver = made;
        return made;
    }

    private StreamDevice device(String settings, int queues) {
        StreamDevice device = driver(settings)
                .open("vulkan", DeviceOptions.builder().queueCount(queues).build());
        devices.add(device);
        return device;
    }

    private TimelineSemaphore semaphore(SemaphoreScope scope) {
        TimelineSemaphore made = TimelineSemaphore.create(SemaphoreOptions.DEFAULTS.withScope(scope));
        opened.add(made);
        return made;
    }

    private TimelineSemaphore semaphore() {
        return semaphore(SemaphoreScope.DEVICE_LOCAL);
    }

    private Fence at(TimelineSemaphore semaphore, long value) {
        Fence made = Fence.at(semaphore, value);
        opened.add(made);
        return made;
    }

    private static void assertFails(TimelineSemaphore semaphore, StatusCode code, String message) {
        assertThatThrownBy(() -> semaphore.await(Long.MAX_VALUE - 1))
                .isInstanceOfSatisfying(
                        IreeException.class, e -> assertThat(e.code()).isEqualTo(code))
                .hasMessageContaining(message);
    }

    @Test
    void everyHardwareQueueIsAQueueCopyQueuesLast() {
        StreamDevice device = device("", 0);
        assertThat(device.queueCount()).isEqualTo(3);
        assertThat(List.of(
                        StreamDevices.family(device.queue(0)),
                        StreamDevices.family(device.queue(1)),
                        StreamDevices.family(device.queue(2))))
                .containsExactly(0, 0, 1);
        StreamDevice many = device("", 7);
        assertThat(many.queueCount()).isEqualTo(7);
        assertThat(StreamDevices.family(many.queue(5))).isEqualTo(1);
    }

    @Test
    void waitsBetweenQueuesRideInSubmissions() {
        StreamDevice device = device("", 0);
        TimelineSemaphore timeline = semaphore();
        CountDownLatch end = new CountDownLatch(1);
        EmptyCommands.pause(device.queue(0), null, at(timeline, 1), end);
        for (int i = 1; i < 30; i++) {
            EmptyCommands.run(device.queue(i % 3), at(timeline, i), at(timeline, i + 1));
        }
        // The host sees no completion before the end of the step, and has submitted everything by then.
        for (int i = 0; i < 3; i++) {
            QueueCounters counters = device.queue(i).counters();
            assertThat(counters.deferred()).isZero();
            assertThat(counters.inFlight()).isEqualTo(10);
            assertThat(counters.deviceWaits()).isPositive();
        }
        assertThat(timeline.value()).isZero();
        end.countDown();
        timeline.await(30);
    }

    @Test
    void aBarrierBetweenQueuesIsASubmissionWithoutCommands() {
        StreamDevice device = device("", 2);
        TimelineSemaphore timeline = semaphore();
        CountDownLatch end = new CountDownLatch(1);
        EmptyCommands.pause(device.queue(0), null, at(timeline, 1), end);
        device.queue(1).barrier(at(timeline, 1), at(timeline, 2), 0);
        device.queue(1).barrier(at(timeline, 2), at(timeline, 3), 0);
        EmptyCommands.run(device.queue(0), at(timeline, 3), at(timeline, 4));
        assertThat(device.queue(1).counters().deviceWaits()).isEqualTo(1);
        assertThat(device.queue(0).counters().deviceWaits()).isEqualTo(1);
        end.countDown();
        timeline.await(4);
    }

    @Test
    void semaphoresTakeNothingOfTheDevice() {
        StreamDevice device = device("", 0);
        long[] before = VulkanDrivers.handle(device).liveObjects();
        for (SemaphoreScope scope : SemaphoreScope.values()) {
            TimelineSemaphore timeline = semaphore(scope);
            for (int i = 1; i <= 60; i++) {
                device.queue(scope == SemaphoreScope.QUEUE_LOCAL ? 0 : i % 3)
                        .barrier(i == 1 ? null : at(timeline, i - 1), at(timeline, i), 0);
            }
            timeline.await(60);
        }
        assertThat(VulkanDrivers.handle(device).liveObjects()).isEqualTo(before);
    }

    @Test
    void randomGraphsOverStepsAndQueuesEndWhateverIsShared() throws Exception {
        for (int queues : new int[] {2, 3, 5}) {
            long seed = Effort.seed(20261120) + queues;
            StreamDevice device = device("", queues);
            Random random = new Random(seed);
            List<TimelineSemaphore> done = new ArrayList<>();
            AtomicInteger steps = new AtomicInteger();
            for (int i = 0; i < 300; i++) {
                done.add(semaphore());
            }
            for (int i = 0; i < 300; i++) {
                List<Fence> waits = new ArrayList<>();
                for (int w = 0; w < 3 && i > 0; w++) {
                    waits.add(at(done.get(random.nextInt(Math.max(0, i - 20), i)), 1));
                }
                Fence wait = Fence.joinNullable(waits);
                if (wait != null) {
                    opened.add(wait);
                }
                DeviceQueue queue = device.queue(random.nextInt(queues));
                Fence signal = at(done.get(i), 1);
                switch (random.nextInt(4)) {
                    case 0 -> queue.hostCall(wait, signal, steps::incrementAndGet, 0);
                    case 1 -> queue.barrier(wait, signal, 0);
                    default -> EmptyCommands.run(queue, wait, signal);
                }
            }
            for (TimelineSemaphore each : done) {
                try {
                    each.await(1, Duration.ofSeconds(20));
                } catch (IreeException e) {
                    throw new AssertionError("seed " + seed + " with " + queues + " queues", e);
                }
            }
        }
    }

    @Test
    void devicesAreFoundByNumberAndByUuidAndSoftwareOnlyWhenAskedForOrAlone() {
        VulkanDriver made = driver("devices=cpu+discrete+integrated");
        assertThat(made.devices()).extracting(DeviceInfo::id).containsExactly("vulkan:0", "vulkan:1", "vulkan:2");
        assertThat(made.devices().get(1).details())
                .containsEntry("type", "discrete gpu")
                .containsKeys("uuid", "api", "heaps", "queues", "limits", "features");
        String uuid = made.devices().get(2).details().get("uuid");
        for (List<String> each : List.of(
                List.of("vulkan", "vulkan:1"),
                List.of("vulkan:0", "vulkan:0"),
                List.of("2", "vulkan:2"),
                List.of(uuid, "vulkan:2"),
                List.of("vulkan:" + uuid.toUpperCase(Locale.ROOT), "vulkan:2"))) {
            try (StreamDevice device = made.open(each.getFirst(), DeviceOptions.DEFAULTS)) {
                assertThat(device.id()).as(each.getFirst()).isEqualTo(each.getLast());
                assertThat(device.queryI64("hal.device.id", "vulkan*")).hasValue(1);
                assertThat(device.queryI64("hal.device.id", "local*")).hasValue(0);
            }
        }
        assertThatThrownBy(() -> made.open("vulkan:3", DeviceOptions.DEFAULTS))
                .isInstanceOfSatisfying(
                        IreeException.class, e -> assertThat(e.code()).isEqualTo(StatusCode.NOT_FOUND))
                .hasMessageContaining("has no device 'vulkan:3'; it has: vulkan:0 (fake device 0)");
        VulkanDriver alone = driver("devices=cpu");
        try (StreamDevice device = alone.open("vulkan", DeviceOptions.DEFAULTS)) {
            assertThat(device.info().details()).containsEntry("type", "cpu");
        }
    }

    @Test
    void aDeviceWithAMissingFeatureIsListedAndNamesTheFeature() {
        VulkanDriver made = driver("devices=discrete no_timeline");
        assertThat(made.availability().reason()).contains("'fake device 0' lacks the feature timelineSemaphore");
        assertThat(driver("api=1.1").availability().reason())
                .contains("has Vulkan 1.1")
                .contains("1.2 is needed");
    }

    // ---- Failure.

    @Test
    void missingMemoryFailsItsUsersAndNothingElse() {
        VulkanDriver made = driver("oom_allocation=1");
        try (StreamDevice device = made.open("vulkan", DeviceOptions.DEFAULTS)) {
            long size = 20 << 20; // a separate slab: for less the driver is asked twice
            assertThatThrownBy(() -> device.allocator().allocate(BufferParams.DEFAULT, size))
                    .isInstanceOfSatisfying(
                            IreeException.class, e -> assertThat(e.code()).isEqualTo(StatusCode.RESOURCE_EXHAUSTED));
            device.allocator().allocate(BufferParams.DEFAULT, size).close();
            devices.add(device);
        }
    }

    @Test
    void aSubmissionFindingTheDeviceLostFailsEverything() {
        StreamDevice device = device("lost_submit=3", 2);
        TimelineSemaphore first = semaphore();
        TimelineSemaphore waiting = semaphore();
        device.queue(1).barrier(at(semaphore(), 1), at(waiting, 1), 0);
        EmptyCommands.run(device.queue(0), null, at(first, 1));
        first.await(1);
        TimelineSemaphore second = semaphore();
        TimelineSemaphore third = semaphore();
        EmptyCommands.run(device.queue(0), null, at(second, 1));
        EmptyCommands.run(device.queue(0), null, at(third, 1));
        assertFails(third, StatusCode.ABORTED, "lost");
        assertFails(waiting, StatusCode.ABORTED, "lost");
        assertThat(device.failure().orElseThrow()).hasMessageContaining("lost");
        TimelineSemaphore refused = semaphore();
        device.queue(0).barrier(null, at(refused, 1), 0);
        assertFails(refused, StatusCode.ABORTED, "lost");
    }

    @Test
    void aDeviceLostDuringItsWorkFailsEverything() {
        StreamDevice device = device("lost_execution=2", 2);
        TimelineSemaphore done = semaphore();
        TimelineSemaphore other = semaphore();
        EmptyCommands.run(device.queue(0), null, at(done, 1));
        EmptyCommands.run(device.queue(0), at(done, 1), at(done, 2));
        EmptyCommands.run(device.queue(1), at(done, 2), at(other, 1));
        assertFails(other, StatusCode.ABORTED, "lost");
        assertFails(done, StatusCode.ABORTED, "lost");
    }

    @Test
    void aDeviceLostWhileIdleIsFoundOut() {
        StreamDevice device = device("", 2);
        CountDownLatch end = new CountDownLatch(1);
        TimelineSemaphore done = semaphore();
        EmptyCommands.pause(device.queue(0), null, at(done, 1), end);
        EmptyCommands.run(device.queue(0), null, at(done, 2));
        Objects.requireNonNull(library).loseDevice();
        TimelineSemaphore waiting = semaphore();
        EmptyCommands.run(device.queue(1), null, at(waiting, 1));
        assertFails(waiting, StatusCode.ABORTED, "lost");
        end.countDown();
        assertFails(done, StatusCode.ABORTED, "lost");
    }

    @Test
    void aDeviceDeclaredLostReleasesItsQueues() {
        StreamDevice device = device("", 2);
        CountDownLatch end = new CountDownLatch(1);
        TimelineSemaphore done = semaphore();
        TimelineSemaphore other = semaphore();
        EmptyCommands.pause(device.queue(0), null, at(done, 1), end);
        EmptyCommands.run(device.queue(0), null, at(done, 2));
        EmptyCommands.run(device.queue(1), at(done, 2), at(other, 1)); // on the hardware, behind work never submitted
        StreamDevices.lose(device, IreeException.of(StatusCode.DATA_LOSS, "lost on purpose"));
        end.countDown();
        assertFails(other, StatusCode.DATA_LOSS, "lost on purpose");
        assertFails(done, StatusCode.DATA_LOSS, "lost on purpose");
    }

    @Test
    void closingLetsGoQueuesWaitingForUnsubmittedWork() throws Exception {
        StreamDevice device = device("", 2);
        CountDownLatch end = new CountDownLatch(1);
        TimelineSemaphore done = semaphore();
        TimelineSemaphore other = semaphore();
        CountDownLatch begun = EmptyCommands.pause(device.queue(0), null, at(done, 1), end);
        EmptyCommands.run(device.queue(0), null, at(done, 2));
        EmptyCommands.run(device.queue(1), at(done, 2), at(other, 1));
        begun.await(); // a step not begun would be given up, and close() would not wait
        Thread closer = Thread.ofPlatform().start(device::close);
        while (closer.getState() != Thread.State.TIMED_WAITING) { // in the wait for the stopped queues
            assertThat(closer.isAlive()).isTrue();
            Thread.onSpinWait();
        }
        end.countDown();
        assertFails(other, StatusCode.ABORTED, "closed");
        assertThat(done.value()).isLessThanOrEqualTo(1);
        closer.join();
    }

    @Test
    void dispatchesAreRefusedOnCopyQueues() {
        StreamDevice device = device("unified", 0);
        Executable kernels = VulkanKernels.load(device);
        opened.add(kernels);
        Buffer buffer = device.allocator().allocate(BufferParams.DEFAULT, 64);
        opened.add(buffer);
        TimelineSemaphore filled = semaphore();
        device.queue(2).fill(null, at(filled, 1), buffer, 0, 64, 7, 4, 0);
        filled.await(1);
        assertThat(buffer.map(MemoryAccess.READ, 0, 4).get(ValueLayout.JAVA_INT_UNALIGNED, 0))
                .isEqualTo(7);
        TimelineSemaphore refused = semaphore();
        device.queue(2)
                .dispatch(
                        null,
                        at(refused, 1),
                        kernels,
                        0,
                        DispatchConfig.of(1, 1, 1),
                        new int[0],
                        BindingTable.of(buffer),
                        0);
        assertFails(refused, StatusCode.FAILED_PRECONDITION, "queue 2 of device 'vulkan:0' only copies");
    }

    // ---- Import and export of native timelines.

    @Test
    void aTimelineIsExportedAndImportedByAnotherDevice() {
        VulkanDriver made = driver("devices=discrete+discrete");
        StreamDevice from = made.open("vulkan:0", DeviceOptions.DEFAULTS);
        StreamDevice to = made.open("vulkan:1", DeviceOptions.DEFAULTS);
        devices.add(from);
        devices.add(to);
        TimelineSemaphore source = semaphore(SemaphoreScope.SYSTEM_WIDE);
        source.signal(1);
        TimelineSemaphore target = semaphore();
        int descriptor = from.exportSemaphore(source);
        to.importSemaphore(descriptor, target, 5);
        TimelineSemaphore done = semaphore();
        EmptyCommands.run(to.queue(0), at(target, 5), at(done, 1));
        assertThat(to.queue(0).counters().deviceWaits()).isEqualTo(1);
        EmptyCommands.run(from.queue(0), null, at(source, 3));
        source.await(3);
        assertThat(target.value()).isZero();
        EmptyCommands.run(from.queue(0), null, at(source, 5));
        done.await(1);
        target.await(5);
        assertThat(target.isTainted(5)).isTrue();
        assertThat(source.isTainted(5)).isFalse();
    }

    /** The possible ends of a timeline imported by another device; at value 3. */
    enum TheEnd {
        FAILED,
        CLOSED_BY_ITS_OWNER,
        DEVICE_CLOSED
    }

    @ParameterizedTest
    @EnumSource(TheEnd.class)
    void anUnreachedImportedValueOfAnEndedTimelineFails(TheEnd end) {
        VulkanDriver made = driver("devices=discrete+discrete");
        StreamDevice from = made.open("vulkan:0", DeviceOptions.DEFAULTS);
        StreamDevice to = made.open("vulkan:1", DeviceOptions.DEFAULTS);
        devices.add(from);
        devices.add(to);
        TimelineSemaphore source = TimelineSemaphore.create(
                SemaphoreOptions.DEFAULTS.withInitialValue(1).withScope(SemaphoreScope.SYSTEM_WIDE));
        int before = from.exportSemaphore(source);
        int after = from.exportSemaphore(source);
        TimelineSemaphore awaited = semaphore();
        TimelineSemaphore dependent = semaphore();
        to.importSemaphore(before, awaited, 4);
        EmptyCommands.run(to.queue(0), at(awaited, 4), at(dependent, 1));
        source.signal(3);
        switch (end) {
            case FAILED -> source.fail(IreeException.of(StatusCode.DATA_LOSS, "lost on purpose"));
            case CLOSED_BY_ITS_OWNER -> source.close();
            case DEVICE_CLOSED -> from.close();
        }
        assertFails(dependent, StatusCode.ABORTED, "value 4 of an imported timeline is not known to be reached");
        assertFails(awaited, StatusCode.ABORTED, "at 3");
        // A reached value is known as such even when asked for late.
        TimelineSemaphore reached = semaphore();
        to.importSemaphore(after, reached, 3);
        reached.await(3);
        source.close();
    }

    @Test
    void sharedTimelinesCountBelowTheValuesForFailure() {
        StreamDevice device = device("", 1);
        TimelineSemaphore source = semaphore(SemaphoreScope.SYSTEM_WIDE);
        source.signal(Integer.MAX_VALUE - 1);
        int descriptor = device.exportSemaphore(source);
        int late = device.exportSemaphore(source);
        assertThatThrownBy(() -> device.importSemaphore(descriptor, semaphore(), Integer.MAX_VALUE))
                .isInstanceOfSatisfying(
                        IreeException.class, e -> assertThat(e.code()).isEqualTo(StatusCode.OUT_OF_RANGE))
                .hasMessageContaining("semaphore value 2147483647 cannot be imported");
        TimelineSemaphore target = semaphore();
        device.importSemaphore(descriptor, target, Integer.MAX_VALUE - 1);
        target.await(Integer.MAX_VALUE - 1);
        source.signal(Integer.MAX_VALUE);
        assertThatThrownBy(() -> device.exportSemaphore(source))
                .isInstanceOfSatisfying(
                        IreeException.class, e -> assertThat(e.code()).isEqualTo(StatusCode.OUT_OF_RANGE))
                .hasMessageContaining("a semaphore at 2147483647 cannot be exported");
        TimelineSemaphore passed = semaphore();
        device.importSemaphore(late, passed, 7);
        passed.await(7);
    }

    @Test
    void anOperationWaitingForARefusedImportWaitsForTheHost() {
        StreamDevice device = device("", 1);
        TimelineSemaphore timeline = semaphore();
        TimelineSemaphore done = semaphore();
        EmptyCommands.run(device.queue(0), at(timeline, 1), at(done, 1));
        assertThatThrownBy(() -> device.importSemaphore(99_999, timeline, 1)).isInstanceOf(IreeException.class);
        timeline.signal(1);
        done.await(1, Duration.ofSeconds(60));
    }

    @ParameterizedTest // STREAM-12
    @ValueSource(booleans = {true, false})
    void anImportAwaitedByAnOperationIsNotTakenBack(boolean isSubmittedBefore) {
        StreamDevice device = device("", 1);
        TimelineSemaphore source = semaphore(SemaphoreScope.SYSTEM_WIDE);
        TimelineSemaphore timeline = semaphore();
        TimelineSemaphore done = semaphore();
        int descriptor = device.exportSemaphore(source);
        if (isSubmittedBefore) {
            EmptyCommands.run(device.queue(0), at(timeline, 1), at(done, 1));
        }
        Cancellation imported = device.importSemaphore(descriptor, timeline, 1);
        if (!isSubmittedBefore) {
            EmptyCommands.run(device.queue(0), at(timeline, 1), at(done, 1));
        }
        if (imported.cancel()) {
            timeline.signal(1);
        } else {
            source.signal(1);
        }
        done.await(1, Duration.ofSeconds(60));
        assertThat(device.queue(0).counters().deviceWaits()).isEqualTo(isSubmittedBefore ? 0 : 1);
    }

    @Test
    void anImportIsTakenBackOrFailsWithItsDevice() {
        StreamDevice device = device("", 1);
        TimelineSemaphore source = semaphore(SemaphoreScope.SYSTEM_WIDE);
        TimelineSemaphore target = semaphore();
        TimelineSemaphore other = semaphore();
        Cancellation cancelled = device.importSemaphore(device.exportSemaphore(source), target, 1);
        device.importSemaphore(device.exportSemaphore(source), other, 1);
        assertThat(cancelled.cancel()).isTrue();
        assertThat(cancelled.cancel()).isFalse();
        target.signal(1);
        device.close();
        assertThat(other.failure()).isNotNull();
    }

    @Test
    void exportsNeedTheScopeAndTheExtension() {
        StreamDevice device = device("", 1);
        assertThatThrownBy(() -> device.exportSemaphore(semaphore()))
                .hasMessageContaining("export needs a semaphore of scope 'SYSTEM_WIDE'");
        StreamDevice without = device("no_export", 1);
        assertThatThrownBy(() -> without.exportSemaphore(semaphore(SemaphoreScope.SYSTEM_WIDE)))
                .isInstanceOfSatisfying(
                        IreeException.class, e -> assertThat(e.code()).isEqualTo(StatusCode.UNIMPLEMENTED))
                .hasMessageContaining("VK_KHR_external_semaphore_fd");
    }
}
