package io.github.iree4j;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.github.iree4j.async.Deadline;
import io.github.iree4j.async.ThreadDeadlines;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.github.iree4j.vm.NativeModule;
import io.github.iree4j.vm.asm.VmAssembler;
import java.time.Duration;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A program's limit for calls without a timeout. */
@Timeout(300)
class CallLimitTest {
    private static final String ENDLESS = """
            vm.module @endless version 0
            vm.export @spin
            vm.export @pass
            vm.func @spin() -> () {
            ^bb0:
              vm.br ^bb0()
            }
            vm.func @pass() -> () {
            ^bb0:
              vm.return
            }
            """;
    private static final Duration BRIEF = Duration.ofMillis(50);
    private static final Duration LONG = Duration.ofHours(1);

    private final IreeRuntime runtime = IreeRuntime.create();
    private final Program program = runtime.load(ProgramOptions.builder()
            .module("endless.vmfb", VmAssembler.assemble(ENDLESS))
            .build());

    /** The way of making a call without a timeout. */
    enum Way {
        INVOKE,
        INVOKE_ASYNC,
        SUBMIT,
        CALL,
        INTERFACE
    }

    /** Functions of the program. */
    interface Endless {
        void spin();
    }

    @AfterEach
    void nothingIsLeft() {
        assertThat(Thread.interrupted()).isFalse();
        runtime.close();
        while (!runtime.programs().isEmpty()) {
            Thread.onSpinWait();
        }
    }

    private static void spin(Program of, Way way) {
        ProgramFunction spin = of.function("spin");
        switch (way) {
            case INVOKE -> spin.invoke().close();
            case INVOKE_ASYNC -> spin.invokeAsync().join().close();
            case SUBMIT -> spin.invokeAsync().join().close();
            case CALL -> spin.call(CallOptions.DEFAULTS.priority(1)).join().close();
            case INTERFACE -> of.bind(Endless.class).spin();
        }
    }

    private static void isLate(Throwable failure) {
        Throwable cause = failure instanceof CompletionException ? failure.getCause() : failure;
        assertThat(cause)
                .isInstanceOf(IreeException.class)
                .hasMessageContaining("'endless.spin' took longer than 50 ms");
        assertThat(((IreeException) cause).code()).isEqualTo(StatusCode.DEADLINE_EXCEEDED);
    }

    @ParameterizedTest
    @EnumSource
    void everyWayToCallHasTheLimit(Way way) {
        program.setTimeout(BRIEF);
        isLate(catchThrowable(() -> spin(program, way)));
    }

    @Test
    void otherInstancesAndSuccessorsHaveTheirs() {
        program.setTimeout(BRIEF);
        Program other = program.newInstance();
        isLate(catchThrowable(() -> spin(other, Way.INVOKE)));
        Program next = program.newInstance();
        program.setTimeout(LONG);
        program.retire(next);
        isLate(catchThrowable(() -> spin(program, Way.INVOKE)));
    }

    @Test
    void timeoutOfACallMayBeShorterThanTheLimitAndNotLonger() {
        program.setTimeout(LONG);
        isLate(catchThrowable(() -> program.function("spin")
                .call(CallOptions.DEFAULTS.timeout(BRIEF))
                .await()));
        isLate(catchThrowable(() -> program.function("spin")
                .call(CallOptions.DEFAULTS.timeout(BRIEF))
                .join()));
        program.setTimeout(BRIEF);
        isLate(catchThrowable(() -> program.function("spin")
                .call(CallOptions.DEFAULTS.timeout(LONG))
                .await()));
        isLate(catchThrowable(() -> program.function("spin")
                .call(CallOptions.DEFAULTS.timeout(LONG))
                .join()));
        program.setTimeout(LONG);
        program.function("pass")
                .call(CallOptions.DEFAULTS.timeout(LONG))
                .await()
                .close();
    }

    @Test
    void laterDeadlineOfTheThreadDoesNotLengthenTheLimit() {
        program.setTimeout(BRIEF);
        ThreadDeadlines.Work outer = new ThreadDeadlines().begin(Deadline.after(LONG));
        Throwable failure = catchThrowable(() -> spin(program, Way.INVOKE));
        outer.end();
        assertThat(outer.isLate()).isFalse();
        isLate(failure);
        assertThat(Thread.interrupted()).isFalse();
    }

    @Test
    void threadWithAnEarlierDeadlineNeedsNoOther() {
        program.setTimeout(Duration.ofHours(2));
        ThreadDeadlines.Work outer = new ThreadDeadlines().begin(Deadline.after(BRIEF));
        Throwable failure = catchThrowable(() -> spin(program, Way.INVOKE));
        outer.end();
        assertThat(outer.isLate()).isTrue();
        assertThat(failure).isInstanceOf(IreeException.class);
        assertThat(((IreeException) failure).code()).isEqualTo(StatusCode.CANCELLED);
        assertThat(ThreadDeadlines.isThreadLimitedTo(LONG)).isFalse();
    }

    /** The program's limit is not set beside an earlier deadline of the thread, which must then end every call. */
    @Test
    void callAfterALateCallOfTheThreadEndsToo() {
        program.setTimeout(LONG);
        ThreadDeadlines.Work outer = new ThreadDeadlines().begin(Deadline.after(BRIEF));
        for (int i = 0; i < 3; i++) {
            assertThat(catchThrowable(() -> spin(program, Way.INVOKE))).isInstanceOf(IreeException.class);
            Thread.interrupted(); // as in code that goes on after a failure
        }
        outer.end();
        assertThat(outer.isLate()).isTrue();
    }

    /** END-4: the code of a call may miss the interrupt. */
    @Test
    void resultsAfterTheLimitAreFreed() {
        Program add = runtime.load(Fixtures.file("3.13.0/cpu/add.vmfb"));
        Tensor four = Tensor.of(new float[] {1, 2, 3, 4}, 4);
        add.function("add").invoke(four, four).close(); // a first call may take long enough to be interrupted
        add.setTimeout(Duration.ofNanos(1));
        assertThatExceptionOfType(IreeException.class)
                .isThrownBy(() -> add.function("add").invoke(four, four))
                .withMessage("call of 'module.add' took longer than 1 ns")
                .extracting(IreeException::code)
                .isEqualTo(StatusCode.DEADLINE_EXCEEDED);
        assertThat(runtime.device().allocator().statistics().bytesLive()).isZero();
        add.setTimeout(LONG);
        add.function("add").invoke(four, four).close();
    }

    /** END-4: whoever has set the deadline. */
    @Test
    void resultsAfterADeadlineOfTheThreadAreFreed() {
        AtomicLong clock = new AtomicLong();
        ThreadDeadlines deadlines = new ThreadDeadlines(_ -> {});
        ThreadDeadlines.Work outer = deadlines.begin(Deadline.after(BRIEF, clock::get));
        ThreadDeadlines.Work inner = deadlines.begin(Deadline.after(LONG, clock::get));
        program.function("pass").invoke().close();
        clock.set(BRIEF.toNanos());
        Throwable failure =
                catchThrowable(() -> program.function("pass").invoke().close());
        inner.end();
        outer.end();
        assertThat(inner.isLate()).isFalse();
        assertThat(outer.isLate()).isTrue();
        assertThat(failure).isInstanceOf(IreeException.class).hasMessageContaining("'endless.pass'");
        assertThat(((IreeException) failure).code()).isEqualTo(StatusCode.DEADLINE_EXCEEDED);
    }

    @Test
    void waitOfACallForItsOwnProgramIsStillRefusedAtOnce() {
        ProgramFunction[] inner = new ProgramFunction[1];
        Program nested = runtime.load(ProgramOptions.builder()
                .module(NativeModule.builder("nested", 1, Object::new)
                        .function("pass", "0v_v", (s, c) -> {})
                        .function(
                                "outer",
                                "0v_v",
                                (s, c) -> inner[0].invokeAsync().join().close())
                        .build())
                .build());
        nested.setTimeout(LONG);
        inner[0] = nested.function("pass");
        assertThat(catchThrowable(() -> nested.function("outer").invoke()))
                .hasStackTraceContaining("was waited for from within a call of the same program");
    }

    @Test
    void zeroAndNullAreNoLimitAndLessIsRefused() {
        program.setTimeout(Duration.ZERO);
        program.function("pass").invoke().close();
        program.setTimeout(null);
        program.function("pass").invoke().close();
        assertThatExceptionOfType(IreeException.class)
                .isThrownBy(() -> program.setTimeout(Duration.ofSeconds(-1)))
                .withMessageContaining("-1 s");
    }
}
