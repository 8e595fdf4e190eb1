package io.github.iree4j.nativeaccess;

import static io.github.iree4j.nativeaccess.VulkanWords.COPY;
import static io.github.iree4j.nativeaccess.VulkanWords.FILL;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The real driver of this machine, with validation where that is installed. */
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
    void leavesNothingBehindAndNoComplaint() {
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
    void whatTheHostWritesTheDeviceCopiesAndFills() {
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
            // The same commands once more, after a value that only the host knows.
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
        }
    }

    @Test
    void whatIsClosedRefuses() {
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
