package io.github.iree4j;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.github.iree4j.async.Fence;
import io.github.iree4j.async.Timeline;
import io.github.iree4j.status.FileFault;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.github.iree4j.vm.asm.VmAssembler;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** Calls without a thread, in line when a file in place is touched. */
@Timeout(300)
class TouchedInLineTest {
    private static final int CALLS = 50;

    /** after: waits for a fence and counts. next: counts. */
    private static final String COUNTER = """
            vm.module @counter version 0
            vm.type !hal.fence
            vm.import @hal.fence.await cconv "0iICrD_i"
            vm.global.i32 mutable @count
            vm.export @after
            vm.export @next
            vm.func @after(%r0: !hal.fence) -> (i32) {
            ^bb0:
              %i1 = vm.const.i32 -1
              %i2:3 = vm.const.i64.zero
              %i4 = vm.call.variadic @hal.fence.await segments[65535, 65535, 1](%i1, %i2:3, %r0)
              vm.discard.refs %r0
              %i0 = vm.call @next()
              vm.return %i0
            }
            vm.func @next() -> (i32) {
              vm.attr "remark" = "changeable"
            ^bb0:
              %i0 = vm.global.load.i32 @count
              %i1 = vm.const.i32 1
              %i0 = vm.add.i32 %i0, %i1
              vm.global.store.i32 %i0, @count
              vm.return %i0
            }
            """;

    @TempDir
    Path directory;

    private final IreeRuntime runtime = IreeRuntime.builder().taskWorkers(2).build();
    private final Timeline timeline = runtime.createTimeline();
    private Path module;
    private Program program;

    @BeforeEach
    void load() throws IOException {
        module = Files.write(directory.resolve("counter.vmfb"), VmAssembler.assemble(COUNTER));
        program = runtime.load(ProgramOptions.builder().mappedModule(module).build());
        FilesInUse.awaitRead(program);
    }

    @AfterEach
    void nothingIsLeft() {
        timeline.close();
        runtime.close();
    }

    /** Changes the file while a call keeps the turn and the others are in line; the calls in line. */
    private List<CompletableFuture<Results>> inLine(Runnable change) {
        List<CompletableFuture<Results>> calls = new ArrayList<>();
        try (Fence fence = timeline.at(1)) {
            CompletableFuture<Results> inTurn = program.function("after").invokeAsync(fence);
            FilesInUse.awaitSuspended(program);
            for (int i = 0; i < CALLS; i++) {
                calls.add(program.function("next").invokeAsync());
            }
            change.run();
            timeline.semaphore().signal(1);
            IreeException failure = failure(inTurn);
            assertThat(failure).as("the call in progress").hasMessageContaining("touched during the call");
            assertThat(failure.detail(FileFault.class)).isPresent();
        }
        return calls;
    }

    private static IreeException failure(CompletableFuture<Results> call) {
        Throwable failed = catchThrowable(call::join);
        assertThat(failed).hasCauseInstanceOf(IreeException.class);
        return (IreeException) failed.getCause();
    }

    private void touch() {
        try {
            FileChange.TOUCHED.to(module);
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    private void overwrite() {
        try {
            String contents = Files.readString(module, StandardCharsets.ISO_8859_1);
            assertThat(contents).contains("changeable");
            Files.writeString(module, contents.replace("changeable", "changeably"), StandardCharsets.ISO_8859_1);
        } catch (IOException e) {
            throw new AssertionError(e);
        }
        touch();
    }

    private static List<Integer> numbers(List<CompletableFuture<Results>> calls) {
        List<Integer> numbers = new ArrayList<>();
        for (CompletableFuture<Results> each : calls) {
            try (Results results = each.join()) {
                numbers.add(results.intValue(0));
            }
        }
        return numbers;
    }

    @Test
    void callsInLineGoOnInOrderWhenAFileWasTouched() {
        assertThat(numbers(inLine(this::touch))).hasSize(CALLS).isSorted().doesNotHaveDuplicates();
        assertThat(program.monitor().failure()).isNull();
    }

    @Test
    void callsMadeWhileATouchedFileIsComparedGoOnInOrder() {
        touch();
        List<CompletableFuture<Results>> calls = new ArrayList<>();
        for (int i = 0; i < CALLS; i++) {
            calls.add(program.function("next").invokeAsync());
        }
        assertThat(numbers(calls)).hasSize(CALLS).isSorted().doesNotHaveDuplicates();
    }

    @Test
    @DisabledOnOs(value = OS.WINDOWS, disabledReason = "on Windows a mapped file can be neither replaced nor shortened")
    void callsInLineFailWhenAFileHasOtherContents() {
        for (CompletableFuture<Results> each : inLine(this::overwrite)) {
            IreeException failure = failure(each);
            assertThat(failure.code()).isEqualTo(StatusCode.DATA_LOSS);
            assertThat(failure.detail(FileFault.class)).isPresent();
        }
    }
}
