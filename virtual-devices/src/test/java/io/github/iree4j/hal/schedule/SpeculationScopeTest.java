package io.github.iree4j.hal.schedule;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.iree4j.async.Fence;
import io.github.iree4j.async.FrontierTracker;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.frontier.AxisAllocator;
import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.hal.SchedulingDomain;
import io.github.iree4j.hal.virtual.VirtualClock;
import io.github.iree4j.hal.virtual.VirtualDevice;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The epochs accepted, reported and kept by a scope. */
class SpeculationScopeTest {
    private final VirtualClock clock = VirtualClock.stepped();
    private final FrontierTracker tracker = FrontierTracker.create();
    private final SchedulingDomain domain =
            SchedulingDomain.create(AxisAllocator.create(11, 0), tracker, Frontier.DEFAULT_CAPACITY);
    private final VirtualDevice device = VirtualDevice.builder()
            .clock(clock)
            .schedulingDomain(domain)
            .fifoQueues(3)
            .build();
    private final List<AutoCloseable> toClose = new ArrayList<>(List.of(tracker, device));
    private final SpeculationScope scope = SpeculationScope.open(device.queue(0), device.queue(1));

    @AfterEach
    void closeAll() throws Exception {
        for (AutoCloseable each : toClose.reversed()) {
            each.close();
        }
    }

    private <T extends AutoCloseable> T closed(T closeable) {
        toClose.add(closeable);
        return closeable;
    }

    private Fence at(TimelineSemaphore semaphore, long value) {
        return closed(Fence.at(semaphore, value));
    }

    private static void assertRefused(Runnable action, StatusCode code) {
        assertThatThrownBy(action::run)
                .isInstanceOfSatisfying(
                        IreeException.class, e -> assertThat(e.code()).isEqualTo(code));
    }

    @Test
    void impossibleEpochsAreRefused() {
        assertRefused(() -> scope.reject(0), StatusCode.INVALID_ARGUMENT);
        assertRefused(() -> scope.reject(-1), StatusCode.INVALID_ARGUMENT);
        assertRefused(() -> scope.accept(-1), StatusCode.INVALID_ARGUMENT);
        scope.accept(0);
        assertThat(scope.accepted()).isZero();
    }

    @Test
    void queuesUnknownToEachOtherAreRefused() {
        FrontierTracker others = closed(FrontierTracker.create());
        VirtualDevice other = closed(VirtualDevice.builder()
                .clock(clock)
                .schedulingDomain(
                        SchedulingDomain.create(AxisAllocator.create(12, 0), others, Frontier.DEFAULT_CAPACITY))
                .fifoQueues(2)
                .build());
        assertRefused(() -> SpeculationScope.open(device.queue(0), other.queue(1)), StatusCode.INVALID_ARGUMENT);
    }

    @Test
    void theEpochOfALaterValueDoesNotAnswerForAnEarlierValue() {
        TimelineSemaphore tokens = closed(TimelineSemaphore.create(0));
        device.queue(0).barrier(null, at(tokens, 2), 0);
        assertThat(scope.epochAt(tokens, 2)).isEqualTo(1);
        assertThat(scope.epochAt(tokens, 1))
                .as("accepting this would be too much")
                .isZero();
        clock.runUntilIdle();
        assertThat(scope.epochAt(tokens, 2)).isEqualTo(1);
        assertThat(scope.epochAt(tokens, 1)).isZero();
        assertThat(scope.epochAt(tokens, 3)).isZero();
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void signalsAfterTheLastPartOfAnOperationStandOnTheDraftToo(int count) {
        TimelineSemaphore reduced = closed(TimelineSemaphore.create(0));
        Fence whole = at(reduced, 1);
        TimelineSemaphore drafted = closed(TimelineSemaphore.create(0));
        device.queue(0).barrier(null, at(drafted, 1), 0);
        OperationParts parts = ((ScheduledQueue<?>) device.queue(2)).scheduler().beginParts(whole);
        TimelineSemaphore between = closed(TimelineSemaphore.create(0));
        for (int i = 0;
                i < count;
                i++) { // a collective follows on each, which is no operation and reports nothing before its end
            parts.submit(
                    at(i == 0 ? drafted : between, 2L * i + (i == 0 ? 1 : 0)), at(between, 2L * i + 1), Nothing::new);
        }
        clock.runUntilIdle();
        assertThat(between.value()).isEqualTo(1);
        TimelineSemaphore built = closed(TimelineSemaphore.create(0));
        device.queue(2).barrier(whole, at(built, 1), 0);
        assertThat(scope.reject(1)).isEqualTo(count);
        assertThat(built.failure()).isNotNull().extracting(IreeException::code).isEqualTo(StatusCode.CANCELLED);
        whole.signal();
        parts.end(false);
        scope.close();
    }

    @Test
    void closingCancelsRejectedWorkThatHadToWait() {
        TimelineSemaphore held = closed(TimelineSemaphore.create(0));
        TimelineSemaphore verified = closed(TimelineSemaphore.create(0));
        TimelineSemaphore first = closed(TimelineSemaphore.create(0));
        TimelineSemaphore second = closed(TimelineSemaphore.create(0));
        device.queue(0).barrier(null, at(first, 1), 0);
        Fence waits = closed(Fence.of(List.of(new Fence.Entry(first, 1), new Fence.Entry(held, 1))));
        device.queue(0).barrier(waits, at(second, 1), 0);
        device.queue(1).barrier(at(first, 1), at(verified, 1), 0);
        device.queue(1).barrier(at(second, 1), at(verified, 2), 0);
        assertThat(scope.reject(2)).isEqualTo(1);
        assertThat(second.failure()).as("verified would fail before reaching 1").isNull();
        scope.close();
        assertThat(second.failure()).isNotNull().extracting(IreeException::code).isEqualTo(StatusCode.CANCELLED);
    }

    @Test
    void endedAndAcceptedWorkIsForgotten() {
        TimelineSemaphore tokens = closed(TimelineSemaphore.create(0));
        TimelineSemaphore judged = closed(TimelineSemaphore.create(0));
        for (int token = 1; token <= 50; token++) {
            device.queue(0).barrier(null, at(tokens, token), 0);
            device.queue(1).barrier(at(tokens, token), at(judged, token), 0);
        }
        clock.runUntilIdle();
        assertThat(judged.value()).isEqualTo(50);
        assertThat(scope.remembered()).isGreaterThanOrEqualTo(100);
        scope.accept(scope.epochAt(tokens, 50));
        assertThat(scope.remembered()).isZero();
    }

    @Test
    @Timeout(150)
    void aClosedScopeTracksNothing() {
        WeakReference<SpeculationScope> gone = openAndClose();
        while (gone.get() != null) {
            System.gc();
        }
        assertThat(gone.get()).isNull();
    }

    private WeakReference<SpeculationScope> openAndClose() {
        SpeculationScope brief = SpeculationScope.open(device.queue(0), device.queue(2));
        brief.close();
        return new WeakReference<>(brief);
    }
}
