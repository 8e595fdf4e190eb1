package io.github.iree4j.vm.bytecode;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.github.iree4j.vm.Context;
import io.github.iree4j.vm.ContextOptions;
import io.github.iree4j.vm.Invocation;
import io.github.iree4j.vm.NativeModule;
import io.github.iree4j.vm.VmCall;
import io.github.iree4j.vm.VmTypes;
import io.github.iree4j.vm.VmWait;
import io.github.iree4j.vm.asm.VmAssembler;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

// VM-3: a thread in a loop continues in code compiled meanwhile.
@Timeout(600)
class LoopCompilationTest {
    private static final String HEAD = """
            vm.module @m version 0
            vm.import @host.probe cconv "0i_i"
            vm.export @f
            """;

    /** Calls {@code probe} after each hundred iterations of an inner loop, until the answer 0. */
    private static final String PROGRAM = HEAD + """
            vm.func @f(%i0: i32) -> (i32) {
              %i1 = vm.const.i32 1
              %i2 = vm.const.i32.zero
              %i3 = vm.const.i32 100
              vm.br ^bb1()
            ^bb1:
              %i4 = vm.const.i32.zero
              vm.br ^bb2()
            ^bb2:
              %i4 = vm.add.i32 %i4, %i1
              %i2 = vm.add.i32 %i2, %i1
              %i5 = vm.cmp.lt.i32.s %i4, %i3
              vm.cond_br %i5, ^bb2(), ^bb3()
            ^bb3:
              %i5 = vm.call @host.probe(%i2)
              vm.cond_br %i5, ^bb1(), ^bb4()
            ^bb4:
              vm.return %i2
            }
            """;

    /** Inspecting the stack takes longer than the loop, and the loop has to run often before being compiled. */
    private static boolean looksNowAndThen(AtomicInteger calls) {
        return calls.get() % 256 == 0;
    }

    private static boolean isCalledByCompiledCode() {
        return StackWalker.getInstance(StackWalker.Option.SHOW_HIDDEN_FRAMES)
                .walk(frames -> frames.anyMatch(f -> f.getClassName().contains("CompiledFunctions")));
    }

    private static BytecodeModule module(String text, Compilation compilation) {
        return BytecodeModule.read(
                MemorySegment.ofArray(VmAssembler.assemble(text)),
                "test",
                VmTypes.standard(),
                ModuleLimits.DEFAULTS,
                null,
                compilation);
    }

    private static Invocation invocation(Context context) {
        return context.invocation(Objects.requireNonNull(context.function("m.f")));
    }

    @Test
    void functionCalledOnceLeavesTheInterpreterInTheMiddleOfItsLoop() {
        AtomicInteger calls = new AtomicInteger();
        NativeModule host = NativeModule.builder("host", 0, () -> "")
                .function("probe", "0i_i", (state, call) -> {
                    assertThat(call.i32()).isEqualTo(100 * calls.incrementAndGet());
                    call.returnI32(looksNowAndThen(calls) && isCalledByCompiledCode() ? 0 : 1);
                })
                .build();
        try (BytecodeModule module = module(PROGRAM, Compilation.BACKGROUND);
                Context context = Context.create(List.of(host, module), ContextOptions.DEFAULTS);
                Invocation call = invocation(context)) {
            call.i32(0).run();
            assertThat(call.i32()).isEqualTo(100 * calls.get());
            assertThat(module.compilation().refused()).isEmpty();
        }
    }

    @Test
    void aDeferredFunctionReentersCompiledCodeAtItsLoop() {
        AtomicInteger calls = new AtomicInteger();
        AtomicInteger compiledBefore = new AtomicInteger();
        NativeModule host = NativeModule.builder("host", 0, () -> "")
                .function("probe", "0i_i", (state, call) -> probe(call, calls, compiledBefore))
                .build();
        try (BytecodeModule module = module(PROGRAM, Compilation.EAGER);
                Context context = Context.create(List.of(host, module), ContextOptions.DEFAULTS);
                Invocation call = invocation(context)) {
            call.i32(0).run();
            assertThat(call.i32()).isEqualTo(100 * calls.get());
            assertThat(compiledBefore).hasValue(2);
        }
    }

    /** Defers at the third call; then waits for compiled code with a call. */
    private static void probe(VmCall call, AtomicInteger calls, AtomicInteger compiledBefore) {
        if (!call.resumed()) {
            calls.incrementAndGet();
        }
        if (calls.get() < 3) {
            compiledBefore.addAndGet(isCalledByCompiledCode() ? 1 : 0);
            call.returnI32(1);
        } else if (calls.get() == 3 && !call.resumed()) {
            call.defer(VmWait.NONE);
        } else {
            call.returnI32(looksNowAndThen(calls) && isCalledByCompiledCode() ? 0 : 1);
        }
    }

    /** Counted loops in all recognized forms, and some mere look-alikes. */
    @ParameterizedTest
    @CsvSource({
        // start, bound, step, sum of the counter's values in each iteration
        "0, 10, 1, 45",
        "0, 10, 3, 18",
        "5, 5, 1, 0",
        "0, 25000, 1, 312487500",
        "-20000, 20001, 10000, 0",
        "9223372036854775800, 9223372036854775807, 1, 9223372036854775773",
        "9223372036854770000, 9223372036854775807, 5807, 9223372036854770000"
    })
    void loopOverLongsTestingFirstRunsToItsBound(long start, long bound, long step, long sum) {
        String text = """
                vm.module @m version 0
                vm.export @f
                vm.func @f(%i0:1: i64, %i2:3: i64, %i4:5: i64) -> (i64) {
                  %i6:7 = vm.const.i64.zero
                  vm.br ^bb1()
                ^bb1:
                  %i8 = vm.cmp.lt.i64.s %i0:1, %i2:3
                  vm.cond_br %i8, ^bb2(), ^bb3()
                ^bb2:
                  %i6:7 = vm.add.i64 %i6:7, %i0:1
                  %i0:1 = vm.add.i64 %i0:1, %i4:5
                  vm.br ^bb1()
                ^bb3:
                  vm.return %i6:7
                }
                """;
        for (Compilation compilation : new Compilation[] {Compilation.OFF, Compilation.EAGER}) {
            try (BytecodeModule module = module(text, compilation);
                    Context context = Context.create(List.of(module), ContextOptions.DEFAULTS);
                    Invocation call = invocation(context)) {
                call.i64(start).i64(bound).i64(step).run();
                assertThat(call.i64()).as(compilation.toString()).isEqualTo(sum);
            }
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                // The sum is compared and copied.
                "%i5 = vm.add.i32 %i0, %i2|%i6 = vm.cmp.lt.i32.s %i5, %i1|^bb1(%i5->%i0)",
                // The counter is compared before the copy.
                "%i5 = vm.add.i32 %i0, %i2|%i6 = vm.cmp.lt.i32.s %i0, %i1|^bb1(%i5->%i0)",
                // In place.
                "%i0 = vm.add.i32 %i2, %i0|%i6 = vm.cmp.lt.i32.s %i0, %i1|^bb1()",
                // The result of the comparison is used later.
                "%i0 = vm.add.i32 %i2, %i0|%i7 = vm.cmp.lt.i32.s %i0, %i1|^bb1()",
                // The bound changes.
                "%i1 = vm.sub.i32 %i1, %i2|%i6 = vm.cmp.lt.i32.s %i0, %i1|^bb1()",
                // The step changes.
                "%i0 = vm.add.i32 %i0, %i2|%i2 = vm.add.i32 %i2, %i2|%i6 = vm.cmp.lt.i32.s %i0, %i1|^bb1()",
                // Two copies, one of which is live on the exit.
                "%i5 = vm.add.i32 %i0, %i2|%i6 = vm.cmp.lt.i32.s %i5, %i1|^bb1(%i5->%i0, %i3->%i4)"
            })
    void aLoopOverIntsTestingLastBehavesTheSameCompiled(String body) {
        String[] lines = body.split("\\|");
        String compared = lines[lines.length - 2].trim().split(" ")[0];
        StringBuilder text = new StringBuilder("""
                vm.module @m version 0
                vm.export @f
                vm.func @f(%i0: i32, %i1: i32, %i2: i32) -> (i32, i32, i32, i32, i32, i32) {
                  %i3 = vm.const.i32.zero
                  %i4 = vm.const.i32.zero
                  %i5 = vm.const.i32.zero
                  %i6 = vm.const.i32.zero
                  %i7 = vm.const.i32.zero
                  vm.br ^bb1()
                ^bb1:
                  %i3 = vm.add.i32 %i3, %i0
                  %i3 = vm.xor.i32 %i3, %i7
                """);
        for (int i = 0; i < lines.length - 1; i++) {
            text.append("  ").append(lines[i].trim()).append('\n');
        }
        text.append("  vm.cond_br %s, %s, ^bb2()\n".formatted(compared, lines[lines.length - 1]));
        text.append("^bb2:\n  vm.return %i0, %i1, %i3, %i4, %i5, %i7\n}\n");
        for (int[] arguments : new int[][] {{0, 10, 1}, {3, 25_000, 7}, {0, -5, 1}, {-30_000, 30_000, 9_999}}) {
            assertThat(run(text.toString(), Compilation.EAGER, arguments))
                    .isEqualTo(run(text.toString(), Compilation.OFF, arguments));
        }
    }

    private static List<Integer> run(String text, Compilation compilation, int[] arguments) {
        try (BytecodeModule module = module(text, compilation);
                Context context = Context.create(List.of(module), ContextOptions.DEFAULTS);
                Invocation call = invocation(context)) {
            call.i32(arguments[0]).i32(arguments[1]).i32(arguments[2]).run();
            return List.of(call.i32(), call.i32(), call.i32(), call.i32(), call.i32(), call.i32());
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {0, -1, Integer.MIN_VALUE})
    void aLoopWithoutProgressCanBeCancelled(int step) {
        String text = """
                vm.module @m version 0
                vm.export @f
                vm.func @f(%i0: i32, %i1: i32, %i2: i32) -> (i32) {
                  vm.br ^bb1()
                ^bb1:
                  %i0 = vm.add.i32 %i0, %i2
                  %i3 = vm.cmp.lt.i32.s %i0, %i1
                  vm.cond_br %i3, ^bb1(), ^bb2()
                ^bb2:
                  %i0 = vm.const.i32.zero
                  vm.br ^bb1()
                }
                """;
        try (BytecodeModule module = module(text, Compilation.EAGER);
                Context context = Context.create(List.of(module), ContextOptions.DEFAULTS);
                Invocation call = invocation(context)) {
            Thread.ofVirtual().start(call::cancel);
            assertThatExceptionOfType(IreeException.class)
                    .isThrownBy(() -> call.i32(0).i32(10).i32(step).run())
                    .matches(e -> e.code() == StatusCode.CANCELLED);
        }
    }
}
