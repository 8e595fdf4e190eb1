package io.github.iree4j;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.github.iree4j.status.FileFault;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Programs with parameters in a file system that hangs after loading. */
@Timeout(60)
class HangingFilesTest {
    private static final Duration SHORT = Duration.ofMillis(20);

    @TempDir
    Path directory;

    private final HangingFiles files = new HangingFiles();
    private final IreeRuntime runtime = IreeRuntime.create();
    private final Tensor x = Tensor.of(new float[] {1, 2, 3, 4, 5, 6, 7, 8}, 2, 4);
    private Path weights;
    private Program program;

    @BeforeEach
    void load() throws IOException {
        weights = Files.copy(Fixtures.file("weights.irpa"), directory.resolve("weights.irpa"));
        program = load(files.path(weights));
    }

    private Program load(Path parameters) {
        return runtime.load(ProgramOptions.builder()
                .module(Fixtures.file("3.13.0/cpu/weights.vmfb"))
                .parameters("model", parameters)
                .build());
    }

    /** Another file with the same contents: programs share the mapping of one file. */
    private Path copy() throws IOException {
        return Files.copy(weights, directory.resolve("copy.irpa"));
    }

    @AfterEach
    void nothingIsLeft() {
        files.answer();
        x.close();
        runtime.close();
        assertThat(runtime.device().allocator().statistics().bytesLive()).isZero();
    }

    private static StatusCode code(ThrowingCallable use) {
        Throwable thrown = catchThrowable(use);
        assertThat(thrown).isInstanceOf(IreeException.class);
        return ((IreeException) thrown).code();
    }

    @Test
    void looksAreMadeByAnotherThreadAndCallsGoOn() {
        ProgramFunction weigh = program.function("weigh");
        weigh.invoke(x).close();
        weigh.invokeAsync(x).join().close();
        weigh.call(CallOptions.DEFAULTS.timeout(Duration.ofMinutes(1)), x)
                .await()
                .close();
        assertThat(program.monitor().failure()).isNull();
    }

    @Test
    void callsEndAndHealthAnswersWhenLooksHang() throws IOException {
        FilesInUse.awaitRead(program);
        program.function("weigh").invoke(x).close();
        files.hangLooks();
        assertThat(program.monitor().failure())
                .as("the answer of the latest look")
                .isNull();
        assertThat(code(() -> program.function("weigh")
                        .call(CallOptions.DEFAULTS.timeout(SHORT), x)
                        .await()))
                .isEqualTo(StatusCode.DEADLINE_EXCEEDED);
        Throwable silent = catchThrowable(() -> program.function("weigh").invoke(x));
        assertThat(silent)
                .hasMessageContaining("gives no answer")
                .satisfies(e -> assertThat(((IreeException) e).code()).isEqualTo(StatusCode.UNAVAILABLE))
                .satisfies(e ->
                        assertThat(((IreeException) e).detail(FileFault.class)).isPresent())
                .satisfies(e -> assertThat(e.getMessage()).doesNotContain(weights.toString()));
        assertThat(program.monitor().failure())
                .hasMessageContaining(weights.toString())
                .hasMessageContaining("check the mount");
        try (Program elsewhere = load(copy())) {
            elsewhere.function("weigh").invoke(x).close();
        }
        files.answer();
        FilesInUse.awaitThat(() -> program.monitor().failure() == null);
        program.function("weigh").invoke(x).close();
    }

    @Test
    void callWithAHangingFileAtItsEndGivesNoResults() {
        AtomicBoolean armed = new AtomicBoolean();
        Program traced = runtime.load(ProgramOptions.builder()
                .module(Fixtures.file("3.13.0/cpu/weights.vmfb"))
                .parameters("model", files.path(weights))
                .tracer(new EnteredTracer(() -> {
                    if (armed.get()) {
                        files.hangLooks();
                    }
                }))
                .build());
        armed.set(true);
        assertThat(code(() -> traced.function("weigh").invoke(x))).isEqualTo(StatusCode.UNAVAILABLE);
    }

    @Test
    void aHangingFileSystemHoldsUpNoReadingElsewhere() throws IOException {
        HangingFiles others = new HangingFiles();
        others.hangOpensAfter(1); // for mapping the file, and not reading
        Program hung = load(others.path(copy()));
        try (Program elsewhere = load(weights)) {
            FilesInUse.awaitRead(elsewhere);
        }
        assertThat(hung.loaded.inPlace().areRead()).isFalse();
        others.answer();
        FilesInUse.awaitRead(hung);
    }

    @Test
    void callsWaitingForAHangingComparisonEndWhenCancelledLateOrInterrupted() throws Exception {
        FilesInUse.awaitRead(program);
        files.hangOpensAfter(0);
        FileChange.TOUCHED.to(weights);
        ProgramFunction weigh = program.function("weigh");
        CompletableFuture<Results> first = weigh.invokeAsync(x);
        CompletableFuture<Results> second = weigh.invokeAsync(x);
        FilesInUse.awaitSuspended(program);
        assertThat(catchThrowable(
                        () -> weigh.call(CallOptions.DEFAULTS.timeout(SHORT), x).await()))
                .hasMessageContaining("waiting for a file used in place by the program to be found unchanged")
                .satisfies(e -> assertThat(((IreeException) e).code()).isEqualTo(StatusCode.DEADLINE_EXCEEDED))
                .satisfies(e ->
                        assertThat(((IreeException) e).detail(FileFault.class)).isPresent());
        assertThat(first).isNotDone();
        first.cancel(true);
        second.cancel(true);
        awaitNoCalls();
        Thread.currentThread().interrupt();
        StatusCode code = code(() -> weigh.invoke(x));
        assertThat(Thread.interrupted()).isTrue();
        assertThat(code).isEqualTo(StatusCode.CANCELLED);
        awaitNoCalls();
    }

    @Test
    void closingEndsACallInAWaitForAHangingComparison() throws Exception {
        FilesInUse.awaitRead(program);
        files.hangOpensAfter(0);
        FileChange.TOUCHED.to(weights);
        CompletableFuture<StatusCode> code = new CompletableFuture<>();
        Thread caller = Thread.ofPlatform()
                .daemon()
                .start(() -> code.complete(code(() -> program.function("weigh").invoke(x))));
        FilesInUse.awaitSuspended(program);
        program.close();
        caller.join();
        assertThat(code.join()).isEqualTo(StatusCode.CANCELLED);
    }

    private void awaitNoCalls() {
        FilesInUse.awaitThat(() -> program.monitor().activeCalls() == 0);
    }
}
