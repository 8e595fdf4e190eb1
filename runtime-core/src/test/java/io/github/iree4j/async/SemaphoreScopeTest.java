package io.github.iree4j.async;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.github.iree4j.frontier.Axis;
import io.github.iree4j.frontier.CausalDomain;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

class SemaphoreScopeTest {
    private final Object pair = new Object(); // two devices with signals to each other
    private final Object left = new Object();
    private final Object right = new Object();
    private final Object far = new Object();
    private final QueuePlace leftFirst = new QueuePlace(axis(0), left, pair);
    private final QueuePlace leftSecond = new QueuePlace(axis(1), left, pair);
    private final QueuePlace rightQueue = new QueuePlace(axis(2), right, pair);
    private final QueuePlace farQueue = new QueuePlace(axis(3), far, far);

    private static long axis(int ordinal) {
        return Axis.of(1, 0, CausalDomain.QUEUE, ordinal);
    }

    private static TimelineSemaphore semaphore(SemaphoreScope scope) {
        return TimelineSemaphore.create(SemaphoreOptions.DEFAULTS.withScope(scope));
    }

    @Test
    void everyScopeAllowsItsUsesAndNoWiderUse() {
        List<QueuePlace> places = List.of(leftFirst, leftSecond, rightQueue, farQueue);
        for (SemaphoreScope scope : SemaphoreScope.values()) {
            TimelineSemaphore semaphore = semaphore(scope);
            for (QueuePlace place : places) {
                SemaphoreScope needed = leftFirst.scopeWith(place);
                if (scope.includes(needed)) {
                    semaphore.checkUse(place);
                } else {
                    assertThatExceptionOfType(IreeException.class)
                            .isThrownBy(() -> semaphore.checkUse(place))
                            .withMessageContaining("create it with '" + needed + "'")
                            .satisfies(e -> assertThat(e.code()).isEqualTo(StatusCode.FAILED_PRECONDITION));
                }
            }
            semaphore.checkUse(leftFirst);
        }
    }

    @Test
    void theHostMayUseEveryScope() {
        for (SemaphoreScope scope : SemaphoreScope.values()) {
            TimelineSemaphore semaphore = semaphore(scope);
            semaphore.signal(1);
            semaphore.await(1, Duration.ZERO);
            assertThat(semaphore.scope()).isEqualTo(scope);
        }
    }

    @Test
    void theDefaultIsThisProcess() {
        assertThat(TimelineSemaphore.create(0).scope()).isEqualTo(SemaphoreScope.PROCESS_LOCAL);
    }

    @Test
    void optionsAreChecked() {
        assertThatExceptionOfType(IreeException.class)
                .isThrownBy(() -> SemaphoreOptions.DEFAULTS.withHistoryCapacity(0))
                .withMessageContaining("[1, 4096]");
        assertThatExceptionOfType(IreeException.class)
                .isThrownBy(() -> SemaphoreOptions.DEFAULTS.withInitialValue(-1))
                .withMessageContaining("initial semaphore value -1");
    }
}
