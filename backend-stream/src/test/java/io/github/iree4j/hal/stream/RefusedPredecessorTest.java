package io.github.iree4j.hal.stream;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.github.iree4j.async.Fence;
import io.github.iree4j.async.SemaphoreOptions;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.BufferParams;
import io.github.iree4j.hal.spi.DeviceOptions;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.lang.foreign.MemorySegment;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** SCHED-8: where the driver refuses commands at the submission, the lane is given no commands that rely on failed operations. */
@Timeout(60)
class RefusedPredecessorTest {
    private static final Duration LONG = Duration.ofSeconds(20);
    private static final int BYTES = 64;
    private static final int COLLECTIONS = 20;
    private static final IreeException CAUSE = IreeException.of(StatusCode.RESOURCE_EXHAUSTED, "refused on purpose");

    private final List<AutoCloseable> opened = new ArrayList<>();
    private final ScriptedDriver driver = new ScriptedDriver(2, false);
    private final StreamDevice device = driver.open(DeviceOptions.builder().queueCount(2), LONG);
    private final CountDownLatch go = new CountDownLatch(1);

    @AfterEach
    void close() throws Exception {
        driver.heal();
        driver.hold(false);
        go.countDown();
        for (AutoCloseable each : opened.reversed()) {
            each.close();
        }
        device.close();
        assertThat(StreamDevices.awaitFreed(device, LONG)).as("freed").isTrue();
        assertThat(driver.leftovers()).isEmpty();
    }

    private Fence fence() {
        TimelineSemaphore own = TimelineSemaphore.create(SemaphoreOptions.DEFAULTS);
        opened.add(own);
        Fence fence = Fence.at(own, 1);
        opened.add(fence);
        return fence;
    }

    private Buffer buffer() {
        Buffer made = device.allocator().allocate(BufferParams.DEFAULT, BYTES);
        opened.add(made);
        return made;
    }

    private Fence fill(int queue, @Nullable Fence wait, Buffer target, int pattern) {
        Fence done = fence();
        device.queue(queue).fill(wait, done, target, 0, BYTES, pattern, 4, 0);
        return done;
    }

    private static byte[] bytes(Buffer buffer) {
        byte[] bytes = new byte[BYTES];
        buffer.read(0, MemorySegment.ofArray(bytes));
        return bytes;
    }

    private static IreeException failure(Fence fence) {
        assertThat(catchThrowable(() -> fence.await(LONG))).isNotNull();
        return fence.failure().orElseThrow();
    }

    /** Blocks a queue: later operations of the queue are submitted together. */
    private void block(int queue) {
        device.queue(queue).hostCall(null, null, this::awaitGo, 0);
    }

    private void awaitGo() {
        try {
            go.await();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void commandsOfTheSameBatchBehindRefusedCommandsAreNotSubmitted() {
        Buffer target = buffer();
        Buffer other = buffer();
        block(0);
        driver.fail("submit commands", 0, 2, () -> CAUSE); // the batch, and then its first submission
        Fence refused = fill(0, null, target, 5);
        Fence behind = fill(0, refused, target, 7);
        Fence beside = fill(0, null, other, 8);
        go.countDown();
        beside.await(LONG);
        assertThat(failure(refused)).isSameAs(CAUSE);
        assertThat(failure(behind)).isSameAs(CAUSE);
        assertThat(bytes(target)).doesNotContain(7);
        assertThat(bytes(other)).contains(8);
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1})
    void commandsBehindRefusedCommandsAreNotSubmitted(int queue) {
        Buffer target = buffer();
        driver.hold(true); // the host learns of nothing meanwhile
        Fence first = fill(0, null, target, 9);
        driver.fail("submit commands", 0, 1, () -> CAUSE);
        Fence refused = fill(0, null, target, 5);
        Fence between = fence();
        device.queue(0).barrier(refused, between, 0);
        Fence behind = fill(queue, between, target, 7);
        driver.hold(false);
        first.await(LONG);
        assertThat(failure(behind)).isSameAs(CAUSE);
        assertThat(bytes(target)).contains(9).doesNotContain(7);
    }

    /** The commands are prepared while the call is running. */
    @Test
    void commandsBehindAFailedHostCallAreNotSubmitted() {
        Buffer target = buffer();
        Buffer other = buffer();
        Fence called = fence();
        device.queue(0)
                .hostCall(
                        null,
                        called,
                        () -> {
                            awaitGo();
                            throw CAUSE;
                        },
                        0);
        Fence behind = fill(0, called, target, 7);
        Fence beside = fill(0, null, other, 8);
        go.countDown();
        beside.await(LONG);
        assertThat(failure(called)).isSameAs(CAUSE);
        assertThat(failure(behind)).isSameAs(CAUSE);
        assertThat(bytes(target)).doesNotContain(7);
        assertThat(bytes(other)).contains(8);
    }

    @Test
    void commandsBehindUnrecordableCommandsAreNotSubmitted() {
        Buffer target = buffer();
        driver.hold(true);
        Fence first = fill(0, null, target, 9);
        driver.fail("finish", 0, 1, () -> CAUSE);
        Fence refused = fill(0, null, target, 5);
        Fence behind = fill(1, refused, target, 7);
        driver.hold(false);
        first.await(LONG);
        assertThat(failure(behind)).isSameAs(CAUSE);
        assertThat(bytes(target)).contains(9).doesNotContain(7);
    }

    /**
     * An operation without its commands has not succeeded, although the host has meanwhile signalled the awaited value.
     */
    @Test
    void anUnrunOperationFailsWhoeverSignalsTheAwaitedValue() {
        Buffer target = buffer();
        driver.hold(true);
        fill(0, null, buffer(), 9);
        driver.fail("submit commands", 0, 1, () -> CAUSE);
        Fence refused = fill(0, null, target, 5);
        Fence behind = fill(0, refused, target, 7);
        refused.semaphore(0).signal(1);
        driver.hold(false);
        assertThat(failure(behind)).isSameAs(CAUSE);
        assertThat(bytes(target)).doesNotContain(7);
    }

    /** The operation has a place when the wait fails, and comes to the stream when the failure has been forgotten there. */
    @Test
    void commandsBehindAFailureKnownToTheHostAreNotSubmitted() throws InterruptedException {
        Buffer target = buffer();
        Buffer other = buffer();
        driver.hold(true);
        fill(0, null, buffer(), 9);
        driver.fail("submit commands", 0, 1, () -> CAUSE);
        Fence refused = fill(0, null, target, 5);
        CountDownLatch recording = new CountDownLatch(1);
        driver.fail("finish", 0, 1, () -> {
            recording.countDown();
            awaitGo();
            return null;
        });
        Fence beside = fence();
        Thread busy = Thread.ofPlatform().start(() -> device.queue(1).fill(null, beside, other, 0, BYTES, 8, 4, 0));
        recording.await();
        driver.heal(); // other recordings go on
        Fence behind = fill(1, refused, target, 7);
        driver.hold(false);
        assertThat(failure(refused)).isSameAs(CAUSE);
        fill(0, null, buffer(), 6).await(LONG);
        go.countDown();
        busy.join();
        beside.await(LONG);
        assertThat(failure(behind)).isSameAs(CAUSE);
        assertThat(bytes(target)).doesNotContain(7);
    }

    @Test
    void aFailedEpochIsKnownUntilItsSignalsHaveFailedAndAnEndedEpochKeepsNothing() {
        StreamEpochs epochs = new StreamEpochs();
        List<StreamEntry> entries = new ArrayList<>();
        for (int epoch = 1; epoch <= 3; epoch++) {
            HardwareStream stream = ((StreamQueue) device.queue(0)).stream();
            StreamOperation nothing = new HostOperations.Barrier();
            entries.add(new StreamEntry(stream, nothing, epoch, new Outcome(), null, null, null));
            epochs.add(entries.getLast());
        }
        WeakReference<Outcome> followed = new WeakReference<>(follow(epochs, 2));
        entries.getFirst().fail(CAUSE);
        epochs.passed(entries.get(1), 0);
        assertThat(follow(epochs, 1).failure()).isSameAs(CAUSE);
        assertThat(follow(epochs, 2).failure()).isNull();
        epochs.passed(entries.get(2), 1);
        assertThat(follow(epochs, 1).failure()).isNull();
        for (int i = 0; i < COLLECTIONS && (followed.get() != null); i++) {
            System.gc();
        }
        assertThat(followed.get()).isNull();
        assertThat(entries.get(1).outcome.failure()).isNull();
    }

    private static Outcome follow(StreamEpochs epochs, long epoch) {
        Outcome later = new Outcome();
        epochs.precede(epoch, later);
        return later;
    }
}
