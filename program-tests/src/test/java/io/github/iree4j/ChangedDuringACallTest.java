package io.github.iree4j;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.github.iree4j.async.Fence;
import io.github.iree4j.async.Timeline;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.github.iree4j.vm.CallTracer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** PLACE-1: a call gives no results when a file used in place by its program was touched after the begin. */
@Timeout(300)
class ChangedDuringACallTest {
    private static final String TOUCHED = "was touched during the call";
    private static final float[] X = {1, 2, 3, 4, 5, 6, 7, 8};

    @TempDir
    Path directory;

    private final IreeRuntime runtime = IreeRuntime.create();
    private final AtomicReference<@Nullable FileChange> next = new AtomicReference<>();
    private Path module;
    private Path weights;

    /** A way to make a call and to take the results. */
    enum Way {
        INVOKE {
            @Override
            void call(ProgramFunction weigh, Timeline timeline, Tensor x) {
                weigh.invoke(x).close();
            }
        },
        WITHIN {
            @Override
            void call(ProgramFunction weigh, Timeline timeline, Tensor x) {
                weigh.call(CallOptions.DEFAULTS.timeout(Duration.ofMinutes(1)), x)
                        .await()
                        .close();
            }
        },
        ASYNC {
            @Override
            void call(ProgramFunction weigh, Timeline timeline, Tensor x) {
                weigh.invokeAsync(x).join().close();
            }
        },
        BETWEEN_FENCES {
            @Override
            void call(ProgramFunction weigh, Timeline timeline, Tensor x) {
                try (Fence wait = timeline.at(1);
                        Fence signal = timeline.at(2)) {
                    timeline.semaphore().signal(1);
                    weigh.call(CallOptions.DEFAULTS.after(wait).signal(signal), x)
                            .thenAccept(Results::close);
                    signal.await();
                }
            }
        };

        abstract void call(ProgramFunction weigh, Timeline timeline, Tensor x);
    }

    @BeforeEach
    void copyParameters() throws IOException {
        weights = Files.copy(Fixtures.file("weights.irpa"), directory.resolve("weights.irpa"));
    }

    @AfterEach
    void nothingIsLeft() {
        runtime.close();
        assertThat(runtime.device().allocator().statistics().bytesLive()).isZero();
    }

    /** Changes a file when a function of the program is entered. */
    private CallTracer changing(Path file) {
        return new EnteredTracer(() -> {
            FileChange due = next.getAndSet(null);
            try {
                if (due != null) {
                    due.to(file);
                }
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        });
    }

    private ProgramOptions.Builder options(String variant) throws IOException {
        module = Files.copy(Fixtures.file("3.13.0/" + variant + "/weights.vmfb"), directory.resolve(variant + ".vmfb"));
        return ProgramOptions.builder().parameters("model", weights).tracer(changing(weights));
    }

    private void failsOnce(Program program, Way way) {
        try (Timeline before = runtime.createTimeline();
                Timeline during = runtime.createTimeline();
                Timeline after = runtime.createTimeline();
                Tensor x = Tensor.of(X, 2, 4)) {
            ProgramFunction weigh = program.function("weigh");
            way.call(weigh, before, x);
            FilesInUse.awaitRead(program);
            next.set(FileChange.OVERWRITTEN);
            failed(catchThrowable(() -> way.call(weigh, during, x)), StatusCode.UNAVAILABLE, TOUCHED);
            assertThat(next).as("the expected change").hasNullValue();
            failed(catchThrowable(() -> way.call(weigh, after, x)), StatusCode.DATA_LOSS, "was changed while in use");
        }
    }

    private static void failed(@Nullable Throwable thrown, StatusCode code, String message) {
        Throwable cause = thrown instanceof CompletionException ? thrown.getCause() : thrown;
        assertThat(cause).isInstanceOf(IreeException.class).hasMessageContaining(message);
        assertThat(((IreeException) cause).code()).isEqualTo(code);
    }

    @ParameterizedTest
    @CsvSource({
        "cpu, INVOKE", "cpu, WITHIN", "cpu, ASYNC", "cpu, BETWEEN_FENCES",
        "cpu-async, INVOKE", "cpu-async, WITHIN", "cpu-async, ASYNC", "cpu-async, BETWEEN_FENCES",
        "vmvx, INVOKE", "vmvx, ASYNC"
    })
    void changeOfParametersFailsTheCallInProgress(String variant, Way way) throws IOException {
        ProgramOptions.Builder options = options(variant);
        try (Program program = runtime.load(options.module(module).build())) {
            failsOnce(program, way);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"INVOKE", "ASYNC", "BETWEEN_FENCES"})
    void changeOfAMappedModuleFailsTheCallInProgress(Way way) throws IOException {
        ProgramOptions.Builder options = options("cpu-async");
        try (Program program = runtime.load(
                options.mappedModule(module).tracer(changing(module)).build())) {
            try (Timeline timeline = runtime.createTimeline();
                    Timeline after = runtime.createTimeline();
                    Tensor x = Tensor.of(X, 2, 4)) {
                FilesInUse.awaitRead(program);
                next.set(FileChange.TOUCHED); // for the code
                failed(
                        catchThrowable(() -> way.call(program.function("weigh"), timeline, x)),
                        StatusCode.UNAVAILABLE,
                        TOUCHED);
                way.call(program.function("weigh"), after, x); // the contents are the same
            }
        }
    }

    /** Neither of the two waits for the host. */
    @ParameterizedTest
    @ValueSource(strings = {"cpu", "cpu-async"})
    void programTakingTheResultsFailsAsWell(String variant) throws IOException {
        ProgramOptions.Builder options = options(variant);
        try (Program program = runtime.load(options.module(module).build());
                Program copy = runtime.load(ProgramOptions.builder()
                        .module(Fixtures.file("3.13.0/cpu-async/weights.vmfb"))
                        .parameters("model", Fixtures.file("weights.irpa"))
                        .build());
                Timeline timeline = runtime.createTimeline();
                Timeline results = runtime.createTimeline();
                Tensor x = Tensor.of(X, 2, 4);
                Fence ready = timeline.at(1);
                Fence between = results.at(1);
                Fence done = results.at(2)) {
            FilesInUse.awaitRead(program);
            next.set(FileChange.OVERWRITTEN);
            program.function("weigh")
                    .call(CallOptions.DEFAULTS.after(ready).signal(between), x)
                    .whenComplete((mine, _) -> close(mine));
            copy.function("weigh")
                    .call(CallOptions.DEFAULTS.after(between).signal(done), x)
                    .whenComplete((mine, _) -> close(mine));
            timeline.semaphore().signal(1);
            failed(catchThrowable(done::await), StatusCode.UNAVAILABLE, TOUCHED);
        }
    }

    private static void close(@Nullable Results results) {
        if (results != null) {
            results.close();
        }
    }
}
