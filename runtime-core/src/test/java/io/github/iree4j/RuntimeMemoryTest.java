package io.github.iree4j;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import org.junit.jupiter.api.Test;

/** Memory limits of devices and programs. */
class RuntimeMemoryTest {
    private static final float[] FOUR = {1, 2, 3, 4};

    private static Program add(IreeRuntime runtime) {
        return runtime.load(ProgramOptions.builder()
                .module(Fixtures.file("3.11.0/cpu/add.vmfb"))
                .build());
    }

    @Test
    void anUploadOverTheLimitIsRefusedWithTheNumbers() {
        try (IreeRuntime runtime = IreeRuntime.builder().memoryLimit(1 << 20).build();
                Tensor fits = runtime.upload(Tensor.of(new float[1 << 16], 1 << 16))) {
            assertThat(fits.toFloatArray()).hasSize(1 << 16);
            assertThatExceptionOfType(IreeException.class)
                    .isThrownBy(() -> runtime.upload(Tensor.of(new float[1 << 20], 1 << 20)))
                    .withMessageContaining("4194304")
                    .withMessageContaining("1048576")
                    .satisfies(e -> assertThat(e.code()).isEqualTo(StatusCode.RESOURCE_EXHAUSTED));
        }
    }

    @Test
    void aProgramOverItsQuotaIsRefusedAndAnotherIsNot() {
        try (IreeRuntime runtime = IreeRuntime.builder().memoryQuota("add", 8).build();
                Program program = add(runtime)) {
            assertThatExceptionOfType(IreeException.class)
                    .isThrownBy(() -> program.function("add").invoke(FOUR, FOUR))
                    .withMessageContaining("the quota of device 'local' is 8 bytes")
                    .satisfies(e -> assertThat(e.code()).isEqualTo(StatusCode.RESOURCE_EXHAUSTED));
        }
        try (IreeRuntime runtime = IreeRuntime.builder().memoryQuota("other", 8).build();
                Program program = add(runtime);
                Results results = program.function("add").invoke(FOUR, FOUR)) {
            assertThat(results.tensor(0).toFloatArray()).containsExactly(2, 4, 6, 8);
        }
    }

    @Test
    void numbersBelowNothingAreRefused() {
        assertThatExceptionOfType(IreeException.class)
                .isThrownBy(() -> IreeRuntime.builder().memoryQuota("add", -1).build())
                .withMessageContaining("memoryQuota of add' is -1");
    }
}
