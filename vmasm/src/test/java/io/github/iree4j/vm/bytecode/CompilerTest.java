package io.github.iree4j.vm.bytecode;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.vm.Context;
import io.github.iree4j.vm.ContextOptions;
import io.github.iree4j.vm.Invocation;
import io.github.iree4j.vm.VmTypes;
import io.github.iree4j.vm.asm.VmAssembler;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

class CompilerTest {
    private static BytecodeModule compiled(String text) {
        return BytecodeModule.read(
                MemorySegment.ofArray(VmAssembler.assemble("vm.module @m version 0\n" + text)),
                "test",
                VmTypes.standard(),
                ModuleLimits.DEFAULTS,
                null,
                Compilation.EAGER);
    }

    private static Invocation invocation(Context context, String name) {
        return context.invocation(Objects.requireNonNull(context.function(name)));
    }

    /** Unable to define classes. */
    @Test
    void nativeImagesInterpret() {
        assertThat(Compilation.byDefault(Map.<String, String>of()::get)).isEqualTo(Compilation.BACKGROUND);
        assertThat(Compilation.byDefault(Map.of("org.graalvm.nativeimage.imagecode", "runtime")::get))
                .isEqualTo(Compilation.OFF);
        assertThat(Compilation.byDefault(Map.of("iree4j.vm.compile", "eager")::get))
                .isEqualTo(Compilation.EAGER);
    }

    @Tag("nightly")
    @Test
    void functionTooLargeForAMethodIsCompiledInSeveral() {
        String text = """
                vm.export @f
                vm.func @f(%i0: i32) -> (i32) {
                  %i0 = vm.call @large(%i0)
                  vm.return %i0
                }
                vm.func @large(%i0: i32) -> (i32) {
                  %i1 = vm.const.i32 1
                """ + "  %i0 = vm.add.i32 %i0, %i1\n".repeat(20_000) + "  vm.return %i0\n}\n";
        try (BytecodeModule module = compiled(text);
                Context context = Context.create(List.of(module), ContextOptions.DEFAULTS);
                Invocation call = invocation(context, "m.f")) {
            assertThat(module.compilation()).isEqualTo(new CompilationReport(2, 2, Map.of()));
            assertThat(Objects.requireNonNull(module.functions()[1].parts()).entries())
                    .isGreaterThan(40);
            call.i32(5).run();
            assertThat(call.i32()).isEqualTo(20_005);
        }
    }

    @Tag("nightly")
    @Test
    void aFunctionTooLargeForAClassIsInterpretedAndItsCallersAreNot() {
        String text = """
                vm.export @f
                vm.func @f(%i0: i32) -> (i32) {
                  %i0 = vm.call @large(%i0)
                  vm.return %i0
                }
                vm.func @large(%i0: i32) -> (i32) {
                  %i1 = vm.const.i32 1
                """ + "  %i0 = vm.add.i32 %i0, %i1\n".repeat(60_001) + "  vm.return %i0\n}\n";
        try (BytecodeModule module = compiled(text);
                Context context = Context.create(List.of(module), ContextOptions.DEFAULTS);
                Invocation call = invocation(context, "m.f")) {
            CompilationReport report = module.compilation();
            assertThat(report.functions()).isEqualTo(2);
            assertThat(report.compiled()).isEqualTo(1);
            assertThat(report.refused()).hasSize(1);
            assertThat(report.refused().values().iterator().next()).endsWith("instruction words");
            call.i32(5).run();
            assertThat(call.i32()).isEqualTo(60_006);
        }
    }

    @Test
    void depthOfRecursionDoesNotDependOnTheStackOfTheThread() throws InterruptedException {
        String text = """
                vm.export @f
                vm.func @f(%i0: i32) -> (i32) {
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
                """;
        try (BytecodeModule module = compiled(text);
                Context context = Context.create(
                        List.of(module),
                        ContextOptions.DEFAULTS
                                .maxCallDepth(100_000)
                                .maxStackWords(Integer.MAX_VALUE)
                                .maxMemory(1 << 20));
                Invocation call = invocation(context, "m.f")) {
            assertThat(module.compilation()).isEqualTo(new CompilationReport(1, 1, Map.of()));
            AtomicReference<Object> result = new AtomicReference<>();
            Thread small = new Thread(
                    null,
                    () -> {
                        try {
                            call.i32(90_000).run();
                            result.set(call.i32());
                        } catch (RuntimeException e) {
                            result.set(e);
                        }
                    },
                    "small",
                    256 << 10);
            small.start();
            small.join();
            assertThat(result.get()).isEqualTo(90_000);
        }
    }

    @Test
    void failureInCompiledCodeNamesEachFunctionOnTheWayWithItsOffset() {
        String text = """
                vm.export @f
                vm.func @f(%i0: i32) -> (i32) {
                  %i0 = vm.call @g(%i0)
                  vm.return %i0
                }
                vm.func @g(%i0: i32) -> (i32) {
                  %i1 = vm.const.i32 7
                  %i0 = vm.div.i32.s %i1, %i0
                  vm.return %i0
                }
                """;
        try (BytecodeModule module = compiled(text);
                Context context = Context.create(List.of(module), ContextOptions.DEFAULTS);
                Invocation call = invocation(context, "m.f")) {
            assertThatExceptionOfType(IreeException.class)
                    .isThrownBy(() -> call.i32(0).run())
                    .withMessage("integer division by zero; in @m.#1+0x8, in @m.f+0x1");
            call.i32(2).run();
            assertThat(call.i32()).isEqualTo(3);
        }
    }
}
