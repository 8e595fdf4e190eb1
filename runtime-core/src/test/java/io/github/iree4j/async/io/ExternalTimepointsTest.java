package io.github.iree4j.async.io;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.github.iree4j.async.Cancellation;
import io.github.iree4j.async.SemaphoreOptions;
import io.github.iree4j.async.SemaphoreScope;
import io.github.iree4j.async.SignalRecord;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.frontier.Axis;
import io.github.iree4j.frontier.CausalDomain;
import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.nativeaccess.NativeLibrary;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CyclicBarrier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;

/** EVENT-1: an imported event reaches its timeline once, or never after a cancelled import. */
@DisabledOnOs(value = OS.WINDOWS, disabledReason = "Windows has no eventfd and epoll")
class ExternalTimepointsTest {
    private static final Duration LONG = Duration.ofSeconds(30);
    private static final SemaphoreOptions EXPORTABLE = SemaphoreOptions.DEFAULTS.withScope(SemaphoreScope.SYSTEM_WIDE);

    private final List<SystemEvent> events = new ArrayList<>();
    private final TimelineSemaphore semaphore = TimelineSemaphore.create(EXPORTABLE);

    @BeforeAll
    static void load() {
        NativeLibrary.ensureAvailable();
    }

    @AfterEach
    void everythingIsReleased() {
        semaphore.close();
        events.forEach(SystemEvent::close);
        assertThat(events).noneMatch(SystemEvent::isLive);
        assertThat(semaphore.isLive()).isFalse();
    }

    private SystemEvent event() {
        return kept(SystemEvent.create());
    }

    private SystemEvent kept(SystemEvent event) {
        events.add(event);
        return event;
    }

    @Test
    void anImportedEventReachesATaintedValue() {
        SystemEvent event = event();
        SignalRecord found = new SignalRecord();
        ExternalTimepoints.importEvent(event, semaphore, 3);
        assertThat(semaphore.lookup(3, found)).isTrue();
        assertThat(found.isReached()).isFalse();
        assertThat(found.isTainted()).isTrue();
        assertThat(found.primitive()).as("the kinds that a device can wait for").isSameAs(event);
        event.signal();
        semaphore.await(3, LONG);
        assertThat(semaphore.isTainted(3)).isTrue();
        Frontier ours = Frontier.producedBy(Axis.of(1, 0, CausalDomain.QUEUE, 0), 1);
        semaphore.signal(4, ours);
        assertThat(semaphore.isTainted(3)).isFalse();
        assertThat(semaphore.frontierAt(3)).isSameAs(ours);
        awaitRelease(event);
    }

    @Test
    void aSignalledEventCanBeImported() {
        SystemEvent event = event();
        event.signal();
        ExternalTimepoints.importEvent(event, semaphore, 1);
        semaphore.await(1, LONG);
        assertThat(event.take()).as("nothing is read from it").isEqualTo(1);
        awaitRelease(event);
    }

    @Test
    void anEventMayReachSeveralTimelines() {
        SystemEvent event = event();
        try (TimelineSemaphore other = TimelineSemaphore.create(0)) {
            ExternalTimepoints.importEvent(event, semaphore, 1);
            ExternalTimepoints.importEvent(event, other, 5);
            event.signal();
            semaphore.await(1, LONG);
            other.await(5, LONG);
        }
        awaitRelease(event);
    }

    @Test
    void aSystemWideTimelineIsExportedAsAnEventfd() {
        SystemEvent exported = kept(ExternalTimepoints.exportEvent(semaphore, 2));
        SystemEvent received = kept(SystemEvent.duplicate(exported.descriptor()));
        try (TimelineSemaphore elsewhere = TimelineSemaphore.create(0)) {
            ExternalTimepoints.importEvent(received, elsewhere, 1);
            semaphore.signal(1);
            assertThat(received.take()).isZero();
            semaphore.signal(2);
            elsewhere.await(1, LONG);
            assertThat(elsewhere.isTainted(1)).isTrue();
        }
        assertThat(received.take()).isEqualTo(SystemEvent.REACHED);
        awaitRelease(received);
    }

    @Test
    void aReachedValueIsExportedAsASignalledEvent() {
        semaphore.signal(4);
        assertThat(kept(ExternalTimepoints.exportEvent(semaphore, 3)).take()).isEqualTo(SystemEvent.REACHED);
        assertThat(kept(ExternalTimepoints.exportEvent(semaphore, 4)).take()).isEqualTo(SystemEvent.REACHED);
    }

    @Test
    void everyExportHasItsOwnValue() {
        List<SystemEvent> exported = new ArrayList<>();
        for (int value = 1; value <= 4; value++) {
            exported.add(kept(ExternalTimepoints.exportEvent(semaphore, value)));
        }
        semaphore.signal(2);
        assertThat(exported).extracting(SystemEvent::take).containsExactly(1L, 1L, 0L, 0L);
        semaphore.signal(4);
        assertThat(exported).extracting(SystemEvent::take).containsExactly(0L, 0L, 1L, 1L);
    }

    @Test
    void anExportedEventReportsFailure() {
        SystemEvent exported = kept(ExternalTimepoints.exportEvent(semaphore, 2));
        semaphore.fail(IreeException.of(StatusCode.DATA_LOSS, "lost on purpose"));
        assertThat(exported.take()).isEqualTo(SystemEvent.FAILED);
        assertThat(kept(ExternalTimepoints.exportEvent(semaphore, 2)).take()).isEqualTo(SystemEvent.FAILED);
    }

    @Test
    void aClosedExportIsUnregistered() {
        ExternalTimepoints.exportEvent(semaphore, 1).close();
        semaphore.signal(1);
        assertThat(semaphore.failure()).isNull();
    }

    @Test
    void aNarrowerTimelineIsNotExported() {
        try (TimelineSemaphore narrow = TimelineSemaphore.create(0)) {
            assertThatExceptionOfType(IreeException.class)
                    .isThrownBy(() -> ExternalTimepoints.exportEvent(narrow, 1))
                    .withMessageContaining("export of value 1 needs a semaphore of scope 'SYSTEM_WIDE'")
                    .satisfies(e -> assertThat(e.code()).isEqualTo(StatusCode.FAILED_PRECONDITION));
        }
    }

    @Test
    void aCancelledImportDoesNothing() {
        SystemEvent event = event();
        Cancellation wait = ExternalTimepoints.importEvent(event, semaphore, 1);
        assertThat(wait.cancel()).isTrue();
        assertThat(wait.cancel()).isFalse();
        assertThat(semaphore.frontierAt(1)).as("the promise is withdrawn").isNull();
        event.signal();
        ExternalTimepoints.importEvent(event, semaphore, 2); // the same thread would have seen the first by then
        semaphore.await(2, LONG);
        assertThat(semaphore.value()).isEqualTo(2);
        awaitRelease(event);
    }

    @Test
    void anImportOfAReachedValueIsRefused() {
        semaphore.signal(4);
        SystemEvent event = event();
        assertThatExceptionOfType(IreeException.class)
                .isThrownBy(() -> ExternalTimepoints.importEvent(event, semaphore, 4))
                .withMessageContaining("semaphore value 4 is reached or promised already");
        assertThatExceptionOfType(IreeException.class)
                .isThrownBy(() -> SystemEvent.duplicate(-1))
                .withMessageContaining("descriptor -1 is not open");
    }

    @Test
    void aLateEventFailsTheTimeline() {
        SystemEvent event = event();
        ExternalTimepoints.importEvent(event, semaphore, 2);
        semaphore.signal(3);
        event.signal();
        awaitRelease(event);
        assertThat(semaphore.failure()).extracting(IreeException::code).isEqualTo(StatusCode.INVALID_ARGUMENT);
    }

    @Test
    void anImportedValueIsExportedAgain() {
        SystemEvent event = event();
        SystemEvent exported = kept(ExternalTimepoints.exportEvent(semaphore, 1));
        ExternalTimepoints.importEvent(event, semaphore, 1);
        assertThat(exported.take()).isZero();
        event.signal();
        semaphore.await(1, LONG);
        awaitRelease(event);
        assertThat(exported.take()).isEqualTo(SystemEvent.REACHED);
    }

    @Test
    void severalThreadsImportWhileOthersSignal() throws Exception {
        int count = 100;
        List<SystemEvent> each = new ArrayList<>();
        for (int i = 0; i < 4 * count; i++) {
            each.add(event());
        }
        List<TimelineSemaphore> timelines = new ArrayList<>();
        List<Thread> threads = new ArrayList<>();
        for (int t = 0; t < 4; t++) {
            TimelineSemaphore timeline = TimelineSemaphore.create(0);
            timelines.add(timeline);
            List<SystemEvent> own = each.subList(t * count, (t + 1) * count);
            threads.add(Thread.ofPlatform().start(() -> {
                for (int i = 0; i < count; i++) {
                    ExternalTimepoints.importEvent(own.get(i), timeline, i + 1);
                    own.get(i).signal();
                    timeline.await(i + 1, LONG);
                }
            }));
        }
        for (Thread thread : threads) {
            thread.join();
        }
        assertThat(timelines).allMatch(timeline -> timeline.value() == count);
        each.forEach(ExternalTimepointsTest::awaitRelease);
        timelines.forEach(TimelineSemaphore::close);
    }

    @Test
    void manyEventsRaceWithCancellation() throws Exception {
        int count = 200;
        List<TimelineSemaphore> timelines = new ArrayList<>();
        List<Cancellation> imports = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            timelines.add(TimelineSemaphore.create(0));
            imports.add(ExternalTimepoints.importEvent(event(), timelines.get(i), 1));
        }
        CyclicBarrier start = new CyclicBarrier(2);
        Thread signaller = Thread.ofPlatform().start(() -> {
            meet(start);
            events.forEach(SystemEvent::signal);
        });
        meet(start);
        boolean[] cancelled = new boolean[count];
        for (int i = 0; i < count; i++) {
            cancelled[i] = imports.get(i).cancel();
        }
        signaller.join();
        for (int i = 0; i < count; i++) {
            awaitRelease(events.get(i));
            assertThat(timelines.get(i).value()).isEqualTo(cancelled[i] ? 0 : 1);
            timelines.get(i).close();
        }
    }

    private static void meet(CyclicBarrier barrier) {
        try {
            barrier.await();
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    /** Closes the event and returns once no other reference is left, so the import is over. */
    private static void awaitRelease(SystemEvent event) {
        event.close();
        long deadline = System.nanoTime() + LONG.toNanos();
        while (event.isLive()) {
            assertThat(System.nanoTime())
                    .as("import still holds %s", event.describe())
                    .isLessThan(deadline);
            Thread.onSpinWait();
        }
    }
}
