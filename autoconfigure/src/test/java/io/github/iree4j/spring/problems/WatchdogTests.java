package io.github.iree4j.spring.problems;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.IreeRuntime;
import io.github.iree4j.Results;
import io.github.iree4j.async.Fence;
import io.github.iree4j.async.Timeline;
import io.github.iree4j.monitor.PendingCall;
import io.github.iree4j.spring.InvocationService;
import io.github.iree4j.spring.IreeEvents;
import io.github.iree4j.spring.Poll;
import io.github.iree4j.spring.ProgramSource;
import io.github.iree4j.spring.Programs;
import io.github.iree4j.spring.TestModules;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.task.DrainResult;
import io.github.iree4j.task.ProcessOptions;
import io.github.iree4j.task.TaskProcess;
import io.github.iree4j.task.WorkerContext;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.core.io.DefaultResourceLoader;
import org.springframework.scheduling.concurrent.SimpleAsyncTaskScheduler;

/** The reports of work without progress; the tests look, and tell the time. */
@Timeout(300)
@ExtendWith(OutputCaptureExtension.class)
class WatchdogTests {

    @TempDir
    Path directory;

    private final IreeRuntime runtime = IreeRuntime.builder().taskWorkers(2).build();
    private final Programs programs = new Programs(runtime, new DefaultResourceLoader());
    private final InvocationService invocations = new InvocationService(programs);
    private final IreeEvents events = new IreeEvents();
    private final List<Object> published = new ArrayList<>();
    private final List<Boolean> refusals = new ArrayList<>();
    private final AtomicLong clock = new AtomicLong();
    private final List<ChangedFile> settled = new ArrayList<>();
    private final Watchdog watchdog = new Watchdog(
            new ProblemFinder(runtime, programs, invocations),
            Duration.ZERO,
            Duration.ofDays(1),
            events,
            published::add,
            new SimpleAsyncTaskScheduler(),
            clock::get,
            refusals::add,
            this::settle);

    private void settle(ChangedFile changed) {
        settled.add(changed);
    }

    @AfterEach
    void close() {
        programs.close();
        runtime.close();
    }

    private List<ProblemEvent> problems() {
        return published.stream()
                .filter(each -> each instanceof ProblemEvent)
                .map(each -> (ProblemEvent) each)
                .toList();
    }

    /** Returns once so many calls are there and no call runs, for an unchanged find of the next look. */
    private void awaitStill(int calls) {
        while (true) {
            List<PendingCall> pending = runtime.programs().stream()
                    .flatMap(program -> program.monitor().pendingCalls(10).stream())
                    .toList();
            if (pending.size() == calls
                    && pending.stream().noneMatch(call -> call.state() == PendingCall.State.RUNNING)
                    && pending.stream().anyMatch(call -> call.state() == PendingCall.State.SUSPENDED)
                    && runtime.monitor().workers().executor().sleepingWorkers()
                            == runtime.monitor().workers().executor().workers()) {
                return;
            }
            Poll.pause();
        }
    }

    @Test
    void theLineOfTheLogHasTheWholeChain(CapturedOutput output) throws Exception {
        programs.load(ProgramSource.of(
                "spinning", TestModules.spinner(directory).toUri().toString()));
        CompletableFuture<Results> call = invocations.invokeAsync("spinning.spin");
        awaitRunning();
        List<CompletableFuture<Results>> behind =
                List.of(invocations.invokeAsync("spinning.spin"), invocations.invokeAsync("spinning.spin"));
        while (runtime.programs().stream()
                        .mapToInt(program -> program.monitor().pendingCalls(10).size())
                        .sum()
                != 3) {
            Poll.pause();
        }
        watchdog.look();
        assertThat(output.getAll().lines().filter(line -> line.contains("endless-call: ")))
                .singleElement()
                .satisfies(line -> {
                    assertThat(line).contains("2 are in line behind it");
                    assertThat(line.split("call of 'spinning.spin' of program 'spinning'", -1))
                            .as(line)
                            .hasSize(5); // the subject, and three calls
                    assertThat(line).contains(" is RUNNING for ").contains(" is IN_LINE for ");
                });
        behind.forEach(each -> each.cancel(true));
        call.cancel(true);
    }

    @Test
    void aProblemIsReportedOnceHoweverLongAndOnceAtItsEnd() throws Exception {
        programs.load(ProgramSource.of(
                "waiting", TestModules.waiter(directory).toUri().toString()));
        try (Timeline timeline = runtime.createTimeline("tts");
                Fence never = timeline.at(3)) {
            List<CompletableFuture<Results>> calls = new ArrayList<>();
            for (int i = 0; i < 3; i++) {
                calls.add(invocations.invokeAsync("waiting.wait", never));
            }
            awaitStill(3);
            for (int i = 0; i < 5; i++) {
                watchdog.look();
            }
            assertThat(watchdog.problems())
                    .singleElement()
                    .satisfies(each -> assertThat(each.chain()).hasSize(3));
            assertThat(watchdog.found()).isEqualTo(1);
            assertThat(problems()).singleElement().satisfies(event -> {
                assertThat(event.isResolved()).isFalse();
                assertThat(event.problem().subject()).endsWith("'tts'");
            });
            assertThat(events.since(0, 100)).extracting(IreeEvents.Event::type).contains("problem.unsignalled-fence");
            timeline.semaphore().signal(3);
            calls.forEach(call -> call.join().close());
        }
        watchdog.look();
        assertThat(watchdog.problems()).isEmpty();
        assertThat(problems()).extracting(ProblemEvent::isResolved).containsExactly(false, true);
    }

    @Test
    void theApplicationIsNotReadyWhileNothingAdvances() throws Exception {
        programs.load(ProgramSource.of(
                "waiting", TestModules.waiter(directory).toUri().toString()));
        programs.load(
                ProgramSource.of("adding", TestModules.adder(directory).toUri().toString()));
        Watchdog patient = patient();
        patient.look();
        clock.addAndGet(Duration.ofMinutes(5).toNanos());
        patient.look();
        assertThat(patient.isStalled()).as("without work").isFalse();
        try (Timeline timeline = runtime.createTimeline();
                Fence never = timeline.at(3)) {
            CompletableFuture<Results> call = invocations.invokeAsync("waiting.wait", never);
            awaitStill(1);
            patient.look();
            clock.addAndGet(Duration.ofSeconds(20).toNanos());
            invocations.invoke("adding.add", 1, 2).close();
            programs.unload("adding", null);
            awaitStill(1);
            patient.look();
            clock.addAndGet(Duration.ofSeconds(20).toNanos());
            patient.look();
            assertThat(patient.isStalled())
                    .as("20 s after another call has ended")
                    .isFalse();
            clock.addAndGet(Duration.ofSeconds(20).toNanos());
            patient.look();
            assertThat(patient.isStalled()).isTrue();
            assertThat(refusals).containsExactly(true);
            timeline.semaphore().signal(3);
            call.join().close();
            patient.look();
            assertThat(patient.isStalled()).isFalse();
            assertThat(refusals).containsExactly(true, false);
        }
    }

    @Test
    void theApplicationIsReadyWhileAnotherProgramCanServeCalls(CapturedOutput output) throws Exception {
        programs.load(ProgramSource.of(
                "waiting", TestModules.waiter(directory).toUri().toString()));
        programs.load(
                ProgramSource.of("adding", TestModules.adder(directory).toUri().toString()));
        Watchdog patient = patient();
        try (Timeline timeline = runtime.createTimeline();
                Fence never = timeline.at(3)) {
            CompletableFuture<Results> call = invocations.invokeAsync("waiting.wait", never);
            awaitStill(1);
            patient.look();
            clock.addAndGet(Duration.ofMinutes(5).toNanos());
            patient.look();
            assertThat(patient.isStalled()).isFalse();
            assertThat(refusals).isEmpty();
            programs.unload("adding", null);
            patient.look();
            assertThat(patient.isStalled()).isTrue();
            assertThat(output)
                    .contains(
                            "nothing has advanced for 30 s, with 1 calls in flight, and no program can serve new ones");
            programs.load("adding", null);
            patient.look();
            assertThat(patient.isStalled()).isFalse();
            assertThat(refusals).containsExactly(true, false);
            timeline.semaphore().signal(3);
            call.join().close();
        }
    }

    @Test
    void callsWaitingForFencesBeforeTheirBeginHoldUpNobody() throws Exception {
        programs.load(
                ProgramSource.of("adding", TestModules.adder(directory).toUri().toString()));
        Watchdog patient = patient();
        try (Timeline timeline = runtime.createTimeline();
                Fence never = timeline.at(3)) {
            CompletableFuture<Results> call = forgotten(never);
            patient.look();
            clock.addAndGet(Duration.ofMinutes(5).toNanos());
            patient.look();
            assertThat(patient.isStalled()).isFalse();
            timeline.semaphore().signal(3);
            call.join().close();
        }
        assertThat(refusals).isEmpty();
    }

    private CompletableFuture<Results> forgotten(Fence never) {
        CompletableFuture<Results> call =
                invocations.request("adding.add").inputs(1, 2).after(never).invokeAsync();
        while (runtime.programs().stream()
                .flatMap(program -> program.monitor().pendingCalls(10).stream())
                .noneMatch(each -> each.state() == PendingCall.State.BEFORE_INPUTS)) {
            Poll.pause();
        }
        return call;
    }

    @Test
    void aDeviceWithPossiblyEndlessWorkIsNotKnownToServeCalls(CapturedOutput output) throws Exception {
        programs.load(
                ProgramSource.of("adding", TestModules.adder(directory).toUri().toString()));
        Watchdog patient = patient();
        CountDownLatch go = new CountDownLatch(1);
        CountDownLatch begun = new CountDownLatch(1);
        try (Timeline timeline = runtime.createTimeline();
                Timeline called = runtime.createTimeline();
                Fence never = timeline.at(3);
                Fence done = called.at(1)) {
            CompletableFuture<Results> call = forgotten(never);
            runtime.device()
                    .queue(0)
                    .hostCall(
                            null,
                            done,
                            () -> {
                                begun.countDown();
                                awaitQuietly(go);
                            },
                            0);
            begun.await();
            awaitSleep();
            patient.look();
            clock.addAndGet(Duration.ofMinutes(5).toNanos());
            patient.look();
            assertThat(patient.isStalled()).isTrue();
            assertThat(output).contains("and no program is known to serve new ones");
            go.countDown();
            done.await();
            awaitSleep();
            patient.look();
            assertThat(patient.isStalled()).isFalse();
            timeline.semaphore().signal(3);
            call.join().close();
        }
    }

    private static void awaitQuietly(CountDownLatch go) {
        try {
            go.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void awaitSleep() {
        while (runtime.monitor().workers().executor().sleepingWorkers()
                < runtime.monitor().workers().executor().workers()) {
            Poll.pause();
        }
    }

    private Watchdog patient() {
        return new Watchdog(
                new ProblemFinder(runtime, programs, invocations),
                Duration.ofSeconds(30),
                Duration.ofDays(1),
                events,
                published::add,
                new SimpleAsyncTaskScheduler(),
                clock::get,
                refusals::add,
                _ -> {});
    }

    @Test
    void aLongRunningCallAdvances() throws Exception {
        programs.load(ProgramSource.of(
                "spinning", TestModules.spinner(directory).toUri().toString()));
        Watchdog patient = patient();
        CompletableFuture<Results> call = invocations
                .request("spinning.spin")
                .timeout(Duration.ofHours(1))
                .invokeAsync();
        CompletableFuture<Results> behind = invocations.invokeAsync("spinning.spin");
        awaitRunning();
        for (int minute = 0; minute < 5; minute++) {
            clock.addAndGet(Duration.ofMinutes(1).toNanos());
            patient.look();
            assertThat(patient.isStalled()).isFalse();
        }
        behind.cancel(true);
        call.cancel(true);
        assertThat(refusals).isEmpty();
    }

    private void awaitRunning() {
        while (runtime.programs().stream()
                .flatMap(program -> program.monitor().pendingCalls(10).stream())
                .noneMatch(call -> call.state() == PendingCall.State.RUNNING)) {
            Poll.pause();
        }
    }

    @Test
    void aKernelRunningOnAWorkerAdvances() throws Exception {
        programs.load(ProgramSource.of(
                "waiting", TestModules.waiter(directory).toUri().toString()));
        CountDownLatch go = new CountDownLatch(1);
        CountDownLatch begun = new CountDownLatch(1);
        Watchdog patient = patient();
        try (Timeline timeline = runtime.createTimeline("kernel");
                Fence done = timeline.at(1)) {
            TaskProcess kernel = new TaskProcess(ProcessOptions.named("kernel")) {
                @Override
                protected DrainResult drain(WorkerContext worker) {
                    begun.countDown();
                    awaitQuietly(go);
                    return DrainResult.COMPLETED;
                }

                @Override
                protected void completed(IreeException failure) {
                    timeline.semaphore().signal(1);
                }
            };
            runtime.monitor().workers().executor().submit(kernel);
            begun.await();
            CompletableFuture<Results> call = invocations.invokeAsync("waiting.wait", done);
            for (int minute = 0; minute < 5; minute++) {
                clock.addAndGet(Duration.ofMinutes(1).toNanos());
                patient.look();
                assertThat(patient.isStalled()).isFalse();
            }
            go.countDown();
            call.join().close();
        }
        assertThat(refusals).isEmpty();
    }

    @Test
    void theApplicationIsNotReadyWhileTheFileOfAProgramIsChanged() throws Exception {
        Path weights = loadWeighing();
        watchdog.look();
        assertThat(refusals).isEmpty();
        Files.write(weights, new byte[1], StandardOpenOption.APPEND);
        watchdog.look();
        watchdog.look();
        assertThat(refusals).containsExactly(true);
        programs.load("weighing", null);
        watchdog.look();
        assertThat(refusals).containsExactly(true, false);
    }

    @Test
    void theNumberOfProblemsIsReadDuringAHangingLook() throws Exception {
        CountDownLatch telling = new CountDownLatch(1);
        CountDownLatch go = new CountDownLatch(1);
        Watchdog slow = new Watchdog(
                new ProblemFinder(runtime, programs, invocations),
                Duration.ZERO,
                Duration.ofDays(1),
                events,
                _ -> {
                    telling.countDown();
                    awaitQuietly(go);
                },
                new SimpleAsyncTaskScheduler(),
                clock::get,
                refusals::add,
                this::settle);
        Files.write(loadWeighing(), new byte[1], StandardOpenOption.APPEND);
        Thread looking = Thread.ofPlatform().daemon().start(slow::look);
        telling.await();
        assertThat(CompletableFuture.supplyAsync(slow::found).get(1, TimeUnit.MINUTES))
                .isEqualTo(1);
        go.countDown();
        looking.join();
    }

    @Test
    void aChangedFileHasSettledOnceUnchanged() throws Exception {
        Path weights = loadWeighing();
        for (int i = 0; i < 20; i++) {
            Files.write(weights, new byte[1], StandardOpenOption.APPEND);
            watchdog.look();
        }
        assertThat(settled).as("while it is written").isEmpty();
        for (int i = 0; i < 59; i++) {
            watchdog.look();
        }
        assertThat(settled).singleElement().satisfies(changed -> {
            assertThat(changed.program()).isEqualTo("weighing");
            assertThat(changed.version()).isEqualTo("1");
        });
        for (int i = 0; i < 10; i++) {
            watchdog.look();
        }
        assertThat(settled).as("what was done about it may have failed").hasSize(2);
    }

    @Test
    void theLinesOfAChangedFileNameTheFileOnceWithASingleRemedy(CapturedOutput output) throws Exception {
        Files.write(loadWeighing(), new byte[1], StandardOpenOption.APPEND);
        watchdog.look();
        programs.load("weighing", null);
        watchdog.look();
        assertThat(output.getAll().lines().filter(line -> line.contains("changed-file")))
                .satisfiesExactly(
                        begun -> assertThat(begun)
                                .contains("changed-file: calls of program 'weighing' fail: ")
                                .containsOnlyOnce("load the program again")
                                .containsOnlyOnce("replace files by renaming others over them")
                                .contains("POST /actuator/iree/modules/weighing with {\"action\":\"load\"}, which")
                                .contains("or restore the file"),
                        ended -> assertThat(ended).endsWith("problem changed-file of program 'weighing' is over"));
    }

    private Path loadWeighing() throws IOException {
        Path weights = Files.copy(TestModules.fixture("weights.irpa"), directory.resolve("weights.irpa"));
        programs.load(ProgramSource.builder(
                        "weighing",
                        TestModules.fixture("3.13.0/cpu/weights.vmfb").toUri().toString())
                .parameters(Map.of("model", List.of(weights.toUri().toString())))
                .build());
        return weights;
    }
}
