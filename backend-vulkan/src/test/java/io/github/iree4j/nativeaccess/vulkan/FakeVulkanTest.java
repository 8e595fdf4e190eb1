package io.github.iree4j.nativeaccess.vulkan;

import static io.github.iree4j.nativeaccess.vulkan.VulkanWords.COPY;
import static io.github.iree4j.nativeaccess.vulkan.VulkanWords.FILL;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Several queues, hidden memory, and failures: on a library without hardware. */
class FakeVulkanTest {
    private static final long FOREVER = -1;
    private static final int DEVICE_MEMORY = 0;
    private static final int HOST_MEMORY = 1;

    @TempDir
    private Path directory;

    private @Nullable VulkanApi api;
    private @Nullable VulkanHandle device;

    private VulkanApi library(String settings) {
        VulkanApi opened = VulkanApi.open(FakeVulkan.in(directory, settings).library(), true);
        api = opened;
        return opened;
    }

    /** Two compute queues and a single transfer queue by default. */
    private VulkanHandle device(String settings, Integer... families) {
        VulkanHandle opened = library(settings).openDevice(0, VulkanDeviceRequest.of(List.of(families)));
        device = opened;
        return opened;
    }

    @AfterEach
    void leavesNoObjectsAndNoValidationMessages() {
        if (device != null) {
            device.close();
            assertThat(device.liveObjects()).containsOnly(0);
        }
        if (api != null) {
            assertThat(api.lastValidationMessages()).isEmpty();
            api.close();
        }
    }

    private static MemorySegment words(Arena arena, long... words) {
        return arena.allocateFrom(ValueLayout.JAVA_LONG, words);
    }

    private static void failsWith(StatusCode code, String text, ThrowingCallable call) {
        assertThatThrownBy(call)
                .isInstanceOfSatisfying(
                        IreeException.class, e -> assertThat(e.code()).isEqualTo(code))
                .hasMessageContaining(text);
    }

    private static void await(VulkanHandle device, VulkanTimeline timeline, long value) {
        assertThat(device.waitAny(new VulkanTimeline[] {timeline}, new long[] {value}, 1, FOREVER))
                .isEqualTo(VulkanHandle.REACHED);
    }

    @Test
    void twoDriversAreListedWithTheirProperties() {
        VulkanApi opened = library("devices=cpu+discrete");
        assertThat(opened.devices())
                .extracting(VulkanDeviceProperties::type)
                .containsExactly(VulkanDeviceProperties.Type.CPU, VulkanDeviceProperties.Type.DISCRETE_GPU);
        assertThat(opened.devices())
                .extracting(VulkanDeviceProperties::deviceUuid)
                .doesNotHaveDuplicates();
        VulkanDeviceProperties properties = opened.devices().get(1);
        assertThat(properties.index()).isEqualTo(1);
        assertThat(properties.heaps()).hasSize(2);
        assertThat(properties.memoryTypes().get(DEVICE_MEMORY).has(VulkanDeviceProperties.HOST_VISIBLE))
                .isFalse();
        assertThat(properties.queueFamilies())
                .containsExactly(
                        new VulkanDeviceProperties.QueueFamily(6, 2), new VulkanDeviceProperties.QueueFamily(4, 1));
    }

    @Test
    void aLibraryWithoutDevicesIsNotAFailure() {
        assertThat(library("devices=none").devices()).isEmpty();
    }

    @Test
    void anAbsentOrDeniedDriverIsReported() {
        failsWith(StatusCode.UNAVAILABLE, "finds no Vulkan driver", () -> library("no_driver"));
        // As seen by a process without access to the device nodes.
        assertThat(library("no_access").devices()).isEmpty();
    }

    @Test
    void aMissingSymbolIsNamed() {
        failsWith(StatusCode.UNAVAILABLE, "no symbol vkCreateInstance", () -> library("no_symbol=vkCreateInstance"));
        failsWith(StatusCode.UNAVAILABLE, "no symbol vkCreateDevice", () -> library("no_symbol=vkCreateDevice"));
        failsWith(
                StatusCode.UNAVAILABLE,
                "'fake device 0' has no symbol vkCreateBuffer",
                () -> device("no_symbol=vkCreateBuffer", 0));
    }

    @Test
    void devicesWithoutRequiredFeaturesAreListedAndNameTheFeatures() {
        failsWith(StatusCode.INCOMPATIBLE, "timelineSemaphore", () -> device("no_timeline", 0));
        assertThat(Objects.requireNonNull(api).devices()).hasSize(1);
        api.close();
        failsWith(StatusCode.INCOMPATIBLE, "synchronization2", () -> device("no_sync2", 0));
        Objects.requireNonNull(api).close();
        failsWith(StatusCode.INCOMPATIBLE, "has Vulkan 1.1, the runtime needs 1.2", () -> device("api=1.1", 0));
    }

    @Test
    void aVulkan12DeviceWorksWithTheExtension() {
        VulkanHandle old = device("api=1.2", 0);
        assertThat(old.has(VulkanFeature.SYNCHRONIZATION_2)).isTrue();
    }

    @Test
    void deviceMemoryIsAccessedByCopies() {
        VulkanHandle d = device("", 0, 1);
        try (Arena arena = Arena.ofConfined();
                VulkanAllocation upload = d.allocate(1024, HOST_MEMORY, 0);
                VulkanAllocation local = d.allocate(1024, DEVICE_MEMORY, 0);
                VulkanAllocation download = d.allocate(1024, HOST_MEMORY, 0);
                VulkanTimeline timeline = d.createTimeline(0);
                VulkanCommands up = d.createCommands(1);
                VulkanCommands down = d.createCommands(0)) {
            assertThat(local.memory()).isNull();
            assertThat(local.host()).isZero();
            assertThat(local.deviceAddress()).isNotZero();
            up.record(words(arena, COPY, upload.buffer(), 0, local.buffer(), 0, 1024), 6);
            down.record(words(arena, COPY, local.buffer(), 0, download.buffer(), 0, 1024), 6);
            // The reader is submitted before the writer, to another queue.
            d.submit(0, words(arena, 1, 1, 1, timeline.handle(), 1, timeline.handle(), 2, down.handle()));
            Objects.requireNonNull(upload.memory()).set(ValueLayout.JAVA_INT, 512, 42);
            assertThat(d.waitAny(new VulkanTimeline[] {timeline}, new long[] {2}, 1, 1_000_000))
                    .isEqualTo(VulkanHandle.TIMED_OUT);
            d.submit(1, words(arena, 0, 1, 1, timeline.handle(), 1, up.handle()));
            await(d, timeline, 2);
            assertThat(Objects.requireNonNull(download.memory()).get(ValueLayout.JAVA_INT, 512))
                    .isEqualTo(42);
        }
    }

    /** Runs scale.comp: target[i] = source[i] * 10 + 3. */
    private static void scales(VulkanHandle d, boolean push) throws IOException {
        VulkanLayout layout = new VulkanLayout(
                List.of(List.of(
                        new VulkanLayout.Binding(0, VulkanLayout.STORAGE_BUFFER, 1),
                        new VulkanLayout.Binding(1, VulkanLayout.STORAGE_BUFFER, 1))),
                8,
                push);
        try (Arena arena = Arena.ofConfined();
                VulkanPipeline pipeline =
                        d.createPipeline(VulkanLibraryTest.shader(), "main", layout, new int[] {3}, 0, null);
                VulkanAllocation memory = d.allocate(4096, HOST_MEMORY, 0);
                VulkanTimeline timeline = d.createTimeline(0);
                VulkanCommands commands = d.createCommands(0)) {
            MemorySegment host = Objects.requireNonNull(memory.memory());
            for (int i = 0; i < 100; i++) {
                host.setAtIndex(ValueLayout.JAVA_INT, i, i);
            }
            long b = memory.buffer();
            long mode = push ? VulkanWords.MODE_PUSH : VulkanWords.MODE_SETS;
            MemorySegment recording = words(
                    arena,
                    VulkanWords.DISPATCH,
                    pipeline.handle(),
                    mode,
                    2,
                    b,
                    0,
                    400,
                    b,
                    1024,
                    400,
                    0,
                    8,
                    10 | 90L << 32,
                    4,
                    1,
                    1);
            commands.record(recording, recording.byteSize() / 8);
            d.submit(0, words(arena, 0, 1, 1, timeline.handle(), 1, commands.handle()));
            await(d, timeline, 1);
            for (int i = 0; i < 100; i++) {
                assertThat(host.getAtIndex(ValueLayout.JAVA_INT, 256 + i)).isEqualTo(i < 90 ? 10 * i + 3 : 0);
            }
        }
    }

    @Test
    void shadersAreInterpreted() throws IOException {
        scales(device("", 0), false);
    }

    @Test
    void shadersAreInterpretedWithPushedDescriptors() throws IOException {
        scales(device("push", 0), true);
    }

    @Test
    void queuesRunConcurrently() {
        VulkanHandle d = device("", 0, 0, 1);
        assertThat(d.queueCount()).isEqualTo(3);
        try (Arena arena = Arena.ofConfined();
                VulkanTimeline ping = d.createTimeline(0);
                VulkanTimeline pong = d.createTimeline(0)) {
            for (int i = 1; i <= 50; i++) {
                d.submit(0, words(arena, 1, 1, 0, pong.handle(), i - 1, ping.handle(), i));
                d.submit(1, words(arena, 1, 1, 0, ping.handle(), i, pong.handle(), i));
            }
            await(d, pong, 50);
        }
    }

    @Test
    void outOfMemoryIsReportedAndRecoverable() {
        VulkanHandle d = device("heap_mib=1 oom_allocation=2", 0);
        VulkanAllocation first = d.allocate(1 << 19, DEVICE_MEMORY, 0);
        failsWith(
                StatusCode.RESOURCE_EXHAUSTED,
                "VK_ERROR_OUT_OF_DEVICE_MEMORY",
                () -> d.allocate(1 << 19, DEVICE_MEMORY, 0));
        VulkanAllocation second = d.allocate(1 << 19, DEVICE_MEMORY, 0);
        failsWith(
                StatusCode.RESOURCE_EXHAUSTED,
                "VK_ERROR_OUT_OF_DEVICE_MEMORY",
                () -> d.allocate(1 << 10, DEVICE_MEMORY, 0));
        first.close();
        d.allocate(1 << 10, DEVICE_MEMORY, 0).close();
        second.close();
        failsWith(
                StatusCode.RESOURCE_EXHAUSTED,
                "whose limit for memory type 0",
                () -> d.allocate(1 << 21, DEVICE_MEMORY, 0));
    }

    @Test
    void aLossAtSubmissionIsReportedByEveryLaterCall() {
        VulkanHandle d = device("lost_submit=2", 0);
        try (Arena arena = Arena.ofConfined();
                VulkanTimeline timeline = d.createTimeline(0)) {
            d.submit(0, words(arena, 0, 1, 0, timeline.handle(), 1));
            await(d, timeline, 1);
            assertThat(d.isLost()).isFalse();
            String lost = "device 'fake device 0' is lost";
            failsWith(StatusCode.ABORTED, lost, () -> d.submit(0, words(arena, 0, 1, 0, timeline.handle(), 2)));
            assertThat(d.isLost()).isTrue();
            failsWith(StatusCode.ABORTED, lost, () -> await(d, timeline, 2));
            failsWith(StatusCode.ABORTED, lost, timeline::value);
            failsWith(StatusCode.ABORTED, lost, () -> timeline.signal(9));
            failsWith(StatusCode.ABORTED, lost, () -> d.allocate(16, 0, 0));
            failsWith(StatusCode.ABORTED, lost, () -> d.createCommands(0));
            failsWith(StatusCode.ABORTED, lost, () -> d.createPipelineCache(null));
        }
        d.close();
        assertThat(d.isLost()).isTrue();
    }

    @Test
    void aLossDuringExecutionEndsWaits() {
        VulkanHandle d = device("lost_execution=1", 0);
        try (Arena arena = Arena.ofConfined();
                VulkanTimeline timeline = d.createTimeline(0)) {
            d.submit(0, words(arena, 0, 1, 0, timeline.handle(), 1));
            failsWith(StatusCode.ABORTED, "is lost", () -> await(d, timeline, 1));
        }
    }

    @Test
    void aLossDuringAWaitEndsTheWait() throws Exception {
        FakeVulkan fake = FakeVulkan.in(directory, "");
        VulkanApi opened = VulkanApi.open(fake.library(), true);
        api = opened;
        VulkanHandle d = opened.openDevice(0, VulkanDeviceRequest.of(List.of(0)));
        device = d;
        try (VulkanTimeline timeline = d.createTimeline(0)) {
            CompletableFuture<Void> ended = new CompletableFuture<>();
            Thread waiter = Thread.ofPlatform().start(() -> {
                try {
                    await(d, timeline, 1);
                    ended.complete(null);
                } catch (Throwable e) {
                    ended.completeExceptionally(e);
                }
            });
            while (timeline.guard.uses() == 0) {
                Thread.onSpinWait();
            }
            fake.loseDevice();
            assertThatThrownBy(ended::get).hasMessageContaining("is lost");
            waiter.join();
        }
    }

    @Test
    void timelinesAndMemoryPassBetweenDevicesAsDescriptors() {
        VulkanApi opened = library("devices=discrete+discrete");
        VulkanDeviceRequest request = VulkanDeviceRequest.of(List.of(0));
        try (Arena arena = Arena.ofConfined();
                VulkanHandle one = opened.openDevice(0, request);
                VulkanHandle two = opened.openDevice(1, request);
                VulkanTimeline made = one.createTimeline(0, VulkanHandle.EXPORTABLE);
                VulkanTimeline same = two.createTimeline(0);
                VulkanAllocation memory = one.allocate(4096, HOST_MEMORY, VulkanHandle.EXPORTABLE);
                VulkanAllocation view = two.importDescriptor(memory.exportDescriptor(), 4096, HOST_MEMORY);
                VulkanCommands fill = one.createCommands(0)) {
            same.importDescriptor(made.exportDescriptor());
            fill.record(words(arena, FILL, memory.buffer(), 0, 4096, 7), 5);
            one.submit(0, words(arena, 0, 1, 1, made.handle(), 5, fill.handle()));
            await(two, same, 5);
            assertThat(Objects.requireNonNull(view.memory()).get(ValueLayout.JAVA_INT, 4092))
                    .isEqualTo(7);
            failsWith(StatusCode.INVALID_ARGUMENT, "VK_ERROR_INVALID_EXTERNAL_HANDLE", () -> same.importDescriptor(-1));
            failsWith(
                    StatusCode.INVALID_ARGUMENT,
                    "descriptor -1 is not open",
                    () -> two.importDescriptor(-1, 4096, HOST_MEMORY));
        }
    }

    @Test
    void misuseIsReported() {
        VulkanHandle d = device("", 0);
        try (Arena arena = Arena.ofConfined();
                VulkanTimeline timeline = d.createTimeline(0);
                VulkanTimeline done = d.createTimeline(0);
                VulkanCommands commands = d.createCommands(0)) {
            VulkanAllocation memory = d.allocate(4096, HOST_MEMORY, 0);
            commands.record(words(arena, FILL, memory.buffer(), 0, 4096, 7), 5);
            d.submit(0, words(arena, 1, 1, 1, timeline.handle(), 1, done.handle(), 1, commands.handle()));
            // The runtime must never do this; reported by the fake.
            commands.record(words(arena), 0);
            timeline.signal(1);
            await(d, done, 1);
            memory.close();
            timeline.signal(1);
        }
        VulkanApi opened = Objects.requireNonNull(api);
        assertThat(opened.lastValidationMessages())
                .containsExactly("commands in use by a submission change", "a timeline at 1 is signalled to 1");
        d.close();
        opened.close();
        api = null;
    }
}
