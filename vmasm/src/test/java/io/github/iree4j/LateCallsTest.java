package io.github.iree4j;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.github.iree4j.async.Fence;
import io.github.iree4j.async.Timeline;
import io.github.iree4j.hal.spi.DeviceOptions;
import io.github.iree4j.monitor.PendingCall;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.github.iree4j.vm.asm.VmAssembler;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A late call names its wait, in the same words however made. */
@Timeout(300)
class LateCallsTest {
    private static final Duration LIMIT = Duration.ofMillis(400); // time for the call to reach its wait
    private static final Tensor FOUR = Tensor.of(new float[] {1, 2, 3, 4}, 4);

    private final IreeRuntime runtime = IreeRuntime.create();
    private final Timeline timeline = runtime.createTimeline("go");
    private final Fence never = timeline.at(7);
    private final String point = "timeline %d 'go' to reach 7, currently 0"
            .formatted(timeline.semaphore().id());
    private final Program waiter = runtime.load(ProgramOptions.builder()
            .module("waiter", VmAssembler.assemble(ClosingTest.WAITER))
            .build());

    /** How a call is made. */
    enum Way {
        INVOKE,
        WITHIN,
        ASYNC
    }

    @AfterEach
    void nothingIsLeft() {
        assertThat(Thread.interrupted()).isFalse();
        never.close();
        timeline.close();
        runtime.close();
        while (!runtime.programs().isEmpty()) {
            Thread.onSpinWait();
        }
    }

    private static void assertLate(Way way, Program program, String name, String awaited, @Nullable Object... inputs) {
        ProgramFunction function = program.function(name);
        Throwable failure = catchThrowable(() -> {
            switch (way) {
                case INVOKE -> {
                    program.setTimeout(LIMIT);
                    function.invoke(inputs).close();
                }
                case WITHIN ->
                    function.call(CallOptions.DEFAULTS.timeout(LIMIT), inputs)
                            .await()
                            .close();
                case ASYNC ->
                    function.call(CallOptions.DEFAULTS.timeout(LIMIT), inputs)
                            .join()
                            .close();
            }
        });
        assertLate(failure, function, awaited);
    }

    private static void assertLate(Throwable failure, ProgramFunction function, String awaited) {
        Throwable cause = failure instanceof CompletionException ? failure.getCause() : failure;
        assertThat(cause)
                .isInstanceOf(IreeException.class)
                .hasMessageMatching(
                        "call of '%s' took longer than 400 ms, waiting for %s".formatted(function.fullName(), awaited));
        assertThat(((IreeException) cause).code()).isEqualTo(StatusCode.DEADLINE_EXCEEDED);
    }

    @ParameterizedTest
    @EnumSource
    void withoutMemoryTheMessageHasTheAmountAwaited(Way way) {
        DeviceOptions options = DeviceOptions.builder()
                .memoryLimit(4 * 64)
                .memoryHostWait(Duration.ofMinutes(5))
                .build();
        try (IreeRuntime small = IreeRuntime.builder()
                        .device("local", "local://", options)
                        .build();
                Program add = small.load(Fixtures.file("3.13.0/cpu/add.vmfb"))) {
            Tensor kept = small.upload(Tensor.of(new float[32], 32));
            assertLate(way, add, "add", "16 bytes of memory", FOUR, FOUR); // the first call, alone: for its result
            kept.close();
            add.setTimeout(null);
            add.function("add").invoke(FOUR, FOUR).close();
            kept = small.upload(Tensor.of(new float[32], 32));
            String expected =
                    "192 bytes of memory, the expected need: as much as earlier calls with inputs of the same, or the next larger, size have held";
            assertLate(way, add, "add", expected, FOUR, FOUR); // in line
            while (add.monitor().activeCalls() > 0) {
                Thread.onSpinWait();
            }
            assertThat(small.device().allocator().statistics().bytesLive()).isEqualTo(kept.byteSize());
            kept.close();
        }
    }

    @ParameterizedTest
    @EnumSource
    void inAWaitingProgramTheMessageHasThePointAwaited(Way way) {
        assertLate(way, waiter, "wait", point, never);
    }

    @ParameterizedTest
    @EnumSource
    void behindAnotherCallTheMessageHasTheTurnAwaited(Way way) {
        CompletableFuture<Results> other = waiter.function("wait").invokeAsync(never);
        while (waiter.monitor().pendingCalls(1).getFirst().state() != PendingCall.State.SUSPENDED) {
            Thread.onSpinWait();
        }
        assertLate(way, waiter, "wait", "its turn", never);
        other.cancel(true);
    }

    @Test
    void beforeTheInputsAreThereTheMessageHasThePointAwaited() {
        ProgramFunction wait = waiter.function("wait");
        CallOptions options = CallOptions.DEFAULTS.after(never).timeout(LIMIT);
        assertLate(catchThrowable(() -> wait.call(options, never).join()), wait, point);
    }
}
