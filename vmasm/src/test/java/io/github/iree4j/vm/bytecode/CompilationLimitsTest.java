package io.github.iree4j.vm.bytecode;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import com.sun.management.ThreadMXBean;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.github.iree4j.vm.Context;
import io.github.iree4j.vm.ContextOptions;
import io.github.iree4j.vm.Invocation;
import io.github.iree4j.vm.NativeModule;
import io.github.iree4j.vm.VmTypes;
import io.github.iree4j.vm.asm.VmAssembler;
import java.lang.foreign.MemorySegment;
import java.lang.management.ManagementFactory;
import java.lang.ref.WeakReference;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The cost of compiling, and the absence of leftovers. */
@Timeout(600)
class CompilationLimitsTest {
    private static final int FUNCTIONS = 4000;

    private static BytecodeModule module(byte[] file, Compilation compilation) {
        return BytecodeModule.read(
                MemorySegment.ofArray(file), "test", VmTypes.standard(), ModuleLimits.DEFAULTS, null, compilation);
    }

    /** About as large as the program of a language model. */
    private static byte[] manyFunctions() {
        StringBuilder text = new StringBuilder("vm.module @m version 0\nvm.export @f0\n");
        for (int i = 0; i < FUNCTIONS; i++) {
            text.append("vm.func @f%d(%%i0: i32) -> (i32) {\n  %%i1 = vm.const.i32 %d\n".formatted(i, i));
            text.append("  %i0 = vm.add.i32 %i0, %i1\n".repeat(16)).append("  vm.return %i0\n}\n");
        }
        return VmAssembler.assemble(text.toString());
    }

    @Test
    void moduleOfThousandsOfFunctionsIsCompiledInBoundedMemory() {
        byte[] file = manyFunctions();
        assertThat(file.length).isGreaterThan(630_000);
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        long bytes = threads.getCurrentThreadAllocatedBytes();
        try (BytecodeModule module = module(file, Compilation.EAGER)) {
            assertThat(module.compilation().compiled()).isEqualTo(FUNCTIONS);
            assertThat(threads.getCurrentThreadAllocatedBytes() - bytes).isLessThan(256L << 20);
        }
        bytes = threads.getCurrentThreadAllocatedBytes();
        module(file, Compilation.BACKGROUND).close();
        assertThat(threads.getCurrentThreadAllocatedBytes() - bytes)
                .as("while nothing is called, nothing is compiled")
                .isLessThan(64L << 20);
    }

    /**
     * A function with many constants, behind a function with so many constants as to make each later constant an
     * instruction longer.
     */
    private static byte[] longFunction(int instructions) {
        StringBuilder text = new StringBuilder("vm.module @m version 0\n");
        for (int f = 0; f < 2; f++) {
            text.append("vm.export @f%d\nvm.func @f%d(%%i0: i32) -> (i32) {\n".formatted(f, f));
            for (int i = 0; i < (f == 0 ? 600 : instructions); i++) {
                text.append("  %%i1 = vm.const.i32 %d\n  %%i0 = vm.xor.i32 %%i0, %%i1\n"
                        .formatted(1_000_000 + i % 600 + 1_000 * f));
            }
            text.append("  vm.return %i0\n}\n");
        }
        return VmAssembler.assemble(text.toString());
    }

    /**
     * Alone in a class, a method near the limit may fit, since instructions with a constant of the first 256 are
     * shorter.
     */
    @Test
    void aMethodFittingTheLimitOnlyAloneIsSplit() {
        for (int instructions = 5_400; instructions < 5_520; instructions += 10) {
            try (BytecodeModule module = module(longFunction(instructions), Compilation.OFF)) {
                assertThat(ChangedFunctions.compile(module, List.of(module.functions()), 1 << 20))
                        .isEmpty();
            }
        }
    }

    @Test
    void theCompilerIsADaemonWithABoundedQueue() throws InterruptedException {
        CountDownLatch started = new CountDownLatch(1);
        CountDownLatch release = new CountDownLatch(1);
        AtomicReference<Thread> thread = new AtomicReference<>();
        boolean taken = CompilerThread.execute(() -> {
            thread.set(Thread.currentThread());
            started.countDown();
            try {
                release.await();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        });
        assertThat(taken).isTrue();
        started.await();
        int queued = 0;
        while (CompilerThread.execute(() -> {})) {
            queued++;
        }
        release.countDown();
        assertThat(queued).isLessThanOrEqualTo(1024);
        assertThat(Objects.requireNonNull(thread.get()).isDaemon()).isTrue();
    }

    @Test
    void aCallOfAnImportRetainsNothingOfAnEndedContext() {
        byte[] file = VmAssembler.assemble("""
                vm.module @m version 0
                vm.import @host.id cconv "0i_i"
                vm.export @f
                vm.func @f(%i0: i32) -> (i32) {
                  %i0 = vm.call @host.id(%i0)
                  vm.return %i0
                }
                """);
        try (BytecodeModule module = module(file, Compilation.EAGER)) {
            for (int i = 0; i < 10; i++) { // more contexts than a call site binds
                WeakReference<Object> state = called(module, i);
                for (int k = 0; k < 20 && state.get() != null; k++) {
                    System.gc();
                }
                assertThat(state.get()).as("the host's bytes for context " + i).isNull();
            }
        }
    }

    private static WeakReference<Object> called(BytecodeModule module, int expected) {
        Object state = new Object();
        NativeModule host = NativeModule.builder("host", 0, () -> state)
                .function("id", "0i_i", (s, call) -> call.returnI32(call.i32()))
                .build();
        try (Context context = Context.create(List.of(host, module), ContextOptions.DEFAULTS);
                Context other = Context.create(List.of(host, module), ContextOptions.DEFAULTS)) {
            for (Context each : List.of(context, other, context)) {
                try (Invocation call = each.invocation(Objects.requireNonNull(each.function("m.f")))) {
                    call.i32(expected).run();
                    assertThat(call.i32()).isEqualTo(expected);
                }
            }
        }
        return new WeakReference<>(state);
    }

    @Test
    void anInvocationRetainsItsContextUntilClosedAndCannotRunAgain() {
        byte[] file = VmAssembler.assemble("""
                vm.module @m version 0
                vm.export @f
                vm.func @f() -> () {
                  vm.return
                }
                """);
        try (BytecodeModule module = module(file, Compilation.EAGER)) {
            Context context = Context.create(List.of(module), ContextOptions.DEFAULTS);
            Invocation call = context.invocation(Objects.requireNonNull(context.function("m.f")));
            call.run();
            call.run();
            context.close();
            assertThat(context.isLive()).isTrue();
            assertThatExceptionOfType(IreeException.class)
                    .isThrownBy(call::run)
                    .matches(e -> e.code() == StatusCode.FAILED_PRECONDITION);
            assertThat(context.isLive()).isFalse();
            call.close();
        }
    }
}
