package io.github.iree4j.spring.cluster.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Collections;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.availability.AvailabilityChangeEvent;
import org.springframework.boot.availability.AvailabilityState;
import org.springframework.boot.availability.LivenessState;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.boot.web.servlet.support.ServletContextApplicationContextInitializer;
import org.springframework.context.ApplicationListener;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.event.ContextClosedEvent;
import org.springframework.context.support.GenericApplicationContext;
import org.springframework.mock.web.MockServletContext;
import org.springframework.test.context.support.TestPropertySourceUtils;

/** Restarts of a scripted application, on a clock moved by the pauses. */
@ExtendWith(OutputCaptureExtension.class)
@Timeout(60)
class ApplicationRestartTests {

    private static final Duration PATIENCE = Duration.ofSeconds(30);

    private final AtomicLong nanos = new AtomicLong();
    private final List<Long> pauses = new CopyOnWriteArrayList<>();
    private final List<Integer> exits = new CopyOnWriteArrayList<>();
    private final Scripted application = new Scripted();
    private final CountDownLatch never = new CountDownLatch(1);

    @AfterEach
    void release() {
        never.countDown();
    }

    /** Runs are made by a test, one after the other; without a script a run succeeds. */
    private static final class Scripted extends SpringApplication {
        private final Queue<Runnable> runs = new ArrayDeque<>();

        @Override
        public ConfigurableApplicationContext run(String... arguments) {
            assertThat(arguments).containsExactly("--of=main");
            Runnable next = runs.poll();
            if (next != null) {
                next.run();
            }
            return new GenericApplicationContext();
        }
    }

    private static void failing() {
        throw new IllegalStateException("the database\nis away");
    }

    private ApplicationRestart restart() {
        ApplicationRestart made = new ApplicationRestart(
                application,
                new String[] {"--of=main"},
                nanos::get,
                duration -> {
                    pauses.add(duration.toSeconds());
                    nanos.addAndGet(duration.toNanos());
                },
                exits::add);
        made.watch(() -> false, PATIENCE);
        return made;
    }

    /** As Spring Boot does for a run. */
    private static GenericApplicationContext start(ApplicationRestart restart) {
        GenericApplicationContext context = new GenericApplicationContext();
        start(restart, context);
        return context;
    }

    private static void start(ApplicationRestart restart, GenericApplicationContext context) {
        restart.contextPrepared(context);
        context.refresh();
        restart.started(context, null);
        restart.ready(context, null);
    }

    /** Waits for the end of all restarts. */
    private static void awaitEnd() {
        Awaitility.await()
                .until(() -> Thread.getAllStackTraces().keySet().stream()
                        .noneMatch(thread -> thread.getName().equals("iree-cluster-restart")));
    }

    private void fail(int runs) {
        application.runs.addAll(Collections.nCopies(runs, ApplicationRestartTests::failing));
    }

    @Test
    void runsAreRepeatedAfterOneTwoFourEightAndThenTenSeconds(CapturedOutput output) {
        fail(6);
        ApplicationRestart restart = restart();
        GenericApplicationContext old = start(restart);
        restart.restart();
        awaitEnd();
        assertThat(old.isActive()).isFalse();
        assertThat(pauses).containsExactly(0L, 1L, 2L, 4L, 8L, 10L, 10L);
        assertThat(exits).isEmpty();
        assertThat(output.getAll().lines().filter(line -> line.contains("next attempt in 8 s")))
                .singleElement()
                .satisfies(line -> assertThat(line).endsWith("java.lang.IllegalStateException: the database is away"));
        assertThat(output).doesNotContain("\tat ");
    }

    @Test
    void anHourOfFailuresEndsTheProcessWithCodeOne() {
        fail(1000);
        ApplicationRestart restart = restart();
        start(restart);
        restart.restart();
        awaitEnd();
        assertThat(exits).containsExactly(1);
        assertThat(Duration.ofNanos(nanos.get())).isBetween(Duration.ofMinutes(60), Duration.ofMinutes(61));
    }

    @Test
    void runsThatTakeSessionsAreFewerForThereAre255() {
        ApplicationRestart restart = restart();
        restart.leased();
        for (int i = 0; i < 7; i++) {
            application.runs.add(() -> {
                restart().leased();
                failing();
            });
        }
        start(restart);
        restart.restart();
        awaitEnd();
        assertThat(pauses).containsExactly(0L, 1L, 2L, 4L, 8L, 16L, 30L, 30L);
    }

    @Test
    void anIncarnationFencedSoonIsFollowedLaterAndAServingIncarnationAtOnce() {
        for (Duration served : List.of(Duration.ZERO, ApplicationRestart.SERVED)) {
            pauses.clear();
            ApplicationRestart first = restart();
            first.leased();
            start(first);
            application.runs.add(() -> {
                ApplicationRestart second = restart();
                second.leased();
                start(second);
                nanos.addAndGet(served.toNanos());
                second.restart();
            });
            first.restart();
            awaitEnd();
            assertThat(pauses).containsExactly(0L, served.isZero() ? 1L : 0L);
        }
    }

    @Test
    void aContextClosedByTheApplicationIsNotStartedAgain() {
        ApplicationRestart restart = restart();
        GenericApplicationContext context = new GenericApplicationContext();
        context.addApplicationListener((ApplicationListener<ContextClosedEvent>) _ -> restart.restart());
        start(restart, context);
        context.close();
        restart.restart();
        awaitEnd();
        assertThat(pauses).isEmpty();
    }

    @Test
    void aNewContextClosedByTheApplicationDuringTheRunEndsTheAttempts() {
        ApplicationRestart first = restart();
        start(first);
        application.runs.add(ApplicationRestartTests::failing);
        application.runs.add(() -> {
            GenericApplicationContext context = new GenericApplicationContext();
            ApplicationRestart second = restart();
            second.contextPrepared(context);
            context.refresh();
            second.started(context, null);
            join(Thread.ofPlatform().start(context::close));
            failing(); // a runner, for instance
        });
        first.restart();
        awaitEnd();
        assertThat(pauses).containsExactly(0L, 1L);
    }

    @Test
    void aRunFailingAfterItsStartIsRepeated() {
        for (boolean reported : List.of(true, false)) { // not for listeners of the end of the start
            pauses.clear();
            ApplicationRestart first = restart();
            start(first);
            application.runs.add(() -> {
                GenericApplicationContext context = new GenericApplicationContext();
                ApplicationRestart second = restart();
                second.contextPrepared(context);
                context.refresh();
                second.started(context, null);
                if (reported) {
                    second.failed(context, new IllegalStateException("a runner"));
                }
                context.close();
                failing();
            });
            first.restart();
            awaitEnd();
            assertThat(pauses).containsExactly(0L, 1L);
        }
    }

    /** The runner of a second incarnation blocks its thread; the third has a separate thread. */
    @Test
    void aBlockingRunnerDoesNotKeepTheApplicationFromRestarting() {
        ApplicationRestart first = restart();
        start(first);
        CountDownLatch third = new CountDownLatch(1);
        application.runs.add(() -> {
            ApplicationRestart second = restart();
            GenericApplicationContext context = new GenericApplicationContext();
            second.contextPrepared(context);
            context.refresh();
            second.started(context, null);
            application.runs.add(third::countDown);
            second.restart();
            await(third);
            second.failed(context, new IllegalStateException("the runner"));
            failing();
        });
        first.restart();
        await(third);
        awaitEnd();
        assertThat(pauses).containsExactly(0L, 0L);
    }

    @Test
    void aNodeFencedDuringTheStartStartsAgainWhenTheStartHasEndedOrFailed() {
        for (boolean fails : List.of(false, true)) {
            pauses.clear();
            ApplicationRestart restart = restart();
            GenericApplicationContext context = new GenericApplicationContext();
            restart.contextPrepared(context);
            context.refresh();
            restart.watch(() -> true, PATIENCE);
            restart.restart();
            assertThat(context.isActive()).isTrue();
            if (fails) {
                restart.failed(context, new IllegalStateException("the node is fenced"));
                context.close();
            } else {
                restart.started(context, null);
            }
            awaitEnd();
            assertThat(pauses).hasSize(1);
            assertThat(context.isActive()).isFalse();
        }
    }

    @Test
    void aStartFailingWithoutAFencingIsNotRepeated() {
        ApplicationRestart restart = restart();
        GenericApplicationContext context = new GenericApplicationContext();
        restart.contextPrepared(context);
        restart.failed(context, new IllegalStateException("a property"));
        restart.restart();
        awaitEnd();
        assertThat(pauses).isEmpty();
    }

    @Test
    void aContextFailingToCloseIsBrokenAndStartsAgainOnceClosed() {
        List<AvailabilityState> states = new CopyOnWriteArrayList<>();
        GenericApplicationContext context = new GenericApplicationContext();
        context.addApplicationListener((ApplicationListener<ContextClosedEvent>) _ -> await(never));
        context.addApplicationListener(
                (ApplicationListener<AvailabilityChangeEvent<?>>) change -> states.add(change.getState()));
        ApplicationRestart restart = restart();
        restart.watch(() -> false, Duration.ofMillis(20));
        start(restart, context);
        restart.restart();
        Awaitility.await().until(() -> states.contains(LivenessState.BROKEN));
        assertThat(pauses).isEmpty();
        never.countDown();
        awaitEnd();
        assertThat(pauses).containsExactly(0L);
    }

    @Test
    void contextsManagedElsewhereAreLeftAlone() {
        ApplicationRestart parent = restart();
        GenericApplicationContext root = start(parent);
        assertThat(parent.obstacle()).isNull();
        ApplicationRestart child = restart();
        GenericApplicationContext below = new GenericApplicationContext(root);
        start(child, below);
        assertThat(parent.obstacle()).contains("parent of another application");
        assertThat(child.obstacle()).contains("has a parent");
        below.close();
        root.close();

        ApplicationRestart ofTest = restart();
        GenericApplicationContext tested = start(ofTest);
        TestPropertySourceUtils.addInlinedPropertiesToEnvironment(tested, "spring.jmx.enabled=false");
        assertThat(ofTest.obstacle()).contains("a test");
        tested.close();

        application.addInitializers(new ServletContextApplicationContextInitializer(new MockServletContext()));
        ApplicationRestart deployed = restart();
        GenericApplicationContext war = start(deployed);
        assertThat(deployed.obstacle()).contains("a servlet container");
        war.close();
    }

    private static void join(Thread thread) {
        try {
            thread.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
