package io.github.iree4j.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.github.iree4j.CallOptions;
import io.github.iree4j.IreeRuntime;
import io.github.iree4j.LeakCheck;
import io.github.iree4j.Results;
import io.github.iree4j.Tensor;
import io.github.iree4j.async.Deadline;
import io.github.iree4j.async.Fence;
import io.github.iree4j.async.IreeFuture;
import io.github.iree4j.async.ThreadDeadlines;
import io.github.iree4j.async.Timeline;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.core.io.DefaultResourceLoader;

@Timeout(900)
class InvocationServiceTests {

    @TempDir
    private Path directory;

    private final IreeRuntime runtime = IreeRuntime.create();
    private final Programs programs = new Programs(runtime, new DefaultResourceLoader());
    private final InvocationService invocations = new InvocationService(programs);
    private final List<String> seen = new ArrayList<>();

    @BeforeEach
    void load() throws Exception {
        programs.load(
                ProgramSource.of("adder", TestModules.adder(directory).toUri().toString()));
    }

    @AfterEach
    void close() {
        programs.close();
        runtime.close();
    }

    @Test
    void requestWaitsForAndSignalsFences() {
        try (Timeline timeline = runtime.createTimeline()) {
            CompletableFuture<Results> sum = invocations
                    .request("adder.add")
                    .inputs(1, 2)
                    .after(timeline.at(1))
                    .signal(timeline.at(2))
                    .invokeAsync();
            assertThat(timeline.value()).isZero();
            assertThat(sum).isNotDone();
            timeline.at(1).signal();
            timeline.await(2);
            assertThat(sum.join().intValue(0)).isEqualTo(3);
        }
    }

    /** Else others wait for the fence for ever. */
    @Test
    void aRequestThatNeverReachesItsProgramFailsItsFence() {
        IreeException busy = IreeException.of(StatusCode.UNAVAILABLE, "busy");
        InvocationService refusing = new InvocationService(programs, List.of((_, _) -> IreeFuture.failed(busy)));
        assertFailsItsFence(invocations.request("adder.subtract").inputs(1, 2), StatusCode.NOT_FOUND);
        assertFailsItsFence(invocations.request("adder.add").inputs(1), StatusCode.INVALID_ARGUMENT);
        assertFailsItsFence(invocations.request("adder.add").input("left", 1), StatusCode.INVALID_ARGUMENT);
        assertFailsItsFence(refusing.request("adder.add").inputs(1, 2), StatusCode.UNAVAILABLE);
    }

    private void assertFailsItsFence(InvocationSpec request, StatusCode code) {
        try (Timeline timeline = runtime.createTimeline();
                Timeline other = runtime.createTimeline()) {
            CompletableFuture<Results> call = request.signal(timeline.at(1)).invokeAsync();
            assertThat(call.exceptionNow()).isSameAs(timeline.semaphore().failure());
            assertThatExceptionOfType(IreeException.class)
                    .isThrownBy(request.signal(other.at(1))::invoke)
                    .satisfies(e -> assertThat(e.code()).isEqualTo(code));
            assertThat(other.semaphore().failure()).isNotNull();
            assertThat(other.semaphore().failure().code()).isEqualTo(code);
        }
    }

    @Test
    void aPointReachedByOthersIsNotFailedByARefusedRequest() {
        try (Timeline timeline = runtime.createTimeline()) {
            timeline.semaphore().signal(1);
            assertThat(invocations
                            .request("adder.subtract")
                            .signal(timeline.at(1))
                            .invokeAsync())
                    .isCompletedExceptionally();
            assertThat(invocations
                            .request("adder.add")
                            .inputs(1, 2)
                            .signal(timeline.at(1))
                            .invokeAsync())
                    .isCompletedExceptionally();
            assertThat(timeline.semaphore().failure()).isNull();
        }
    }

    @Test
    void inputsByNameAreInAnyOrderAndTheValueNeedsNoClosing() throws Exception {
        programs.load(ProgramSource.of(
                "linear",
                TestModules.fixture("3.11.0/cpu/matmul_f32.vmfb").toUri().toString()));
        float[][] left = new float[8][16];
        float[][] right = new float[16][12];
        left[1][2] = 3;
        right[2][5] = 7;
        InvocationSpec request = invocations.request("linear.matmul");
        try (LeakCheck _ = LeakCheck.around(runtime)) {
            float[][] product =
                    request.input("input1", right).input("input0", left).retrieve(float[][].class);
            assertThat(product[1][5]).isEqualTo(21);
            float[] flat =
                    request.inputs(left, right).retrieveAsync(float[].class).await();
            assertThat(flat).hasSize(8 * 12).contains(21);
        }
    }

    @Test
    void aSpecificationIsNotChangedByItsMethods() {
        InvocationSpec request = invocations.request("adder.add");
        InvocationSpec sum = request.inputs(1, 2);
        InvocationSpec other = sum.timeout(Duration.ofSeconds(1)).inputs(3, 4);
        assertThat(sum.retrieve(int.class)).isEqualTo(3);
        assertThat(other.retrieve(int.class)).isEqualTo(7);
        assertThatExceptionOfType(IreeException.class).isThrownBy(request::invoke);
        Object[] array = {1, 2};
        InvocationSpec early = request.inputs(array);
        array[0] = 100;
        assertThat(early.retrieve(int.class)).isEqualTo(3);
    }

    @Test
    void someInputsByNameAndOthersInOrderAreRefused() {
        InvocationSpec named = invocations.request("adder.add").input("input0", 1);
        assertThatExceptionOfType(IreeException.class)
                .isThrownBy(() -> named.inputs(1, 2))
                .withMessageContaining("name all inputs or none");
        assertThatExceptionOfType(IreeException.class)
                .isThrownBy(() -> named.input("input0", 2))
                .withMessageContaining("given twice");
        assertThatExceptionOfType(IreeException.class)
                .isThrownBy(named::invoke)
                .withMessageContaining("'input1' (i32) of 'adder.add' is missing");
    }

    @Test
    void requestWithUnreachedFenceFailsAtItsDeadline() {
        try (Timeline timeline = runtime.createTimeline()) {
            InvocationSpec request = invocations
                    .request("adder.add")
                    .inputs(1, 2)
                    .after(timeline.at(1))
                    .timeout(Duration.ofMillis(10));
            assertThatExceptionOfType(IreeException.class)
                    .isThrownBy(request::invoke)
                    .withMessageContaining("10 ms")
                    .extracting(IreeException::code)
                    .isEqualTo(StatusCode.DEADLINE_EXCEEDED);
            timeline.at(1).fail(IreeException.of(StatusCode.CANCELLED, "over"));
        }
    }

    @Test
    void requestWithResultsAfterItsDeadlineFails() {
        AtomicLong clock = new AtomicLong();
        InvocationSpec request = new InvocationService(
                        programs,
                        List.of(),
                        new CallMonitor(programs::cancelCalls, clock::get, new ThreadDeadlines(_ -> {})))
                .request("adder.add")
                .inputs(1, 2);
        Deadline deadline = Deadline.after(Duration.ofSeconds(1), () -> clock.getAndAdd(1_000_000_000));
        assertThatExceptionOfType(IreeException.class)
                .isThrownBy(request.deadline(deadline)::invoke)
                .withMessageContaining("took longer than 1 s")
                .extracting(IreeException::code)
                .isEqualTo(StatusCode.DEADLINE_EXCEEDED);
        request.timeout(Duration.ofHours(1)).invoke().close();
        assertThat(Thread.interrupted()).isFalse();
    }

    @Test
    void cancellingFreesTheMemoryOfTheCall() {
        Tensor input = runtime.upload(Tensor.of(new float[] {1, 2, 3, 4}));
        try (LeakCheck _ = LeakCheck.around(runtime);
                Timeline timeline = runtime.createTimeline()) {
            CompletableFuture<Results> call = invocations
                    .request("adder.add")
                    .inputs(1, 2)
                    .after(timeline.at(1))
                    .invokeAsync();
            assertThat(call.cancel(true)).isTrue();
            assertThatExceptionOfType(CancellationException.class).isThrownBy(call::join);
            timeline.at(1).signal();
        }
        input.close();
        programs.unload("adder");
        while (!runtime.programs().isEmpty()) { // the call, if it still ran, would keep it
            Poll.pause();
        }
        assertThat(runtime.monitor().leaks().bytesLive()).isZero();
    }

    @Test
    void programRunsOnlyOnTheRequestedDevice() {
        try (Results results =
                invocations.request("adder.add").inputs(3, 4).device("local").invoke()) {
            assertThat(results.intValue(0)).isEqualTo(7);
        }
        assertThatExceptionOfType(IreeException.class)
                .isThrownBy(() -> invocations
                        .request("adder.add")
                        .inputs(3, 4)
                        .device("cuda")
                        .invoke())
                .withMessage("the runtime was not opened with device 'cuda' but with [local]");
    }

    @Test
    void interceptorsAreAppliedInOrder() {
        InvocationService watched = new InvocationService(programs, List.of(noting("outer"), noting("inner")));
        try (Results results = watched.invoke("adder.add", 1, 2)) {
            assertThat(results.intValue(0)).isEqualTo(3);
        }
        try (Results results = watched.invokeAsync("adder.add", 1, 2).join()) {
            assertThat(results.intValue(0)).isEqualTo(3);
        }
        assertThat(seen)
                .containsExactly(
                        "outer adder.add true",
                        "inner adder.add true",
                        "outer adder.add false",
                        "inner adder.add false");
    }

    @Test
    void interceptorsSeeFailuresAsStatuses() {
        InvocationService watched = new InvocationService(programs, List.of((request, chain) -> {
            CompletableFuture<Results> future = chain.proceed(request);
            seen.add(future.exceptionNow() instanceof IreeException e ? e.code().name() : "?");
            return future;
        }));
        assertThatExceptionOfType(IreeException.class)
                .isThrownBy(() -> watched.invoke("adder.refuse"))
                .withMessageContaining("not today");
        assertThat(seen).hasSize(1).doesNotContain("?");
    }

    @Test
    void interceptorMayReturnItsOwnResults() {
        IreeException refused = IreeException.of(StatusCode.UNAVAILABLE, "closed for today");
        InvocationService closed =
                new InvocationService(programs, List.of((_, _) -> CompletableFuture.failedFuture(refused)));
        assertThatExceptionOfType(IreeException.class)
                .isThrownBy(() -> closed.invoke("adder.add", 1, 2))
                .withCause(refused)
                .extracting(IreeException::code)
                .isEqualTo(StatusCode.UNAVAILABLE);
    }

    @ParameterizedTest
    @CsvSource({
        "-9223372036854775808, INVALID_ARGUMENT",
        "-1,                   INVALID_ARGUMENT",
        "0,                    DEADLINE_EXCEEDED"
    })
    void aPassedDeadlineFailsTheCall(long seconds, StatusCode code) {
        assertThatExceptionOfType(IreeException.class)
                .isThrownBy(() -> invocations
                        .request("adder.add")
                        .inputs(1, 2)
                        .timeout(Duration.ofSeconds(seconds))
                        .invoke())
                .extracting(IreeException::code)
                .isEqualTo(code);
    }

    @Test
    void noCallIsFastEnoughForADeadlineOfZero() {
        for (int i = 0; i < 2000; i++) {
            assertThatExceptionOfType(IreeException.class)
                    .isThrownBy(() -> invocations
                            .request("adder.add")
                            .inputs(1, 2)
                            .timeout(Duration.ZERO)
                            .invoke())
                    .extracting(IreeException::code)
                    .isEqualTo(StatusCode.DEADLINE_EXCEEDED);
        }
    }

    @ParameterizedTest
    @CsvSource({"0, 3600", "3600, 0"})
    void anInterceptorMakesTheTimeOfACallShorterAndNeverLonger(long ofCaller, long ofInterceptor) {
        InvocationService service = new InvocationService(
                programs,
                List.of((request, chain) -> chain.proceed(
                        request.withOptions(request.options().timeout(Duration.ofSeconds(ofInterceptor))))));
        InvocationSpec call = service.request("adder.add").inputs(1, 2).timeout(Duration.ofSeconds(ofCaller));
        assertThatExceptionOfType(IreeException.class)
                .isThrownBy(() -> call.invoke().close())
                .extracting(IreeException::code)
                .isEqualTo(StatusCode.DEADLINE_EXCEEDED);
        assertThatExceptionOfType(IreeException.class)
                .isThrownBy(() -> call.invokeAsync().await().close())
                .extracting(IreeException::code)
                .isEqualTo(StatusCode.DEADLINE_EXCEEDED);
    }

    @ParameterizedTest
    @ValueSource(longs = {Long.MAX_VALUE, Long.MAX_VALUE / 1_000_000_000, 1L << 40})
    void aDeadlineMayBeInAThousandYears(long seconds) {
        try (Results here = invocations
                        .request("adder.add")
                        .inputs(1, 2)
                        .timeout(Duration.ofSeconds(seconds))
                        .invoke();
                Results later = invocations
                        .request("adder.add")
                        .inputs(3, 4)
                        .timeout(Duration.ofSeconds(seconds))
                        .invokeAsync()
                        .join()) {
            assertThat(here.intValue(0) + later.intValue(0)).isEqualTo(10);
        }
    }

    @Test
    void callOfAReplacedProgramGoesToItsSuccessor() {
        InvocationService slow = new InvocationService(programs, List.of((request, chain) -> {
            programs.load(request.program().source()); // closes the found program
            return chain.proceed(request);
        }));
        try (Results results = slow.invoke("adder.add", 1, 2)) {
            assertThat(results.intValue(0)).isEqualTo(3);
        }
        try (Results results =
                slow.request("adder.add").inputs(2, 2).priority(1).invoke()) {
            assertThat(results.intValue(0)).isEqualTo(4);
        }
    }

    @Test
    void callOfAProgramUnloadedMeanwhileReportsTheUnload() {
        InvocationService slow = new InvocationService(programs, List.of((request, chain) -> {
            programs.unload("adder");
            return chain.proceed(request);
        }));
        assertThatExceptionOfType(IreeException.class)
                .isThrownBy(() -> slow.invoke("adder.add", 1, 2))
                .withMessageContaining("program 'adder' was unloaded")
                .satisfies(e -> assertThat(e.code()).isEqualTo(StatusCode.NOT_FOUND));
    }

    @Test
    void workInFlightFinishesWhenItsProgramIsUnloaded() throws Exception {
        try (Timeline timeline = runtime.createTimeline()) {
            CompletableFuture<Results> call = invocations
                    .request("adder.add")
                    .inputs(20, 22)
                    .after(timeline.at(1))
                    .invokeAsync();
            programs.unload("adder");
            timeline.at(1).signal();
            assertThat(call.get().intValue(0)).isEqualTo(42);
        }
    }

    /** The module's own name, 'adder' here and mostly 'module', is the compiler's. */
    @Test
    void messagesNameTheConfiguredProgram() throws Exception {
        programs.load(ProgramSource.builder(
                        "sums", TestModules.adder(directory).toUri().toString())
                .contexts(2)
                .build());
        assertInvalid("function 'sums.add' takes 2 arguments; given 1", 1);
        assertInvalid("argument 0 of function 'sums.add' is i32; given Float", 1.5f, 2);
        assertThatExceptionOfType(IreeException.class)
                .isThrownBy(() -> invocations.invoke("sums.subtract"))
                .withMessageContaining("program 'sums' has no function 'subtract'");
        try (Timeline timeline = runtime.createTimeline()) {
            InvocationSpec request = invocations
                    .request("sums.add")
                    .inputs(1, 2)
                    .after(timeline.at(1))
                    .timeout(Duration.ofMillis(10));
            assertThatExceptionOfType(IreeException.class)
                    .isThrownBy(request::invoke)
                    .withMessageContaining("call of 'sums.add' took longer");
            CompletableFuture<Results> waiting = invocations
                    .request("sums.add")
                    .inputs(1, 2)
                    .after(timeline.at(1))
                    .invokeAsync();
            invocations.monitor().cancelCalls();
            assertThat(waiting)
                    .failsWithin(Duration.ofMinutes(5))
                    .withThrowableThat()
                    .withMessageContaining("of 'sums.add' was cancelled");
            timeline.at(1).fail(IreeException.of(StatusCode.CANCELLED, "over"));
        }
        assertThat(programs.find("sums").orElseThrow().program()).hasToString("program 'sums'");
    }

    private void assertInvalid(String message, Object... inputs) {
        assertThatExceptionOfType(IreeException.class)
                .isThrownBy(() -> invocations.invoke("sums.add", inputs))
                .withMessage(message);
    }

    @Test
    void lookupFailuresCompleteTheFuture() {
        assertThatExceptionOfType(ExecutionException.class)
                .isThrownBy(
                        () -> invocations.request("adder.divide").invokeAsync().get())
                .havingCause()
                .isInstanceOfSatisfying(
                        IreeException.class, e -> assertThat(e.code()).isEqualTo(StatusCode.NOT_FOUND));
    }

    @Test
    void lookupFailuresAndRefusalsOfInterceptorsFailTheFenceOfASubmission() throws Exception {
        assertThatExceptionOfType(IreeException.class)
                .isThrownBy(() ->
                        invocations.request("adder.divide").submit().fence().await())
                .extracting(IreeException::code)
                .isEqualTo(StatusCode.NOT_FOUND);
        programs.load(
                ProgramSource.of("sums", TestModules.adder(directory).toUri().toString()));
        InvocationService refusing = new InvocationService(
                programs,
                List.of((request, chain) -> IreeFuture.failed(IreeException.of(StatusCode.UNAVAILABLE, "not now"))));
        assertThatExceptionOfType(IreeException.class)
                .isThrownBy(() -> refusing.request("sums.add")
                        .inputs(1, 2)
                        .submit()
                        .fence()
                        .await())
                .withMessageContaining("not now");
    }

    @Test
    void anInterceptorRefusingLaterOrThrowingFailsTheFence() {
        CompletableFuture<Results> later = new CompletableFuture<>();
        InvocationService refusing = new InvocationService(programs, List.of((_, _) -> later));
        List<Fence> fences = new ArrayList<>();
        InvocationService throwing = new InvocationService(programs, List.of((request, _) -> {
            fences.add(request.options().signal().orElse(null));
            throw new IllegalStateException("refused on purpose");
        }));
        try (Timeline timeline = runtime.createTimeline();
                Timeline other = runtime.createTimeline()) {
            try (Fence done = timeline.at(1)) {
                refusing.request("adder.add").inputs(1, 2).signal(done).invokeAsync();
                assertThat(done.query()).isEqualTo(StatusCode.DEFERRED);
            }
            later.completeExceptionally(IreeException.of(StatusCode.UNAVAILABLE, "not now"));
            assertThat(timeline.semaphore().failure()).hasMessageContaining("not now");

            InvocationSpec thrown = throwing.request("adder.add").inputs(1, 2);
            assertThatIllegalStateException().isThrownBy(thrown::submit);
            assertThatIllegalStateException()
                    .isThrownBy(() -> thrown.signal(other.at(1)).invokeAsync());
            assertThat(fences)
                    .hasSize(2)
                    .allSatisfy(each ->
                            assertThat(each.failure().orElseThrow()).hasMessageContaining("refused on purpose"));
        }
    }

    /** An interceptor answers before the results have contents. */
    @Test
    void valuesAreCopiedOnceTheFenceOfTheCallIsReached() {
        InvocationService early = new InvocationService(
                programs,
                List.of((request, chain) ->
                        chain.proceed(request.withOptions(request.options().signal(null)))));
        try (Timeline timeline = runtime.createTimeline();
                Timeline other = runtime.createTimeline()) {
            InvocationSpec sum = early.request("adder.add").inputs(1, 2);
            IreeFuture<Integer> copied = sum.signal(timeline.at(1)).retrieveAsync(Integer.class);
            CompletableFuture<Integer> blocking =
                    CompletableFuture.supplyAsync(() -> sum.signal(other.at(1)).retrieve(Integer.class));
            while (!other.semaphore().isAwaited(1) || !timeline.semaphore().isAwaited(1)) {
                assertThat(blocking).isNotDone();
                assertThat(copied).isNotDone();
            }
            timeline.semaphore().signal(1);
            assertThat(copied.await()).isEqualTo(3);
            other.semaphore().fail(IreeException.of(StatusCode.DATA_LOSS, "no contents"));
            assertThat(blocking)
                    .failsWithin(Duration.ofMinutes(1))
                    .withThrowableThat()
                    .withMessageContaining("no contents");
        }
    }

    @Test
    void callsRefusedByAThrowingInterceptorAreCountedForEveryCaller() throws Exception {
        programs.load(
                ProgramSource.of("sums", TestModules.adder(directory).toUri().toString()));
        InvocationService refusing = new InvocationService(programs, List.of((request, chain) -> {
            throw new IllegalStateException("refused on purpose");
        }));
        assertThatIllegalStateException().isThrownBy(() -> refusing.invoke("sums.add", 1, 2));
        assertThatIllegalStateException().isThrownBy(() -> refusing.invokeAsync("sums.add", 1, 2));
        LoadedProgram sums = programs.find("sums").orElseThrow();
        assertThat(sums.durations(refusing.function("sums.add")).failed()).isEqualTo(2);
    }

    @Test
    void resultsStayOnTheDeviceForTheNextCall() {
        programs.load(ProgramSource.of(
                "add", TestModules.fixture("3.11.0/cpu/add.vmfb").toUri().toString()));
        try (Results first = invocations.invoke("add.add", new float[] {1, 2, 3, 4}, new float[] {1, 1, 1, 1});
                Results second = invocations.invoke("add.add", first.tensor(0), first.tensor(0))) {
            assertThat(second.tensor(0).toFloatArray()).containsExactly(4, 6, 8, 10);
        }
    }

    private InvocationInterceptor noting(String name) {
        return (request, chain) -> {
            assertThat(request.options()).isEqualTo(CallOptions.DEFAULTS);
            seen.add("%s %s.%s %s"
                    .formatted(name, request.model(), request.function().name(), request.blocking()));
            return chain.proceed(request);
        };
    }
}
