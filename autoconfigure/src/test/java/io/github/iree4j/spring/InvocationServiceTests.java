package io.github.iree4j.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.github.iree4j.CallOptions;
import io.github.iree4j.IreeRuntime;
import io.github.iree4j.LeakCheck;
import io.github.iree4j.Results;
import io.github.iree4j.Tensor;
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

    @Test
    void requestWithUnreachedFenceFailsAtItsDeadline() {
        try (Timeline timeline = runtime.createTimeline()) {
            InvocationSpec request = invocations
                    .request("adder.add")
                    .inputs(1, 2)
                    .after(timeline.at(1))
                    .deadline(Duration.ofMillis(10));
            assertThatExceptionOfType(IreeException.class)
                    .isThrownBy(request::invoke)
                    .withMessageContaining("10 ms")
                    .extracting(IreeException::code)
                    .isEqualTo(StatusCode.DEADLINE_EXCEEDED);
            timeline.at(1).fail(new IreeException(StatusCode.CANCELLED, "over"));
        }
    }

    @Test
    void requestWhoseResultsComeAfterItsDeadlineFails() {
        AtomicLong clock = new AtomicLong();
        ThreadDeadlines deadlines = new ThreadDeadlines(() -> clock.getAndAdd(1_000_000_000), _ -> {});
        InvocationSpec request = new InvocationService(programs, List.of(), new CallsInFlight(clock::get, deadlines))
                .request("adder.add")
                .inputs(1, 2);
        assertThatExceptionOfType(IreeException.class)
                .isThrownBy(request.deadline(Duration.ofSeconds(1))::invoke)
                .withMessageContaining("took longer than 1 s")
                .extracting(IreeException::code)
                .isEqualTo(StatusCode.DEADLINE_EXCEEDED);
        request.deadline(Duration.ofHours(1)).invoke().close();
        assertThat(Thread.interrupted()).isFalse();
    }

    @Test
    void cancellingFreesWhatTheCallHeld() {
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
            Thread.onSpinWait();
        }
        assertThat(runtime.leakReport().bytesLive()).isZero();
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
        IreeException refused = new IreeException(StatusCode.UNAVAILABLE, "closed for today");
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
    void aDeadlineThatHasPassedFailsTheCall(long seconds, StatusCode code) {
        assertThatExceptionOfType(IreeException.class)
                .isThrownBy(() -> invocations
                        .request("adder.add")
                        .inputs(1, 2)
                        .deadline(Duration.ofSeconds(seconds))
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
                            .deadline(Duration.ZERO)
                            .invoke())
                    .extracting(IreeException::code)
                    .isEqualTo(StatusCode.DEADLINE_EXCEEDED);
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {Long.MAX_VALUE, Long.MAX_VALUE / 1_000_000_000, 1L << 40})
    void aDeadlineMayBeInAThousandYears(long seconds) {
        try (Results here = invocations
                        .request("adder.add")
                        .inputs(1, 2)
                        .deadline(Duration.ofSeconds(seconds))
                        .invoke();
                Results later = invocations
                        .request("adder.add")
                        .inputs(3, 4)
                        .deadline(Duration.ofSeconds(seconds))
                        .invokeAsync()
                        .join()) {
            assertThat(here.intValue(0) + later.intValue(0)).isEqualTo(10);
        }
    }

    @Test
    void callOfAReplacedProgramGoesToItsSuccessor() {
        InvocationService slow = new InvocationService(programs, List.of((request, chain) -> {
            programs.load(request.program().source()); // closes the one that was looked up
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
    void callOfAProgramThatIsUnloadedMeanwhileSaysSo() {
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
                    .deadline(Duration.ofMillis(10));
            assertThatExceptionOfType(IreeException.class)
                    .isThrownBy(request::invoke)
                    .withMessageContaining("call of 'sums.add' took longer");
            CompletableFuture<Results> waiting = invocations
                    .request("sums.add")
                    .inputs(1, 2)
                    .after(timeline.at(1))
                    .invokeAsync();
            invocations.cancelCalls();
            assertThat(waiting)
                    .failsWithin(Duration.ofMinutes(5))
                    .withThrowableThat()
                    .withMessageContaining("of 'sums.add' was cancelled");
            timeline.at(1).fail(new IreeException(StatusCode.CANCELLED, "over"));
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
    void callsRefusedByAnInterceptorThatThrowsAreCountedForEveryCaller() throws Exception {
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
