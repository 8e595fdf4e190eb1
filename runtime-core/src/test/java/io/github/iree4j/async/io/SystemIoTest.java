package io.github.iree4j.async.io;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.nativeaccess.NativeLibrary;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;

/** A single wait for everything reported by the system. */
@Timeout(300)
class SystemIoTest {
    private static final int ETIME = 62;
    private static final int ECANCELED = 125;

    private final List<String> events = new ArrayList<>();
    private int outcome; // the outcome of a sync_fd, created only by a driver
    private final SystemIo io = SystemIo.create("test", System::nanoTime, SystemIo.Files.POOL, descriptor -> outcome);

    @BeforeAll
    static void load() {
        NativeLibrary.ensureAvailable();
    }

    @AfterEach
    void close() {
        io.close();
    }

    private Completion note(String what) {
        return (result, failure) -> events.add(what + " " + (failure == null ? result : failure.code()));
    }

    private void pollUntil(int count) {
        while (events.size() < count) {
            io.proactor().poll(Duration.ofSeconds(30));
        }
        io.proactor().poll();
        assertThat(events).hasSize(count);
    }

    @Test
    @DisabledOnOs(value = OS.WINDOWS, disabledReason = "Windows has no eventfd and epoll")
    void anErrorInsideASyncFdIsNotASuccess() {
        try (SystemEvent event = SystemEvent.create()) {
            event.signal();
            outcome = ETIME;
            io.watch(event, note("hung"));
            pollUntil(1);
            outcome = ECANCELED;
            io.watch(event, note("cancelled"));
            pollUntil(2);
            outcome = 0;
            io.watch(event, note("completed"));
            pollUntil(3);
        }
        assertThat(events).containsExactly("hung ABORTED", "cancelled CANCELLED", "completed 0");
    }

    @Test
    @DisabledOnOs(value = OS.WINDOWS, disabledReason = "Windows has no eventfd and epoll")
    void aTimelineFailsWithTheErrorInsideASyncFd() {
        outcome = ETIME;
        try (SystemEvent event = SystemEvent.create();
                TimelineSemaphore timeline = TimelineSemaphore.create(0)) {
            event.signal();
            EventImport.register(io, event, timeline, 1);
            while (timeline.failure() == null) {
                io.proactor().poll(Duration.ofSeconds(30));
            }
            assertThat(timeline.value()).isNotEqualTo(1);
            assertThat(timeline.failure().code()).isEqualTo(StatusCode.ABORTED);
            assertThat(timeline.failure()).hasMessageContaining("failed with errno 62");
        }
    }

    @Test
    @DisabledOnOs(value = OS.WINDOWS, disabledReason = "Windows has no eventfd and epoll")
    void closingEndsWaitsForEvents() {
        SystemEvent event = SystemEvent.create();
        TimelineSemaphore timeline = TimelineSemaphore.create(0);
        EventImport.register(io, event, timeline, 1);
        io.watch(event, note("watch"));
        io.close();
        assertThat(events).containsExactly("watch CANCELLED");
        assertThat(timeline.failure()).extracting(IreeException::code).isEqualTo(StatusCode.CANCELLED);
        event.close();
        timeline.close();
        assertThat(event.isLive()).isFalse();
        assertThat(timeline.isLive()).isFalse();
    }
}
