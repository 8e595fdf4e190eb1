package io.github.iree4j;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.BufferParams;
import io.github.iree4j.monitor.LeakReport;
import io.github.iree4j.vm.NativeModule;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Reports of application tests about unclosed objects. */
class LeakCheckTest {
    private static final float[] VALUES = {1, 2};

    private static ProgramOptions echo() {
        return ProgramOptions.builder()
                .module(NativeModule.builder("java", 1, Object::new)
                        .function("same", "0r_r", (_, c) -> c.returnRef(ProgramFixture.retained(c.ref(Object.class))))
                        .build())
                .build();
    }

    @Test
    void passesWhenEverythingIsClosed() {
        IreeRuntime runtime = IreeRuntime.builder().taskWorkers(1).build();
        try (Program program = runtime.load(echo())) {
            try (LeakCheck _ = LeakCheck.around(runtime);
                    Tensor uploaded = runtime.upload(Tensor.of(VALUES))) {
                program.function("same").invoke(uploaded).close();
            }
        }
        runtime.close();
        LeakCheck.assertNone(runtime);
        assertThat(runtime.monitor().leaks().isClean()).isTrue();
    }

    @Test
    void aResultLeftOpenFailsTheCheckWithAWayToFindIt() {
        try (IreeRuntime runtime = IreeRuntime.builder().taskWorkers(1).build();
                Program program = runtime.load(echo())) {
            LeakCheck check = LeakCheck.around(runtime, Duration.ofMillis(10));
            Results left = program.function("same").invoke((Object) VALUES);
            assertThatExceptionOfType(AssertionError.class)
                    .isThrownBy(check::close)
                    .withMessageContaining("1 tensors and 0 programs more are open than before")
                    .withMessageContaining("traceLeaks(true)");
            left.close();
            assertThatCode(check::close).doesNotThrowAnyException();
        }
    }

    @Test
    void tracedChecksNameOpenObjectsWithTheirCreationButNothingOlder() {
        try (IreeRuntime runtime =
                        IreeRuntime.builder().taskWorkers(1).traceLeaks(true).build();
                Program program = runtime.load(echo());
                Results _ = program.function("same").invoke((Object) new float[] {1, 2, 3})) {
            LeakCheck check = LeakCheck.around(runtime, Duration.ofMillis(10));
            Results left = createdHere(program);
            assertThatExceptionOfType(AssertionError.class)
                    .isThrownBy(check::close)
                    .withMessageContaining("result 2xf32 of program 'java', created here")
                    .withMessageContaining("LeakCheckTest.createdHere")
                    .satisfies(e -> assertThat(e.getMessage()).doesNotContain("3xf32", "\nprogram 'java'"));
            assertThat(runtime.monitor().leaks().open())
                    .extracting(LeakReport.Open::what)
                    .containsExactly(
                            "program 'java'", "result 3xf32 of program 'java'", "result 2xf32 of program 'java'");
            left.close();
            check.close();
        }
    }

    private static Results createdHere(Program program) {
        return program.function("same").invoke((Object) VALUES);
    }

    @Test
    void buffersAndProgramsAreLeaksToo() {
        IreeRuntime runtime = IreeRuntime.builder().taskWorkers(1).build();
        Program program = runtime.load(echo());
        Buffer buffer = runtime.device().allocator().allocate(BufferParams.DEFAULT, 4096);
        assertThat(runtime.monitor().leaks().isClean()).isFalse();
        assertThat(runtime.monitor().leaks().bytesLive()).isGreaterThanOrEqualTo(4096);
        assertThat(runtime.monitor().leaks().openPrograms()).isEqualTo(1);
        runtime.close();
        assertThatExceptionOfType(AssertionError.class)
                .isThrownBy(() -> LeakCheck.assertNone(runtime, Duration.ofMillis(10)))
                .withMessageContaining("0 programs are open, 4096 bytes of device memory are in use");
        assertThat(program.isClosed()).isTrue();
        buffer.close();
        LeakCheck.assertNone(runtime);
    }

    @Test
    @Timeout(300)
    void aRuntimeDroppedWithItsProgramIsCounted() {
        long before;
        try (IreeRuntime other = IreeRuntime.builder().taskWorkers(1).build()) {
            before = other.monitor().leaks().forgottenInProcess();
            dropRuntime();
            while (other.monitor().leaks().forgottenInProcess() < before + 2) {
                System.gc();
                Thread.onSpinWait();
            }
            assertThat(other.monitor().leaks().forgottenTensors())
                    .as("of this runtime")
                    .isZero();
        }
    }

    private static void dropRuntime() {
        IreeRuntime.builder().taskWorkers(1).build().load(echo());
    }
}
