package io.github.iree4j.nativeaccess.vulkan;

import static io.github.iree4j.nativeaccess.vulkan.VulkanWords.ACCESS_SHADER_READ;
import static io.github.iree4j.nativeaccess.vulkan.VulkanWords.ACCESS_SHADER_WRITE;
import static io.github.iree4j.nativeaccess.vulkan.VulkanWords.ACCESS_TRANSFER_READ;
import static io.github.iree4j.nativeaccess.vulkan.VulkanWords.ACCESS_TRANSFER_WRITE;
import static io.github.iree4j.nativeaccess.vulkan.VulkanWords.BARRIER;
import static io.github.iree4j.nativeaccess.vulkan.VulkanWords.COPY;
import static io.github.iree4j.nativeaccess.vulkan.VulkanWords.DISPATCH;
import static io.github.iree4j.nativeaccess.vulkan.VulkanWords.DISPATCH_INDIRECT;
import static io.github.iree4j.nativeaccess.vulkan.VulkanWords.FILL;
import static io.github.iree4j.nativeaccess.vulkan.VulkanWords.MODE_PUSH;
import static io.github.iree4j.nativeaccess.vulkan.VulkanWords.MODE_SETS;
import static io.github.iree4j.nativeaccess.vulkan.VulkanWords.STAGE_ALL_TRANSFER;
import static io.github.iree4j.nativeaccess.vulkan.VulkanWords.STAGE_COMPUTE_SHADER;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The real driver of this machine, with validation if installed. */
class VulkanApiTest {
    private static final long FOREVER = -1;

    private VulkanApi api;
    private VulkanHandle device;
    private int visible;

    @BeforeEach
    void open() {
        try {
            api = VulkanApi.open(null, true);
        } catch (IreeException e) {
            assumeTrue(e.code() != StatusCode.UNAVAILABLE, e.getMessage());
            throw e;
        }
        assumeTrue(!api.devices().isEmpty(), "Vulkan has no device here");
        VulkanDeviceProperties properties = api.devices().get(0);
        device = api.openDevice(0, VulkanDeviceRequest.of(List.of(computeFamily(properties))));
        visible = hostVisible(properties);
    }

    @AfterEach
    void leavesNoObjectsAndNoValidationMessages() {
        if (api == null) {
            return;
        }
        if (device != null) {
            device.close();
            assertThat(device.liveObjects()).containsOnly(0);
        }
        assertThat(api.lastValidationMessages()).isEmpty();
        assertThat(api.validationMessages()).isZero();
        api.close();
    }

    static int computeFamily(VulkanDeviceProperties properties) {
        for (int i = 0; i < properties.queueFamilies().size(); i++) {
            if (properties.queueFamilies().get(i).computes()) {
                return i;
            }
        }
        throw new AssertionError("no compute queue");
    }

    static int hostVisible(VulkanDeviceProperties properties) {
        for (int i = 0; i < properties.memoryTypes().size(); i++) {
            int wanted = VulkanDeviceProperties.HOST_VISIBLE | VulkanDeviceProperties.HOST_COHERENT;
            if (properties.memoryTypes().get(i).has(wanted)) {
                return i;
            }
        }
        throw new AssertionError("no memory the host can see");
    }

    private static MemorySegment words(Arena arena, long... words) {
        return arena.allocateFrom(ValueLayout.JAVA_LONG, words);
    }

    @Test
    void devicesAreDescribed() {
        VulkanDeviceProperties properties = device.properties();
        assertThat(properties.name()).isNotEmpty();
        assertThat(properties.apiVersionText()).startsWith("1.");
        assertThat(properties.deviceUuid()).hasSize(32);
        assertThat(properties.heaps()).isNotEmpty();
        assertThat(properties.memoryTypes()).isNotEmpty();
        assertThat(properties.limits().maxStorageBufferRange()).isGreaterThanOrEqualTo(1 << 27);
        assertThat(properties.limits().maxComputeWorkGroupInvocations()).isGreaterThanOrEqualTo(128);
        assertThat(properties.limits().maxTimelineSemaphoreValueDifference()).isGreaterThanOrEqualTo(0x7fffffffL);
        assertThat(properties.has(VulkanFeature.TIMELINE_SEMAPHORE)).isTrue();
        assertThat(device.features() & ~properties.features()).isZero();
    }

    @Test
    void theDeviceCopiesAndFillsHostWrittenMemory() {
        try (Arena arena = Arena.ofConfined();
                VulkanAllocation source = device.allocate(4096, visible, 0);
                VulkanAllocation target = device.allocate(4096, visible, 0);
                VulkanTimeline timeline = device.createTimeline(0);
                VulkanCommands commands = device.createCommands(device.queueFamily(0))) {
            MemorySegment in = Objects.requireNonNull(source.memory());
            MemorySegment out = Objects.requireNonNull(target.memory());
            for (int i = 0; i < 1024; i++) {
                in.setAtIndex(ValueLayout.JAVA_INT, i, i);
            }
            MemorySegment recording = words(
                    arena,
                    COPY,
                    source.buffer(),
                    3,
                    target.buffer(),
                    1,
                    1001,
                    FILL,
                    target.buffer(),
                    2048,
                    64,
                    0xdeadbeefL);
            commands.record(recording, recording.byteSize() / 8);
            device.submit(0, words(arena, 0, 1, 1, timeline.handle(), 1, commands.handle()));
            assertThat(device.waitAny(new VulkanTimeline[] {timeline}, new long[] {1}, 1, FOREVER))
                    .isEqualTo(VulkanHandle.REACHED);
            assertThat(timeline.value()).isEqualTo(1);
            assertThat(out.asSlice(1, 1001).mismatch(in.asSlice(3, 1001))).isEqualTo(-1);
            assertThat(out.get(ValueLayout.JAVA_INT, 2048)).isEqualTo(0xdeadbeef);
            assertThat(out.get(ValueLayout.JAVA_INT, 2048 + 60)).isEqualTo(0xdeadbeef);
            // The same commands again, after a write by the host.
            in.set(ValueLayout.JAVA_BYTE, 3, (byte) 77);
            device.submit(0, words(arena, 1, 1, 1, timeline.handle(), 2, timeline.handle(), 3, commands.handle()));
            assertThat(device.waitAny(new VulkanTimeline[] {timeline}, new long[] {3}, 1, 1_000_000))
                    .isEqualTo(VulkanHandle.TIMED_OUT);
            timeline.signal(2);
            assertThat(device.waitAny(new VulkanTimeline[] {timeline}, new long[] {3}, 1, FOREVER))
                    .isEqualTo(VulkanHandle.REACHED);
            assertThat(out.get(ValueLayout.JAVA_BYTE, 1)).isEqualTo((byte) 77);
        }
    }

    /** The pipeline of scale.comp: target[i] = source[i] * factor + bias, for i below count. */
    private VulkanPipeline scale(boolean push, int bias, @Nullable VulkanPipelineCache cache) throws IOException {
        VulkanLayout layout = new VulkanLayout(
                List.of(List.of(
                        new VulkanLayout.Binding(0, VulkanLayout.STORAGE_BUFFER, 1),
                        new VulkanLayout.Binding(1, VulkanLayout.STORAGE_BUFFER, 1))),
                8,
                push);
        return device.createPipeline(VulkanLibraryTest.shader(), "main", layout, new int[] {bias}, 0, cache);
    }

    private static long pushed(int factor, int count) {
        return Integer.toUnsignedLong(factor) | (long) count << 32;
    }

    private void run(VulkanCommands commands) {
        try (Arena arena = Arena.ofConfined();
                VulkanTimeline timeline = device.createTimeline(0)) {
            device.submit(0, words(arena, 0, 1, 1, timeline.handle(), 1, commands.handle()));
            assertThat(device.waitAny(new VulkanTimeline[] {timeline}, new long[] {1}, 1, FOREVER))
                    .isEqualTo(VulkanHandle.REACHED);
        }
    }

    @Test
    void aDispatchRunsWithPushedDescriptors() throws IOException {
        assumeTrue(device.has(VulkanFeature.PUSH_DESCRIPTOR), "no VK_KHR_push_descriptor");
        try (Arena arena = Arena.ofConfined();
                VulkanPipeline pipeline = scale(true, 1000, null);
                VulkanAllocation memory = device.allocate(8192, visible, 0);
                VulkanCommands commands = device.createCommands(device.queueFamily(0))) {
            MemorySegment host = Objects.requireNonNull(memory.memory());
            long buffer = memory.buffer();
            // Fill, then double the filled values, then copy the first result behind them.
            MemorySegment recording = words(
                    arena,
                    FILL,
                    buffer,
                    0,
                    4096,
                    21,
                    BARRIER,
                    STAGE_ALL_TRANSFER,
                    ACCESS_TRANSFER_WRITE,
                    STAGE_COMPUTE_SHADER,
                    ACCESS_SHADER_READ,
                    DISPATCH,
                    pipeline.handle(),
                    MODE_PUSH,
                    2,
                    buffer,
                    0,
                    4096,
                    buffer,
                    4096,
                    4096,
                    0,
                    8,
                    pushed(2, 1000),
                    32,
                    1,
                    1,
                    BARRIER,
                    STAGE_COMPUTE_SHADER,
                    ACCESS_SHADER_WRITE,
                    STAGE_ALL_TRANSFER,
                    ACCESS_TRANSFER_READ,
                    COPY,
                    buffer,
                    4096,
                    buffer,
                    8191 - 4,
                    4);
            commands.record(recording, recording.byteSize() / 8);
            run(commands);
            assertThat(host.get(ValueLayout.JAVA_INT, 4096)).isEqualTo(1042);
            assertThat(host.get(ValueLayout.JAVA_INT, 4096 + 4 * 999)).isEqualTo(1042);
            assertThat(host.get(ValueLayout.JAVA_INT_UNALIGNED, 8191 - 4)).isEqualTo(1042);
        }
    }

    @Test
    void bindingsOfRecordedDispatchesChangeBetweenSubmissions() throws IOException {
        try (Arena arena = Arena.ofConfined();
                VulkanPipeline pipeline = scale(false, 0, null);
                VulkanAllocation memory = device.allocate(8192, visible, 0);
                VulkanCommands commands = device.createCommands(device.queueFamily(0))) {
            MemorySegment host = Objects.requireNonNull(memory.memory());
            long buffer = memory.buffer();
            host.set(ValueLayout.JAVA_INT, 0, 5);
            host.set(ValueLayout.JAVA_INT, 256, 6);
            host.set(ValueLayout.JAVA_INT, 512, 1); // counts of the second dispatch
            host.set(ValueLayout.JAVA_INT, 516, 1);
            host.set(ValueLayout.JAVA_INT, 520, 1);
            MemorySegment recording = words(
                    arena,
                    DISPATCH,
                    pipeline.handle(),
                    MODE_SETS,
                    2,
                    buffer,
                    0,
                    4,
                    buffer,
                    1024,
                    4,
                    0,
                    8,
                    pushed(10, 1),
                    1,
                    1,
                    1,
                    DISPATCH_INDIRECT,
                    pipeline.handle(),
                    MODE_SETS,
                    2,
                    buffer,
                    0,
                    4,
                    buffer,
                    1280,
                    4,
                    0,
                    8,
                    pushed(100, 1),
                    buffer,
                    512);
            commands.record(recording, recording.byteSize() / 8);
            run(commands);
            assertThat(host.get(ValueLayout.JAVA_INT, 1024)).isEqualTo(50);
            assertThat(host.get(ValueLayout.JAVA_INT, 1280)).isEqualTo(500);
            commands.bind(1, words(arena, buffer, 256, 4, buffer, 1536, 4));
            run(commands);
            assertThat(host.get(ValueLayout.JAVA_INT, 1280)).isEqualTo(500);
            assertThat(host.get(ValueLayout.JAVA_INT, 1536)).isEqualTo(600);
            commands.bind(0, words(arena, buffer, 256, 4, buffer, 1024, 4));
            commands.bind(1, words(arena, buffer, 0, 4, buffer, 1536, 4));
            run(commands);
            assertThat(host.get(ValueLayout.JAVA_INT, 1024)).isEqualTo(60);
            assertThat(host.get(ValueLayout.JAVA_INT, 1536)).isEqualTo(500);
            assertThatThrownBy(() -> commands.bind(2, words(arena, buffer, 0, 4, buffer, 0, 4)))
                    .isInstanceOfSatisfying(
                            IreeException.class, e -> assertThat(e.code()).isEqualTo(StatusCode.FAILED_PRECONDITION));
        }
    }

    @Test
    void malformedWordsAreRefused() throws IOException {
        try (Arena arena = Arena.ofConfined();
                VulkanPipeline pipeline = scale(false, 0, null);
                VulkanAllocation memory = device.allocate(8192, visible, 0);
                VulkanTimeline timeline = device.createTimeline(0);
                VulkanCommands commands = device.createCommands(device.queueFamily(0))) {
            long buffer = memory.buffer();
            long[][] recordings = {
                {99},
                {FILL, buffer, 0, 4},
                {FILL, buffer, 2, 4, 0},
                {COPY, buffer, 0, buffer, 4096, 0},
                {DISPATCH, pipeline.handle(), MODE_SETS, Long.MAX_VALUE},
                {DISPATCH, pipeline.handle(), MODE_SETS, 1, buffer, 0, 4, 0, 0, 1, 1, 1},
                {DISPATCH, pipeline.handle(), MODE_PUSH, 2, buffer, 0, 4, buffer, 0, 4, 0, 0, 1, 1, 1},
                {DISPATCH, pipeline.handle(), MODE_SETS, 2, buffer, 0, 4, buffer, 0, 4, 0, 16, 0, 0, 1, 1, 1},
                {DISPATCH, pipeline.handle(), MODE_SETS, 2, buffer, 1, 4, buffer, 0, 4, 0, 0, 1, 1, 1},
                {DISPATCH, pipeline.handle(), MODE_SETS, 2, buffer, 0, 1L << 40, buffer, 0, 4, 0, 0, 1, 1, 1},
                {DISPATCH, pipeline.handle(), MODE_SETS, 2, buffer, 0, 4, buffer, 0, 4, 0, 0, 1L << 33, 1, 1},
                {DISPATCH, pipeline.handle(), MODE_SETS, 2, buffer, 0, 4, buffer, 0, 4, 0, 0, 1, 1},
            };
            for (long[] recording : recordings) {
                assertThatThrownBy(() -> commands.record(words(arena, recording), recording.length))
                        .as(Arrays.toString(recording))
                        .isInstanceOfSatisfying(
                                IreeException.class,
                                e -> assertThat(e.code()).isIn(StatusCode.INVALID_ARGUMENT, StatusCode.OUT_OF_RANGE))
                        .hasMessageContaining("operation 0");
            }
            long[][] submissions = {
                {0, 0}, {0, 0, 1}, {1, 0, 0, timeline.handle()}, {Long.MAX_VALUE, Long.MAX_VALUE, 3, 0, 0, 0}
            };
            for (long[] submission : submissions) {
                assertThatThrownBy(() -> device.submit(0, words(arena, submission)))
                        .as(Arrays.toString(submission))
                        .isInstanceOfSatisfying(
                                IreeException.class, e -> assertThat(e.code()).isEqualTo(StatusCode.INVALID_ARGUMENT));
            }
            assertThatThrownBy(() -> device.submit(0, words(arena, 0, 0, 1, commands.handle())))
                    .hasMessageContaining("not recorded");
            assertThatThrownBy(() -> device.submit(1, words(arena, 0, 0, 0))).hasMessageContaining("queue 1");
        }
    }

    @Test
    void pipelineCachesPersistAndAreCheckedAgainstTheDevice() throws IOException {
        byte[] data;
        try (VulkanPipelineCache cache = device.createPipelineCache(null);
                VulkanPipeline _ = scale(false, 3, cache)) {
            data = cache.data();
        }
        assertThat(data).hasSizeGreaterThanOrEqualTo(32);
        try (VulkanPipelineCache again = device.createPipelineCache(data);
                VulkanPipeline pipeline = scale(false, 3, again)) {
            assertThat(pipeline.handle()).isNotZero();
        }
        data[20]++;
        assertThatThrownBy(() -> device.createPipelineCache(data))
                .isInstanceOfSatisfying(
                        IreeException.class, e -> assertThat(e.code()).isEqualTo(StatusCode.INCOMPATIBLE));
    }

    @Test
    void invalidLayoutsAndCodeAreRefused() throws IOException {
        MemorySegment code = VulkanLibraryTest.shader();
        VulkanLayout none = new VulkanLayout(List.of(), 0, false);
        assertThatThrownBy(() ->
                        device.createPipeline(MemorySegment.ofArray(new byte[64]), "main", none, new int[0], 0, null))
                .hasMessageContaining("not a SPIR-V");
        assertThatThrownBy(() -> device.createPipeline(
                        code, "main", new VulkanLayout(List.of(), 1 << 20, false), new int[0], 0, null))
                .hasMessageContaining("push constants");
        assertThatThrownBy(() -> device.createPipeline(code, "main", none, new int[0], 3, null))
                .hasMessageContaining("subgroups of 3");
        for (VulkanLayout.Binding binding : List.of(
                new VulkanLayout.Binding(-1, VulkanLayout.STORAGE_BUFFER, 1),
                new VulkanLayout.Binding(0, 3, 1),
                new VulkanLayout.Binding(0, VulkanLayout.STORAGE_BUFFER, -1))) {
            VulkanLayout layout = new VulkanLayout(List.of(List.of(binding)), 0, false);
            assertThatThrownBy(() -> device.createPipeline(code, "main", layout, new int[0], 0, null))
                    .hasMessageContaining("of set 0 with type");
        }
    }

    @Test
    void invalidAllocationsAreRefused() {
        assertThatThrownBy(() -> device.allocate(0, visible, 0)).hasMessageContaining("no bytes");
        assertThatThrownBy(() -> device.allocate(16, 99, 0)).hasMessageContaining("memory type 99");
        assertThatThrownBy(() -> device.allocate(Long.MAX_VALUE, visible, 0))
                .isInstanceOfSatisfying(
                        IreeException.class, e -> assertThat(e.code()).isEqualTo(StatusCode.RESOURCE_EXHAUSTED));
    }

    @Test
    void memoryIsExportedAndImported() {
        assumeTrue(device.has(VulkanFeature.EXTERNAL_MEMORY_FD), "no VK_KHR_external_memory_fd");
        try (VulkanAllocation memory = device.allocate(65536, visible, VulkanHandle.EXPORTABLE);
                VulkanAllocation same = device.importDescriptor(memory.exportDescriptor(), 65536, visible)) {
            Objects.requireNonNull(memory.memory()).set(ValueLayout.JAVA_INT, 4096, 42);
            assertThat(Objects.requireNonNull(same.memory()).get(ValueLayout.JAVA_INT, 4096))
                    .isEqualTo(42);
        }
        try (VulkanAllocation memory = device.allocate(4096, visible, 0)) {
            assertThatThrownBy(memory::exportDescriptor).hasMessageContaining("exportable");
        }
    }

    @Test
    void hostMemoryIsUsedInPlace() {
        assumeTrue(device.has(VulkanFeature.EXTERNAL_MEMORY_HOST), "no VK_EXT_external_memory_host");
        long alignment = device.properties().limits().minImportedHostPointerAlignment();
        try (Arena arena = Arena.ofConfined();
                VulkanCommands commands = device.createCommands(device.queueFamily(0))) {
            MemorySegment host = arena.allocate(alignment, alignment);
            try (VulkanAllocation imported = device.importHost(host.address(), alignment)) {
                commands.record(words(arena, FILL, imported.buffer(), 0, 64, 7), 5);
                run(commands);
            }
            assertThat(host.get(ValueLayout.JAVA_INT, 60)).isEqualTo(7);
            assertThat(host.get(ValueLayout.JAVA_INT, 64)).isZero();
            assertThatThrownBy(() -> device.importHost(host.address() + 1, alignment))
                    .hasMessageContaining("multiples of");
        }
    }

    @Test
    void timelinesAreExportedOrTheExtensionIsNamed() {
        if (device.has(VulkanFeature.EXTERNAL_SEMAPHORE_FD)) {
            try (VulkanTimeline one = device.createTimeline(0, VulkanHandle.EXPORTABLE);
                    VulkanTimeline two = device.createTimeline(0, VulkanHandle.EXPORTABLE)) {
                two.importDescriptor(one.exportDescriptor());
                one.signal(3);
                assertThat(two.value()).isEqualTo(3);
            }
        } else {
            assertThatThrownBy(() -> device.createTimeline(0, VulkanHandle.EXPORTABLE))
                    .isInstanceOfSatisfying(
                            IreeException.class, e -> assertThat(e.code()).isEqualTo(StatusCode.UNIMPLEMENTED))
                    .hasMessageContaining("VK_KHR_external_semaphore_fd");
        }
    }

    @Test
    void devicesOpenWithFeaturesDisabled() {
        VulkanDeviceRequest request = new VulkanDeviceRequest(
                List.of(device.queueFamily(0)), EnumSet.complementOf(EnumSet.of(VulkanFeature.SHADER_INT64)));
        try (VulkanHandle bare = api.openDevice(0, request)) {
            assertThat(VulkanFeature.of(bare.features() & ~VulkanFeature.SHADER_INT64.bit()))
                    .containsExactly(VulkanFeature.TIMELINE_SEMAPHORE, VulkanFeature.SYNCHRONIZATION_2);
            assertThatThrownBy(() -> bare.allocate(4096, visible, VulkanHandle.EXPORTABLE))
                    .hasMessageContaining("VK_KHR_external_memory_fd");
            assertThatThrownBy(() -> bare.createTimeline(0, VulkanHandle.EXPORTABLE))
                    .hasMessageContaining("VK_KHR_external_semaphore_fd");
            assertThatThrownBy(() -> bare.importHost(4096, 4096)).hasMessageContaining("VK_EXT_external_memory_host");
            try (VulkanAllocation memory = bare.allocate(4096, visible, 0)) {
                assertThat(memory.deviceAddress()).isZero();
            }
        }
    }

    @Test
    void missingQueuesAreRefused() {
        int families = device.properties().queueFamilies().size();
        assertThatThrownBy(() -> api.openDevice(0, VulkanDeviceRequest.of(List.of(families))))
                .hasMessageContaining("queue family " + families);
        assertThatThrownBy(() -> api.openDevice(0, VulkanDeviceRequest.of(List.of())))
                .hasMessageContaining("0 queues");
        assertThatThrownBy(() -> api.openDevice(9, VulkanDeviceRequest.of(List.of(0))))
                .hasMessageContaining("device 9");
        assertThatThrownBy(() -> device.createCommands(31)).hasMessageContaining("family 31");
    }

    @Test
    void aCloseDuringAWaitTakesEffectAfterwards() throws Exception {
        VulkanTimeline timeline = device.createTimeline(0);
        VulkanTimeline wakeup = device.createTimeline(0);
        CountDownLatch waiting = new CountDownLatch(1);
        CompletableFuture<Integer> ended = new CompletableFuture<>();
        Thread waiter = Thread.ofPlatform().start(() -> {
            waiting.countDown();
            try {
                ended.complete(device.waitAny(new VulkanTimeline[] {timeline, wakeup}, new long[] {1, 1}, 2, FOREVER));
            } catch (Throwable e) {
                ended.completeExceptionally(e);
            }
        });
        waiting.await();
        while (timeline.guard.uses() == 0) {
            Thread.onSpinWait();
        }
        timeline.close();
        device.close();
        assertThat(VulkanApi.liveObjects()[VulkanApi.KINDS.indexOf("SEMAPHORES")])
                .isEqualTo(2);
        wakeup.signal(1);
        wakeup.close();
        assertThat(ended.get()).isEqualTo(VulkanHandle.REACHED);
        waiter.join();
        assertThat(device.liveObjects()).containsOnly(0);
        assertThatThrownBy(() -> device.createTimeline(0)).hasMessageContaining("is closed");
        assertThatThrownBy(() -> device.submit(0, Arena.ofAuto().allocate(24, 8)))
                .hasMessageContaining("is closed");
        assertThat(device.isLost()).isFalse();
    }

    @Test
    void validationMessagesAreCollected() {
        assumeTrue(api.collectsMessages(), "the Khronos validation layer is not installed");
        int family = device.queueFamily(0);
        try (Arena arena = Arena.ofConfined();
                VulkanApi other = VulkanApi.open(null, true);
                VulkanHandle same = other.openDevice(0, VulkanDeviceRequest.of(List.of(family)));
                VulkanAllocation memory = same.allocate(4096, visible, 0);
                VulkanCommands commands = same.createCommands(family)) {
            // Recorded, never submitted.
            commands.record(words(arena, FILL, memory.buffer(), 0, 8192, 7), 5);
            assertThat(other.validationMessages()).isPositive();
            assertThat(other.lastValidationMessages()).anyMatch(message -> message.contains("vkCmdFillBuffer"));
        }
    }

    @Test
    void virtualThreadsDoNotWait() throws Exception {
        try (VulkanTimeline timeline = device.createTimeline(0)) {
            CompletableFuture<Integer> ended = new CompletableFuture<>();
            Thread.ofVirtual().start(() -> {
                try {
                    ended.complete(device.waitAny(new VulkanTimeline[] {timeline}, new long[] {1}, 1, 0));
                } catch (Throwable e) {
                    ended.completeExceptionally(e);
                }
            });
            assertThatThrownBy(ended::get).hasMessageContaining("virtual thread");
        }
    }

    @Test
    void anyOfSeveralTimelinesEndsAWait() throws Exception {
        try (VulkanTimeline first = device.createTimeline(5);
                VulkanTimeline second = device.createTimeline(0)) {
            assertThat(first.value()).isEqualTo(5);
            VulkanTimeline[] both = {first, second};
            assertThat(device.waitAny(both, new long[] {6, 1}, 2, 0)).isEqualTo(VulkanHandle.TIMED_OUT);
            Thread signaller = Thread.ofPlatform().start(() -> second.signal(1));
            assertThat(device.waitAny(both, new long[] {6, 1}, 2, FOREVER)).isEqualTo(VulkanHandle.REACHED);
            signaller.join();
            for (int count : new int[] {-1, 0, 3}) {
                assertThatThrownBy(() -> device.waitAny(both, new long[] {6, 1}, count, 0))
                        .hasMessageContaining(count + " timelines to wait for");
            }
        }
    }

    @Test
    void closedObjectsRefuseCalls() {
        VulkanTimeline timeline = device.createTimeline(0);
        timeline.close();
        timeline.close();
        assertThatThrownBy(() -> timeline.signal(1))
                .isInstanceOfSatisfying(
                        IreeException.class, e -> assertThat(e.code()).isEqualTo(StatusCode.FAILED_PRECONDITION))
                .hasMessageContaining("timeline on device")
                .hasMessageContaining("is closed");
    }
}
