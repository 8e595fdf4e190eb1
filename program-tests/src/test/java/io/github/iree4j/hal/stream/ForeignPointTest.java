package io.github.iree4j.hal.stream;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.async.Fence;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.hal.spi.DeviceOptions;
import io.github.iree4j.hal.vulkan.FakeDriver;
import io.github.iree4j.hal.vulkan.VulkanDrivers;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Waits for points of other drivers, closed as soon as reached, whatever was decided about the waits. */
@Timeout(300)
class ForeignPointTest {
    @TempDir
    private Path directory;

    private FakeDriver fake;
    private StreamDevice device;
    private DriverTimeline foreign;
    private ForeignPoint point;
    private final TimelineSemaphore timeline = TimelineSemaphore.create(0);
    private final TimelineSemaphore done = TimelineSemaphore.create(0);
    private final Fence wait = Fence.at(timeline, 1);
    private final Fence signal = Fence.at(done, 1);

    @BeforeEach
    void open() {
        fake = FakeDriver.in(directory, "");
        device = fake.open(DeviceOptions.builder());
        foreign = device.driver().createTimeline(0, false);
        point = ForeignPoint.open(device, foreign, 1);
        assertThat(timeline.promiseExternal(1, point)).isTrue();
    }

    @AfterEach
    void close() {
        wait.close();
        signal.close();
        timeline.close();
        done.close();
        if (device == null) {
            return; // skipped: there is no library
        }
        foreign.close();
        device.close();
        VulkanDrivers.assertNothingLeft(device);
        fake.assertNothingToComplainOf();
    }

    private void reachAndClose() {
        foreign.signal(1);
        timeline.signalExternal(1);
        foreign.close();
    }

    /** Does nothing on a stream; reports after the decision, just before the issue. */
    private static final class Step extends StreamOperation {
        private final Runnable decided;

        Step(Runnable decided) {
            super("step");
            this.decided = decided;
        }

        @Override
        @Nullable
        StreamWork prepare() {
            decided.run();
            return null;
        }

        @Override
        protected void retain() {}

        @Override
        protected void release() {}
    }

    private StreamQueue queue() {
        return (StreamQueue) device.queue(0);
    }

    @Test // PREM-3
    void aPointReachedAndClosedBetweenDecidingAndIssuingDelaysNothing() {
        queue().scheduler().submit(wait, signal, () -> new Step(this::reachAndClose));
        assertThat(queue().counters().deviceWaits()).isOne();
        signal.await();
        assertThat(done.failure()).isNull();
    }

    @Test
    void aPointClosedBeforeItsValueIsReachedIsWaitedForByTheHost() {
        foreign.close();
        queue().scheduler().submit(wait, signal, () -> new Step(() -> {}));
        assertThat(queue().counters().deviceWaits()).isZero();
        assertThat(queue().counters().pending()).isOne();
        timeline.signalExternal(1);
        signal.await();
    }

    @Test
    void aStreamKnowsWhetherAPointIsReached() {
        HardwareStream stream = queue().stream();
        assertThat(stream.hasPassedExternal(point)).isFalse();
        foreign.signal(1);
        assertThat(stream.hasPassedExternal(point)).isTrue();
        timeline.signalExternal(1);
        foreign.close();
        assertThat(stream.hasPassedExternal(point)).isTrue();
    }
}
