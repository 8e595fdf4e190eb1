package io.github.iree4j.nativeaccess;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.iree4j.status.IreeException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;

@Timeout(300)
@DisabledOnOs(value = OS.WINDOWS, disabledReason = "Windows has no eventfd and epoll")
class EventDescriptorTest {
    private static final Duration FOREVER = Duration.ofSeconds(-1);

    @Test
    void signalsAddUpUntilTaken() {
        try (EventDescriptor event = EventDescriptor.create()) {
            assertThat(event.take()).isZero();
            event.signal(1);
            event.signal(4);
            assertThat(event.take()).isEqualTo(5);
            assertThat(event.take()).isZero();
        }
    }

    @Test
    void aDuplicateOutlivesItsOriginal() {
        EventDescriptor event = EventDescriptor.create();
        try (EventDescriptor copy = EventDescriptor.duplicate(event.number())) {
            event.signal(2);
            event.close();
            event.close();
            assertThat(copy.take()).isEqualTo(2);
        }
    }

    @Test
    void closedAndWrongDescriptorsAreRefused() {
        EventDescriptor event = EventDescriptor.create();
        event.close();
        assertThatThrownBy(() -> event.signal(1))
                .isInstanceOf(IreeException.class)
                .hasMessageContaining("is closed");
        assertThatThrownBy(() -> EventDescriptor.duplicate(-5))
                .isInstanceOf(IreeException.class)
                .hasMessage("descriptor -5 is not open");
    }

    @Test
    void readableDescriptorsAreReportedOnce() {
        try (EventPoller poller = EventPoller.create();
                EventDescriptor one = EventDescriptor.create();
                EventDescriptor two = EventDescriptor.create()) {
            poller.add(one, 1);
            poller.add(two, Long.MIN_VALUE);
            List<String> reports = new ArrayList<>();
            EventPoller.Consumer consumer = (token, readable) -> reports.add(token + " " + readable);
            assertThat(poller.await(Duration.ZERO, consumer)).isZero();
            two.signal(1);
            assertThat(poller.await(FOREVER, consumer)).isEqualTo(1);
            assertThat(poller.await(Duration.ofMillis(1), consumer)).isZero();
            assertThat(reports).containsExactly(Long.MIN_VALUE + " true");
            poller.remove(one);
            poller.remove(one);
            one.signal(1);
            assertThat(poller.await(Duration.ZERO, consumer)).isZero();
            assertThatThrownBy(() -> poller.add(two, 3)).hasMessageContaining("is waited for already");
            poller.remove(two);
        }
    }

    @Test
    void aVirtualThreadMayNotWait() throws Exception {
        AtomicReference<@Nullable Throwable> thrown = new AtomicReference<>();
        try (EventPoller poller = EventPoller.create()) {
            Thread.ofVirtual()
                    .start(() -> {
                        try {
                            poller.await(Duration.ZERO, (token, readable) -> {});
                        } catch (IreeException e) {
                            thrown.set(e);
                        }
                    })
                    .join();
        }
        assertThat(thrown.get()).hasMessageContaining("use a platform thread");
    }
}
