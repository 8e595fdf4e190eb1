package io.github.iree4j.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.github.iree4j.IreeRuntime;
import io.github.iree4j.ProgramOptions;
import io.github.iree4j.Results;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.core.io.DefaultResourceLoader;

/** Endless loads, because a file is never read or code does not return. */
@Timeout(120)
class HungLoadTests {

    private static final Duration SOON = Duration.ofSeconds(60);

    @TempDir
    Path directory;

    private final IreeRuntime runtime = IreeRuntime.create();
    private String counter;
    private HungFile hung;
    private Programs programs;

    @BeforeEach
    void assemble() throws IOException {
        Path module = TestModules.counter(directory);
        counter = module.toUri().toString();
        hung = new HungFile(module);
        programs = programs(options -> {});
    }

    private Programs programs(Consumer<ProgramOptions.Builder> everyProgram) {
        DefaultResourceLoader resources = new DefaultResourceLoader();
        resources.addProtocolResolver(hung.resolver());
        return new Programs(runtime, resources, status -> {}, everyProgram, Integrity.NONE);
    }

    @AfterEach
    void close() {
        programs.close();
        assertThat(runtime.programs()).isEmpty();
        runtime.close();
    }

    @Test
    void loadOfAnUnreadFileFailsInTimeAndItsPredecessorServes() throws InterruptedException {
        programs.load(ProgramSource.of("counter", counter));
        programs.setLoadTimeout(Duration.ofMillis(200));
        assertTimeoutPreemptively(
                SOON,
                () -> assertThatExceptionOfType(ProgramLoadException.class)
                        .isThrownBy(() -> programs.load(ProgramSource.of("counter", HungFile.LOCATION)))
                        .withMessageContaining("loading took longer than 200 ms")
                        .withMessageContaining("'" + HungFile.LOCATION + "'")
                        .satisfies(e -> assertThat(((IreeException) e.getCause()).code())
                                .isEqualTo(StatusCode.DEADLINE_EXCEEDED)));
        assertThat(next()).isEqualTo(1);
        hung.answer();
        assertThat(next()).isEqualTo(2);
        assertThat(programs.find("counter").orElseThrow().source().location()).isEqualTo(counter);
    }

    @Test
    void closingEndsALoadOfAnUnreadFileAndItsThreadPutsNothingIntoService() throws InterruptedException {
        CompletableFuture<Throwable> end = new CompletableFuture<>();
        Thread.ofPlatform().daemon().start(() -> {
            try {
                programs.load(ProgramSource.of("counter", HungFile.LOCATION));
            } catch (ProgramLoadException e) {
                end.complete(e.getCause());
            }
        });
        assertThat(hung.awaitReader().isDaemon()).isTrue();
        assertTimeoutPreemptively(SOON, programs::close);
        assertThat(assertTimeoutPreemptively(SOON, end::join))
                .isInstanceOfSatisfying(
                        IreeException.class, e -> assertThat(e.code()).isEqualTo(StatusCode.CANCELLED));
        hung.answer();
        assertThat(programs.statuses()).isEmpty();
        assertThat(runtime.programs()).isEmpty();
    }

    @Test
    void closingDoesNotWaitForEndlessCodeOfALoad() throws InterruptedException {
        CountDownLatch entered = new CountDownLatch(1);
        CountDownLatch go = new CountDownLatch(1);
        Programs stuck = programs(options -> {
            entered.countDown();
            awaitWithoutInterrupts(go);
        });
        stuck.setCloseTimeout(Duration.ofMillis(50));
        CompletableFuture<Throwable> end = new CompletableFuture<>();
        Thread loader = Thread.ofPlatform().daemon().start(() -> {
            try {
                stuck.load(ProgramSource.of("counter", counter));
                end.complete(new AssertionError("loaded"));
            } catch (ProgramLoadException e) {
                end.complete(e.getCause());
            }
        });
        entered.await();
        assertTimeoutPreemptively(SOON, stuck::close);
        go.countDown();
        loader.join();
        assertThat(end.join()).isInstanceOf(IreeException.class);
        assertThat(runtime.programs()).isEmpty();
        assertThat(stuck.find("counter")).isEmpty();
    }

    @Test
    void leavingCallerDoesNotEndTheLoad() throws InterruptedException {
        programs.define(ProgramSource.of("counter", HungFile.LOCATION));
        CompletableFuture<StatusCode> end = new CompletableFuture<>();
        Thread caller = Thread.ofVirtual().start(() -> end.complete(codeOf(() -> programs.locate("counter.next"))));
        hung.awaitReader();
        caller.interrupt();
        assertThat(assertTimeoutPreemptively(SOON, end::join)).isEqualTo(StatusCode.CANCELLED);
        awaitLoading(); // reported by another thread than the reader
        hung.answer();
        assertThat(next()).isEqualTo(1);
    }

    @Test
    void nextCallLoadsAProgramWithALateLoad() throws InterruptedException {
        programs.define(ProgramSource.of("counter", HungFile.LOCATION));
        programs.setLoadTimeout(Duration.ofMillis(200));
        assertThat(assertTimeoutPreemptively(SOON, () -> codeOf(() -> programs.locate("counter.next"))))
                .isEqualTo(StatusCode.DEADLINE_EXCEEDED);
        assertThat(state()).isEqualTo(ProgramState.UNLOADED);
        assertThat(programs.statuses().getFirst().failure()).hasMessageContaining("loading took longer than 200 ms");
        hung.answer();
        programs.setLoadTimeout(Duration.ZERO);
        assertThat(next()).isEqualTo(1);
    }

    @Test
    void nextCallLoadsAProgramWithAnEndedLoadIfTheApplicationStartsAgain() throws InterruptedException {
        programs.define(ProgramSource.of("counter", HungFile.LOCATION));
        CompletableFuture<LoadedProgram> load = programs.requireAsync("counter", null);
        hung.awaitReader();
        programs.endLoads();
        assertThat(assertTimeoutPreemptively(SOON, () -> codeOf(load::join))).isEqualTo(StatusCode.UNAVAILABLE);
        assertThat(codeOf(this::next)).isEqualTo(StatusCode.UNAVAILABLE);
        programs.acceptCalls();
        hung.answer();
        assertThat(next()).isEqualTo(1);
    }

    @Test
    void callWaitsForALoadUntilTheDeadlineOfTheCall() throws InterruptedException {
        programs.define(ProgramSource.of("counter", HungFile.LOCATION));
        InvocationSpec call =
                new InvocationService(programs).request("counter.next").timeout(Duration.ofMillis(50));
        assertThat(assertTimeoutPreemptively(SOON, () -> codeOf(call::invoke))).isEqualTo(StatusCode.DEADLINE_EXCEEDED);
        awaitLoading();
        hung.answer();
        assertThat(next()).isEqualTo(1);
    }

    @Test
    void callWaitsForALoadUntilTheLimitOfCallsOfTheProgram() throws InterruptedException {
        programs.define(ProgramSource.of("counter", HungFile.LOCATION));
        programs.setCallTimeouts(Duration.ofHours(1), Map.of("counter", Duration.ofMillis(50)));
        InvocationService invocations = new InvocationService(programs);
        InvocationSpec request = invocations.request("counter.next");
        for (Supplier<?> call : List.<Supplier<?>>of(
                () -> invocations.invoke("counter.next"),
                () -> invocations.invokeAsync("counter.next").await(),
                request::invoke,
                () -> request.timeout(Duration.ofHours(1)).invokeAsync().await(),
                () -> request.submit().await())) {
            assertThat(assertTimeoutPreemptively(SOON, () -> codeOf(call))).isEqualTo(StatusCode.DEADLINE_EXCEEDED);
        }
        awaitLoading();
        hung.answer();
        programs.setCallTimeouts(Duration.ZERO, Map.of());
        assertThat(next()).isEqualTo(1);
    }

    /** The first future is cancelled, and neither the load nor the second future ends. */
    @Test
    void callsShareASingleLoadWithoutOwningTheLoad() throws Exception {
        programs.define(ProgramSource.of("counter", HungFile.LOCATION));
        CompletableFuture<LoadedProgram> first = programs.requireAsync("counter", null);
        CompletableFuture<LoadedProgram> second = programs.requireAsync("counter", null);
        hung.awaitReader();
        assertThat(first.cancel(true)).isTrue();
        hung.answer();
        assertThat(second.get(1, TimeUnit.MINUTES))
                .isSameAs(programs.find("counter").orElseThrow());
    }

    @Test
    void closingEndsTheWaitForAnEndlessLoad() throws InterruptedException {
        CountDownLatch entered = new CountDownLatch(1);
        CountDownLatch go = new CountDownLatch(1);
        CompletableFuture<Thread> loader = new CompletableFuture<>();
        Programs stuck = programs(options -> {
            loader.complete(Thread.currentThread());
            entered.countDown();
            awaitWithoutInterrupts(go);
        });
        stuck.setCloseTimeout(Duration.ofMillis(50));
        stuck.define(ProgramSource.of("counter", counter));
        CompletableFuture<StatusCode> end = new CompletableFuture<>();
        Thread.ofVirtual().start(() -> end.complete(codeOf(() -> stuck.locate("counter.next"))));
        entered.await();
        assertTimeoutPreemptively(SOON, stuck::close);
        assertThat(assertTimeoutPreemptively(SOON, end::join)).isEqualTo(StatusCode.UNAVAILABLE);
        go.countDown();
        loader.join().join();
    }

    @Test
    void programIsNotLoadedOnceTheApplicationStops() {
        programs.refuseCalls();
        assertThatExceptionOfType(ProgramLoadException.class)
                .isThrownBy(() -> programs.load(ProgramSource.of("counter", counter)))
                .withMessageContaining("the application is stopping");
        programs.acceptCalls();
        programs.load(ProgramSource.of("counter", counter));
        assertThat(next()).isEqualTo(1);
    }

    @Test
    void waitsForALoadEndOnceTheApplicationStopsAndNoLoadBegins() throws InterruptedException {
        programs.define(ProgramSource.of("counter", HungFile.LOCATION));
        CompletableFuture<LoadedProgram> call = programs.requireAsync("counter", null);
        hung.awaitReader();
        Action load = new Action(() -> programs.actions().load("counter", null));
        load.awaitWaiting();
        programs.endLoads();
        assertThat(codeOf(() -> soon(call))).isEqualTo(StatusCode.UNAVAILABLE);
        assertThat(load.failure())
                .hasMessageContaining("the application is stopping")
                .satisfies(HungLoadTests::isUnavailable);
        assertThatExceptionOfType(IreeException.class)
                .isThrownBy(() -> programs.load("counter", null))
                .withMessageContaining("the application is stopping")
                .satisfies(HungLoadTests::isUnavailable);
        assertThat(codeOf(() -> programs.locate("counter.next"))).isEqualTo(StatusCode.UNAVAILABLE);
        hung.answer();
        assertThat(programs.find("counter")).isEmpty();
        programs.acceptCalls();
        assertThat(next()).isEqualTo(1);
    }

    @Test
    void loadedProgramServesOnceLoadsHaveEnded() {
        programs.load(ProgramSource.of("counter", counter));
        programs.endLoads();
        assertThat(next()).isEqualTo(1);
    }

    @Test
    void unloadEndsALoadAndWhoeverWaitsForTheLoadLearnsOfTheUnload() throws InterruptedException {
        programs.define(ProgramSource.of("counter", HungFile.LOCATION));
        CompletableFuture<LoadedProgram> call = programs.requireAsync("counter", null);
        hung.awaitReader();
        Action load = new Action(() -> programs.actions().load("counter", null));
        load.awaitWaiting();
        assertTimeoutPreemptively(SOON, () -> programs.actions().unload("counter", null));
        assertThat(state()).isEqualTo(ProgramState.UNLOADED);
        assertThat(codeOf(() -> soon(call))).isEqualTo(StatusCode.CANCELLED);
        assertThat(load.failure())
                .hasMessageContaining("an operator has unloaded the program")
                .satisfies(e -> assertThat(((IreeException) e).code()).isEqualTo(StatusCode.CANCELLED));
        assertThat(codeOf(() -> programs.locate("counter.next"))).isEqualTo(StatusCode.NOT_FOUND);
        hung.answer();
        assertThat(programs.find("counter")).isEmpty();
        programs.load("counter", null);
        assertThat(next()).isEqualTo(1);
    }

    @Test
    void unloadEndsALoadNotBegunByCalls() throws InterruptedException {
        programs.load(ProgramSource.of("counter", counter));
        Action load = new Action(() -> programs.load(ProgramSource.of("counter", HungFile.LOCATION)));
        hung.awaitReader();
        assertThat(assertTimeoutPreemptively(SOON, () -> programs.unload("counter", null)))
                .isTrue();
        assertThat(load.failure()).isInstanceOf(ProgramLoadException.class).hasMessageContaining("cancelled");
        assertThat(state()).isEqualTo(ProgramState.UNLOADED);
        hung.answer();
        assertThat(programs.find("counter")).isEmpty();
    }

    @Test
    void unloadDoesNotWaitForEndlessCodeOfALoad() throws InterruptedException {
        CountDownLatch entered = new CountDownLatch(1);
        CountDownLatch go = new CountDownLatch(1);
        try (Programs stuck = programs(options -> {
            entered.countDown();
            awaitWithoutInterrupts(go);
        })) {
            stuck.define(ProgramSource.of("counter", counter));
            Action load = new Action(() -> stuck.load("counter", null));
            entered.await();
            assertThatExceptionOfType(IreeException.class)
                    .isThrownBy(() -> stuck.unload("counter", null))
                    .withMessageContaining("which was cancelled and does not end yet")
                    .satisfies(HungLoadTests::isUnavailable);
            go.countDown();
            assertThat(load.failure()).hasMessageContaining("an operator has unloaded the program");
            assertThat(codeOf(() -> stuck.locate("counter.next"))).isEqualTo(StatusCode.NOT_FOUND);
            stuck.load("counter", null);
            assertThat(stuck.find("counter")).isPresent();
        }
    }

    /** A reading load may have missed a file created meanwhile. */
    @Test
    void loadsOfAProgramBeingLoadedShareASingleFurtherLoad() throws InterruptedException {
        AtomicInteger loads = new AtomicInteger();
        try (Programs counted = programs(options -> loads.incrementAndGet())) {
            counted.define(ProgramSource.of("counter", HungFile.LOCATION));
            Action first = new Action(() -> counted.actions().load("counter", null));
            hung.awaitReader();
            Action second = new Action(() -> counted.actions().load("counter", null));
            second.awaitWaiting(); // a load begun by the third would wait on its own thread, without a limit
            Action third = new Action(() -> counted.load("counter", null));
            CompletableFuture<LoadedProgram> call = counted.requireAsync("counter", null);
            third.awaitWaiting();
            hung.answer();
            assertThat(first.failure()).isNull();
            assertThat(second.failure()).isNull();
            assertThat(third.failure()).isNull();
            assertThat(soon(call)).isNotSameAs(counted.find("counter").orElseThrow());
            assertThat(loads).hasValue(2);
        }
    }

    @Test
    void failureOfALoadReachesAllWaitingOperators() throws InterruptedException {
        CountDownLatch entered = new CountDownLatch(1);
        CountDownLatch go = new CountDownLatch(1);
        try (Programs failing = programs(options -> {
            entered.countDown();
            awaitWithoutInterrupts(go);
            throw IreeException.of(StatusCode.INVALID_ARGUMENT, "wrong options");
        })) {
            failing.define(ProgramSource.of("counter", counter));
            Action first = new Action(() -> failing.actions().load("counter", null));
            entered.await();
            Action second = new Action(() -> failing.actions().load("counter", null));
            second.awaitWaiting();
            go.countDown();
            for (Action each : List.of(first, second)) {
                assertThat(each.failure())
                        .isInstanceOf(ProgramLoadException.class)
                        .hasMessageEndingWith("wrong options");
            }
        }
    }

    /** A reading reload may miss a change of the file by a later operator. */
    @Test
    void reloadsShareAReloadBeforeItsReading() throws InterruptedException {
        AtomicInteger loads = new AtomicInteger();
        CountDownLatch entered = new CountDownLatch(1);
        CountDownLatch go = new CountDownLatch(1);
        try (Programs counted = programs(options -> {
            if (loads.incrementAndGet() == 2) {
                entered.countDown();
                awaitWithoutInterrupts(go);
            }
        })) {
            counted.load(ProgramSource.of("counter", counter));
            Action reading = new Action(() -> counted.actions().load("counter", null));
            entered.await();
            List<Action> later = new ArrayList<>();
            for (int i = 0; i < 3; i++) {
                later.add(new Action(() -> counted.actions().load("counter", null)));
            }
            later.forEach(Action::awaitWaiting);
            go.countDown();
            assertThat(reading.failure()).isNull();
            later.forEach(each -> assertThat(each.failure()).isNull());
            assertThat(loads).hasValue(3);
        }
    }

    /** A load for calls finds the program loaded by others, and need not read; an operator wants the files of now. */
    @Test
    void reloadJoiningALoadForCallsReadsAlthoughOthersHaveLoadedTheProgram() throws InterruptedException {
        AtomicInteger loads = new AtomicInteger();
        CountDownLatch entered = new CountDownLatch(1);
        CountDownLatch go = new CountDownLatch(1);
        try (Programs counted = programs(options -> {
            if (loads.incrementAndGet() == 1) {
                entered.countDown();
                awaitWithoutInterrupts(go);
            }
        })) {
            ProgramSource source = ProgramSource.of("counter", counter);
            counted.define(source);
            Action others = new Action(() -> counted.load(source));
            entered.await();
            CompletableFuture<LoadedProgram> call = counted.requireAsync("counter", null);
            Action reload = new Action(() -> counted.actions().load("counter", null));
            reload.awaitWaiting();
            go.countDown();
            assertThat(others.failure()).isNull();
            assertThat(reload.failure()).isNull();
            assertThat(soon(call)).isSameAs(counted.find("counter").orElseThrow());
            assertThat(loads).hasValue(2);
        }
    }

    @Test
    void leavingOperatorDoesNotEndTheLoadOfOthers() throws InterruptedException {
        programs.define(ProgramSource.of("counter", HungFile.LOCATION));
        Action first = new Action(() -> programs.actions().load("counter", null));
        hung.awaitReader();
        first.awaitWaiting();
        Action second = new Action(() -> programs.actions().load("counter", null));
        second.awaitWaiting();
        first.thread.interrupt();
        assertThat(first.failure()).hasMessageContaining("loading continues");
        hung.answer();
        assertThat(second.failure()).isNull();
    }

    @Test
    void fewActionsOfOperatorsWaitAndAnUnloadAlwaysMay() throws InterruptedException {
        programs.define(ProgramSource.of("counter", HungFile.LOCATION));
        programs.define(ProgramSource.of("ready", counter));
        List<Action> waiting = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            waiting.add(new Action(() -> programs.actions().load("counter", null)));
        }
        awaitLoading();
        waiting.forEach(Action::awaitWaiting);
        for (Runnable action : List.<Runnable>of(
                () -> programs.actions().load("counter", null),
                () -> programs.actions().loadAll("counter"),
                () -> programs.actions().warm("counter", null))) {
            assertThatExceptionOfType(IreeException.class)
                    .isThrownBy(action::run)
                    .withMessageContaining("program 'counter' is being loaded")
                    .satisfies(HungLoadTests::isUnavailable)
                    .satisfies(e -> assertThat(e.detail(RetryLater.class)).isPresent());
        }
        programs.actions().load("ready", null);
        programs.actions().unload("counter", null);
        waiting.forEach(each -> assertThat(each.failure()).isInstanceOf(IreeException.class));
        hung.answer();
        programs.actions().load("counter", null);
        assertThat(next()).isEqualTo(1);
    }

    @Test
    void pipeIsRefusedAsAModuleItsSignatureAndAsParameters() throws Exception {
        Path pipe = directory.resolve("pipe");
        Process process = new ProcessBuilder("mkfifo", pipe.toString()).start();
        assumeTrue(process.waitFor() == 0, "no mkfifo");
        for (ProgramSource source : List.of(
                ProgramSource.of("piped", pipe.toUri().toString()),
                ProgramSource.builder("piped", pipe.toUri().toString())
                        .mapped(true)
                        .build(),
                ProgramSource.builder("piped", counter)
                        .signature(pipe.toUri().toString())
                        .build(),
                ProgramSource.builder("piped", counter)
                        .parameters(Map.of("model", List.of(pipe.toUri().toString())))
                        .build())) {
            for (boolean copy : new boolean[] {false, true}) {
                assertTimeoutPreemptively(
                        SOON,
                        () -> assertThatExceptionOfType(ProgramLoadException.class)
                                .isThrownBy(() -> {
                                    if (copy) {
                                        programs.loadCopy(source);
                                    } else {
                                        programs.load(source);
                                    }
                                })
                                .withMessageContaining("'" + pipe + "' is a pipe (FIFO) and must be a regular file")
                                .satisfies(e -> assertThat(((IreeException) e.getCause()).code())
                                        .isEqualTo(StatusCode.INVALID_ARGUMENT)));
            }
        }
        assertThat(Files.exists(pipe)).isTrue();
    }

    /** Waits like code without interrupts. */
    private static void awaitWithoutInterrupts(CountDownLatch latch) {
        boolean over = false;
        while (!over) {
            try {
                latch.await();
                over = true;
            } catch (InterruptedException e) {
                // goes on
            }
        }
    }

    /** An action on a separate thread. */
    private static final class Action {
        final Thread thread;
        private final CompletableFuture<Throwable> end = new CompletableFuture<>();

        Action(Runnable action) {
            thread = Thread.ofPlatform().daemon().start(() -> {
                try {
                    action.run();
                    end.complete(null);
                } catch (RuntimeException | Error e) {
                    end.complete(e);
                }
            });
        }

        /** Returns once the action waits for a load, with a limit. */
        void awaitWaiting() {
            while (thread.getState() != Thread.State.TIMED_WAITING && !end.isDone()) {
                Poll.pause();
            }
            assertThat(end).isNotDone();
        }

        Throwable failure() {
            return soon(end);
        }
    }

    private static <T> T soon(CompletableFuture<T> future) {
        return assertTimeoutPreemptively(SOON, () -> future.join());
    }

    private static void isUnavailable(Throwable failure) {
        assertThat(((IreeException) failure).code()).isEqualTo(StatusCode.UNAVAILABLE);
    }

    private static StatusCode codeOf(Supplier<?> failing) {
        try {
            failing.get();
        } catch (IreeException e) {
            return e.code();
        } catch (CompletionException e) {
            return ((IreeException) e.getCause()).code();
        }
        throw new AssertionError("no failure");
    }

    private void awaitLoading() {
        while (state() != ProgramState.LOADING) {
            Poll.pause();
        }
    }

    private ProgramState state() {
        return programs.statuses().getFirst().state();
    }

    private int next() {
        try (Results results = programs.function("counter.next").invoke()) {
            return results.intValue(0);
        }
    }
}
