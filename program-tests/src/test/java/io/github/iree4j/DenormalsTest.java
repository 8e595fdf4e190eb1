package io.github.iree4j;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.async.Fence;
import io.github.iree4j.async.Timeline;
import io.github.iree4j.nativeaccess.NativeThreads;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The treatment of denormals by programs, wherever kernels run: on the caller, on workers, after a fence. */
@Timeout(300)
class DenormalsTest {
    private static final float[] A = {Float.MIN_NORMAL / 2, Float.MIN_NORMAL, 1, Float.MIN_VALUE};
    private static final float[] B = {Float.MIN_VALUE, -Float.MIN_NORMAL / 2, Float.MIN_VALUE, Float.MIN_VALUE};

    /** Denormal inputs are zero: the second is the normal number alone. */
    private static final float[] SUM = {0, Float.MIN_NORMAL, 1, 0};

    private final IreeRuntime runtime = IreeRuntime.builder().taskWorkers(2).build();

    @AfterEach
    void close() {
        runtime.close();
    }

    private static void assertJavaKeepsDenormals() {
        assertThat(NativeThreads.flushesDenormals()).isFalse();
        assertThat(A[0] + B[0])
                .isEqualTo(Float.MIN_NORMAL / 2 + Float.MIN_VALUE)
                .isPositive();
        assertThat(A[3] * 2).isPositive();
    }

    @Test
    void compiledKernelsFlushDenormalsOnEveryThreadAndJavaOnNone() throws Exception {
        try (Program program = runtime.load(Fixtures.file("3.11.0/cpu/add.vmfb"));
                Timeline timeline = runtime.createTimeline()) {
            ProgramFunction add = program.function("add");
            try (Results results = add.invoke(A, B)) {
                assertThat(results.tensor(0).toFloatArray()).containsExactly(SUM);
            }
            assertJavaKeepsDenormals();
            try (Results results = add.invokeAsync(A, B).get()) {
                assertThat(results.tensor(0).toFloatArray()).containsExactly(SUM);
            }
            try (Fence start = timeline.at(1);
                    Fence done = timeline.at(2)) {
                var future = add.call(CallOptions.DEFAULTS.after(start).signal(done), A, B);
                start.signal(); // kernels on this thread restore the thread's mode
                assertJavaKeepsDenormals();
                done.await();
                try (Results results = future.get()) {
                    assertThat(results.tensor(0).toFloatArray()).containsExactly(SUM);
                }
            }
            assertThat(add.invokeAsync(A, B)
                            .thenApply(results -> {
                                results.close();
                                assertJavaKeepsDenormals();
                                return "kept";
                            })
                            .get())
                    .isEqualTo("kept");
        }
    }

    @Test
    void kernelsInJavaKeepDenormalsOnEveryThread() throws Exception {
        float[] values = new float[100];
        float[] halves = new float[100];
        float[] expected = new float[100];
        for (int i = 0; i < 100; i++) {
            values[i] = A[i % 4];
            halves[i] = 0.5f;
            expected[i] = values[i] * 0.5f;
        }
        assertThat(expected[0]).isPositive();
        try (Program program = runtime.load(Fixtures.file("3.11.0/vmvx/simple_mul.vmfb"))) {
            ProgramFunction multiply = program.functions().getFirst();
            try (Results results = multiply.invoke(values, halves);
                    Results later = multiply.invokeAsync(values, halves).get()) {
                assertThat(results.tensor(0).toFloatArray()).containsExactly(expected);
                assertThat(later.tensor(0).toFloatArray()).containsExactly(expected);
            }
        }
    }
}
