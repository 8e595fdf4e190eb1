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
import java.lang.ref.WeakReference;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

// VM-3: a function often called or with long loops is compiled while callers continue.
@Timeout(600)
class BackgroundCompilationTest {
    private static final String PROGRAM = """
            vm.module @m version 0
            vm.export @loop
            vm.export @cold
            vm.func @loop(%i0: i32) -> (i32) {
              %i1 = vm.const.i32.zero
              %i2 = vm.const.i32 1
              vm.br ^bb1()
            ^bb1:
              %i1 = vm.call @step(%i1, %i2)
              %i3 = vm.cmp.lt.i32.s %i1, %i0
              vm.cond_br %i3, ^bb1(), ^bb2()
            ^bb2:
              vm.return %i1
            }
            vm.func @step(%i0: i32, %i1: i32) -> (i32) {
              %i0 = vm.add.i32 %i0, %i1
              vm.return %i0
            }
            vm.func @cold(%i0: i32) -> (i32) {
              vm.fail %i0, "cold"
            }
            """;

    private static BytecodeModule module(Compilation compilation) {
        return BytecodeModule.read(
                MemorySegment.ofArray(VmAssembler.assemble(PROGRAM)),
                "test",
                VmTypes.standard(),
                ModuleLimits.DEFAULTS,
                null,
                compilation);
    }

    private static Invocation invocation(Context context, String name) {
        return context.invocation(Objects.requireNonNull(context.function(name)));
    }

    @Test
    void onlyFrequentlyCalledFunctionsAreCompiled() {
        try (BytecodeModule module = module(Compilation.BACKGROUND);
                Context context = Context.create(List.of(module), ContextOptions.DEFAULTS);
                Invocation loop = invocation(context, "m.loop")) {
            assertThat(module.compilation()).isEqualTo(new CompilationReport(3, 0, Map.of()));
            runUntil(loop, () -> module.compilation().compiled() == 2);
            loop.i32(100_000).run();
            assertThat(loop.i32()).isEqualTo(100_000);
            try (Invocation cold = invocation(context, "m.cold")) {
                assertThatExceptionOfType(IreeException.class)
                        .isThrownBy(() -> cold.i32(3).run())
                        .withMessageContaining("cold; in @m.cold+0x1");
            }
            assertThat(module.compilation()).isEqualTo(new CompilationReport(3, 2, Map.of()));
        }
    }

    @Test
    void nothingIsCompiledWhenSwitchedOff() {
        try (BytecodeModule module = module(Compilation.OFF);
                Context context = Context.create(List.of(module), ContextOptions.DEFAULTS);
                Invocation loop = invocation(context, "m.loop")) {
            for (int i = 0; i < 3 * ModuleCompiler.CALLS; i++) {
                loop.i32(10).run();
                assertThat(loop.i32()).isEqualTo(10);
            }
            assertThat(module.compilation().compiled()).isZero();
        }
    }

    @Test
    void compiledCodeIsUnloadedWithItsModule() {
        WeakReference<Class<?>> type = compiledClass();
        for (int i = 0; i < 20 && type.get() != null; i++) {
            System.gc();
        }
        assertThat(type.get()).as("class of an unreachable module").isNull();
    }

    private static WeakReference<Class<?>> compiledClass() {
        try (BytecodeModule module = module(Compilation.EAGER)) {
            CompiledUnit.Entry entry = Objects.requireNonNull(module.functions()[0].compiled());
            assertThat(entry.unit().getClass().isHidden()).isTrue();
            return new WeakReference<>(entry.unit().getClass());
        }
    }

    private static void runUntil(Invocation loop, BooleanSupplier done) {
        while (!done.getAsBoolean()) {
            loop.i32(50).run();
            assertThat(loop.i32()).isEqualTo(50);
        }
    }
}
