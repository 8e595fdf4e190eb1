package io.github.iree4j.vm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.github.iree4j.vm.asm.VmAssembler;
import io.github.iree4j.vm.bytecode.BytecodeModule;
import io.github.iree4j.vm.bytecode.ModuleLimits;
import java.lang.foreign.MemorySegment;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Hooks run on invocations that cannot be cancelled from outside. */
@Timeout(300)
class HookTest {
    private static final String ENDLESS =
            "vm.export @__deinit\nvm.func @__deinit() -> () {\n^bb0:\n  vm.br ^bb0()\n}\n";
    private static final String SHORT = "vm.export @__deinit\nvm.func @__deinit() -> () {\n  vm.return\n}\n";

    private static BytecodeModule module(String text) {
        byte[] file = VmAssembler.assemble("vm.module @m\n" + text);
        return BytecodeModule.read(
                MemorySegment.ofArray(file), "hook", VmTypes.standard(), ModuleLimits.DEFAULTS, null);
    }

    private static void runDeinit(BytecodeModule module, long patience) {
        VmFunction hook = Objects.requireNonNull(module.resolve("__deinit", ""));
        try (VmModuleState state = module.createState(ContextOptions.DEFAULTS)) {
            Invocation.runHook(hook, state.callable(hook), patience, () -> false);
        }
    }

    @Test
    void endlessHookIsCancelledWhenPatienceEnds() {
        try (BytecodeModule module = module(ENDLESS)) {
            assertThatExceptionOfType(IreeException.class)
                    .isThrownBy(() -> runDeinit(module, TimeUnit.MILLISECONDS.toNanos(20)))
                    .withMessageContaining("call of 'm.__deinit' was cancelled")
                    .matches(e -> e.code() == StatusCode.CANCELLED);
        }
    }

    @Test
    void hookWithPatienceRunsOnAnInterruptedThread() {
        try (BytecodeModule module = module(SHORT)) {
            Thread.currentThread().interrupt();
            runDeinit(module, TimeUnit.MINUTES.toNanos(1));
            assertThat(Thread.interrupted()).isTrue();
        }
    }

    @Test
    void hookWithoutPatienceDoesNotRunOnAnInterruptedThread() {
        try (BytecodeModule module = module(SHORT)) {
            Thread.currentThread().interrupt();
            assertThatExceptionOfType(IreeException.class)
                    .isThrownBy(() -> runDeinit(module, Long.MAX_VALUE))
                    .matches(e -> e.code() == StatusCode.CANCELLED);
            assertThat(Thread.interrupted()).isTrue();
        }
    }
}
