package io.github.iree4j;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.github.iree4j.vm.ContextOptions;
import io.github.iree4j.vm.asm.VmAssembler;
import org.junit.jupiter.api.Test;

/** The limits of programs that a runtime is built with. */
class ProgramLimitsTest {
    private static final String PROGRAM = """
            vm.module @m version 0
            vm.export @descend
            vm.func @descend(%i0: i32) -> (i32) {
              %i1 = vm.const.i32 1
              vm.cond_br %i0, ^bb1(), ^bb2()
            ^bb1:
              %i2 = vm.sub.i32 %i0, %i1
              %i2 = vm.call @m:0(%i2)
              %i2 = vm.add.i32 %i2, %i1
              vm.return %i2
            ^bb2:
              vm.return %i0
            }
            vm.export @allocate
            vm.func @allocate(%i0:1: i64) -> () {
              %i2 = vm.const.i32 16
              %r0 = vm.buffer.alloc %i0:1, %i2
              vm.return
            }
            """;

    private static Program load(IreeRuntime runtime) {
        return runtime.load(ProgramOptions.builder()
                .module("m.vmfb", VmAssembler.assemble(PROGRAM))
                .build());
    }

    private static int descend(Program program, int calls) {
        try (Results result = program.function("descend").invoke(calls)) {
            return result.intValue(0);
        }
    }

    @Test
    void limitsApplyToEveryProgramOfTheRuntime() {
        ContextOptions limits = ContextOptions.DEFAULTS.maxCallDepth(10).maxMemory(1 << 10);
        try (IreeRuntime runtime = IreeRuntime.builder().programLimits(limits).build()) {
            for (int i = 0; i < 2; i++) {
                try (Program program = load(runtime)) {
                    assertThat(descend(program, 9)).isEqualTo(9);
                    assertThatExceptionOfType(IreeException.class)
                            .isThrownBy(() -> descend(program, 10))
                            .withMessageContaining("needs frame 11 and the limit is 10")
                            .matches(e -> e.code() == StatusCode.RESOURCE_EXHAUSTED);
                    program.function("allocate").invoke(512L).close();
                    assertThatExceptionOfType(IreeException.class)
                            .isThrownBy(() -> program.function("allocate").invoke(1024L))
                            .withMessageContaining("exceed the 1024 that programs of this context may hold")
                            .matches(e -> e.code() == StatusCode.RESOURCE_EXHAUSTED);
                }
            }
        }
    }

    @Test
    void runtimeWithoutLimitsHasTheDefaults() {
        try (IreeRuntime runtime = IreeRuntime.create();
                Program program = load(runtime)) {
            assertThat(descend(program, ContextOptions.DEFAULTS.maxCallDepth() - 1))
                    .isEqualTo(ContextOptions.DEFAULTS.maxCallDepth() - 1);
            assertThatExceptionOfType(IreeException.class)
                    .isThrownBy(() -> descend(program, ContextOptions.DEFAULTS.maxCallDepth()))
                    .matches(e -> e.code() == StatusCode.RESOURCE_EXHAUSTED);
        }
    }
}
