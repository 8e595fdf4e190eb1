package io.github.iree4j.vm;

import io.github.iree4j.vm.asm.VmAssembler;
import io.github.iree4j.vm.bytecode.BytecodeModule;
import io.github.iree4j.vm.bytecode.Compilation;
import io.github.iree4j.vm.bytecode.ModuleLimits;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/** How much do calls, arithmetic and loops of bytecode cost, interpreted and compiled? */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(1)
@Warmup(iterations = 4, time = 1)
@Measurement(iterations = 5, time = 1)
@State(Scope.Thread)
public class InterpreterBenchmark {
    private static final int CALLS = 100;
    private static final int ITERATIONS = 100_000;
    private static final int ADDS = 100;

    private static final String PROGRAM = """
            vm.module @m version 0
            vm.import @native.add_1 cconv "0i_i"
            vm.export @empty
            vm.func @empty() -> () {
            ^bb0:
              vm.return
            }
            vm.func @identity(%%i0: i32) -> (i32) {
            ^bb0:
              vm.return %%i0
            }
            vm.export @internal
            vm.func @internal(%%i0: i32) -> (i32) {
            ^bb0:
            %1$s  vm.return %%i0
            }
            vm.export @imported
            vm.func @imported(%%i0: i32) -> (i32) {
            ^bb0:
            %2$s  vm.return %%i0
            }
            vm.export @adds
            vm.func @adds(%%i0: i32) -> (i32) {
            ^bb0:
              %%i1 = vm.const.i32 1000
              %%i2 = vm.const.i32 1
              %%i3 = vm.const.i32.zero
              vm.br ^bb1()
            ^bb1:
            %3$s  %%i3 = vm.add.i32 %%i3, %%i2
              %%i4 = vm.cmp.lt.i32.s %%i3, %%i1
              vm.cond_br %%i4, ^bb1(), ^bb2()
            ^bb2:
              vm.return %%i0
            }
            vm.export @loop
            vm.func @loop(%%i0: i32) -> (i32) {
            ^bb0:
              %%i1 = vm.const.i32 1
              %%i2 = vm.const.i32.zero
              vm.br ^bb1()
            ^bb1:
              %%i2 = vm.add.i32 %%i2, %%i1
              %%i3 = vm.cmp.lt.i32.s %%i2, %%i0
              vm.cond_br %%i3, ^bb1(), ^bb2()
            ^bb2:
              vm.return %%i2
            }
            vm.export @mix
            vm.func @mix(%%i0: i32) -> (i32) {
            ^bb0:
              %%i1 = vm.const.i32 1
              %%i2 = vm.const.i32.zero
              %%i4 = vm.const.i32 1664525
              %%i5 = vm.const.i32 15
              vm.br ^bb1()
            ^bb1:
              %%i0 = vm.mul.i32 %%i0, %%i4
              %%i6 = vm.shr.i32.u %%i0, %%i5
              %%i0 = vm.xor.i32 %%i0, %%i6
              %%i2 = vm.add.i32 %%i2, %%i1
              %%i7 = vm.const.i32 100000
              %%i3 = vm.cmp.lt.i32.s %%i2, %%i7
              vm.cond_br %%i3, ^bb1(), ^bb2()
            ^bb2:
              vm.return %%i0
            }
            vm.export @reduce
            vm.func @reduce(%%i0: i32) -> (i32) {
            ^bb0:
              %%i1 = vm.const.i32 16
              %%i2:3 = vm.const.i64.zero
              %%i4 = vm.const.i32.zero
              %%i5 = vm.const.i32 1
              %%i6:7 = vm.const.i64 1
              %%i8:9 = vm.const.i64 4
              %%i10:11 = vm.ext.i32.i64.u %%i0
              %%i8:9 = vm.mul.i64 %%i10:11, %%i8:9
              %%r0 = vm.buffer.alloc %%i8:9, %%i1
              vm.buffer.fill.i32 %%r0, %%i2:3, %%i10:11, %%i5
              vm.br ^bb1(%%i4->%%i2, %%i2->%%i0, %%i3->%%i1)
            ^bb1:
              %%i3 = vm.buffer.load.i32 %%r0, %%i0:1
              %%i3 = vm.add.i32 %%i2, %%i3
              %%i0:1 = vm.add.i64 %%i0:1, %%i6:7
              %%i2 = vm.cmp.lt.i64.s %%i0:1, %%i10:11
              vm.cond_br %%i2, ^bb1(%%i3->%%i2), ^bb2()
            ^bb2:
              vm.discard.refs %%r0
              vm.return %%i3
            }
            """.formatted(
            "  %i0 = vm.call @m:1(%i0)\n".repeat(CALLS), "  %i0 = vm.call @native.add_1(%i0)\n".repeat(CALLS), adds());

    /** In four chains, to measure the interpreter rather than store-to-load latency. */
    private static String adds() {
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < ADDS; i++) {
            int register = 8 + i % 4;
            text.append("  %%i%d = vm.add.i32 %%i%d, %%i2\n".formatted(register, register));
        }
        return text.toString();
    }

    /** Interpreted or compiled. */
    @Param({"OFF", "EAGER"})
    public Compilation compilation = Compilation.OFF;

    private final NativeModule natives = NativeModule.builder("native", 0, () -> "")
            .function("add_1", "0i_i", (s, c) -> c.returnI32(c.i32() + 1))
            .build();
    private BytecodeModule module;
    private Context context;
    private Invocation empty;
    private Invocation internal;
    private Invocation imported;
    private Invocation adds;
    private Invocation loop;
    private Invocation mix;
    private Invocation reduce;

    /** For JMH. */
    @SuppressWarnings("NullAway.Init") // JMH calls load()
    public InterpreterBenchmark() {}

    private Invocation invocation(String name) {
        return context.invocation(Objects.requireNonNull(context.function(name)));
    }

    /**
     * Loads the program, and runs all functions, so that the JIT compiler does not specialize the interpreter for a
     * single function, as in an application.
     */
    @Setup
    public void load() {
        module = BytecodeModule.read(
                MemorySegment.ofArray(VmAssembler.assemble(PROGRAM)),
                "benchmark",
                VmTypes.standard(),
                ModuleLimits.DEFAULTS,
                null,
                compilation);
        context = Context.create(List.of(natives, module), ContextOptions.DEFAULTS);
        empty = invocation("m.empty");
        internal = invocation("m.internal");
        imported = invocation("m.imported");
        adds = invocation("m.adds");
        loop = invocation("m.loop");
        mix = invocation("m.mix");
        reduce = invocation("m.reduce");
        for (int i = 0; i < 200; i++) {
            empty.run();
            internal.i32(1).run();
            imported.i32(1).run();
            adds.i32(1).run();
            loop.i32(1000).run();
            mix.i32(1).run();
            reduce.i32(1000).run();
        }
    }

    /** Frees. */
    @TearDown
    public void close() {
        context.close();
        module.close();
    }

    /** A call from Java of an empty function. */
    @Benchmark
    public void emptyCall() {
        empty.run();
    }

    /** A call of a function of the same module, with a single argument and a single result. */
    @Benchmark
    @OperationsPerInvocation(CALLS)
    public int internalCall() {
        internal.i32(1).run();
        return internal.i32();
    }

    /** A call of a function written in Java, with a single argument and a single result. */
    @Benchmark
    @OperationsPerInvocation(CALLS)
    public int importCall() {
        imported.i32(1).run();
        return imported.i32();
    }

    /** An add.i32 of a hundred in a row. */
    @Benchmark
    @OperationsPerInvocation(1000 * (ADDS + 1))
    public int addI32() {
        adds.i32(1).run();
        return adds.i32();
    }

    /** An iteration of a loop of three instructions. */
    @Benchmark
    @OperationsPerInvocation(ITERATIONS)
    public int loopIteration() {
        loop.i32(ITERATIONS).run();
        return loop.i32();
    }

    /**
     * An iteration of a loop of a dependent multiplication, shift and exclusive or: no instruction-level parallelism.
     */
    @Benchmark
    @OperationsPerInvocation(ITERATIONS)
    public int mixIteration() {
        mix.i32(1).run();
        return mix.i32();
    }

    /** An iteration of a loop adding up a buffer. */
    @Benchmark
    @OperationsPerInvocation(ITERATIONS)
    public int bufferReduce() {
        reduce.i32(ITERATIONS).run();
        return reduce.i32();
    }

    /** Linking and freeing a context of two modules. */
    @Benchmark
    public void createContext() {
        Context.create(List.of(natives, module), ContextOptions.DEFAULTS).close();
    }
}
