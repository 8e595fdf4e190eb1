package io.github.iree4j.module;

import io.github.iree4j.vm.Context;
import io.github.iree4j.vm.ContextOptions;
import io.github.iree4j.vm.Invocation;
import io.github.iree4j.vm.NativeModule;
import io.github.iree4j.vm.VmModule;
import io.github.iree4j.vm.VmTypes;
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

/**
 * How much does a program's call of an annotated Java method cost, compared with a function without conversions, and
 * how much does a callback cost?
 */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(1)
@Warmup(iterations = 4, time = 1)
@Measurement(iterations = 5, time = 1)
@State(Scope.Thread)
public class JavaModuleBenchmark {
    private static final int CALLS = 1000;

    private static final String PROGRAM = """
            vm.module @m version 0
            vm.import @java.add_1 cconv "0i_i"
            vm.import @java.back cconv "0i_i"
            vm.export @add
            vm.export @back
            vm.export @inner
            vm.func @inner(%i0: i32) -> (i32) {
            ^bb0:
              %i1 = vm.const.i32 1
              %i0 = vm.add.i32 %i0, %i1
              vm.return %i0
            }
            vm.func @add(%i0: i32) -> (i32) {
            ^bb0:
              %i1 = vm.const.i32 1000
              vm.br ^bb1()
            ^bb1:
              %i0 = vm.call @java.add_1(%i0)
              %i2 = vm.cmp.lt.i32.s %i0, %i1
              vm.cond_br %i2, ^bb1(), ^bb2()
            ^bb2:
              vm.return %i0
            }
            vm.func @back(%i0: i32) -> (i32) {
            ^bb0:
              %i1 = vm.const.i32 1000
              vm.br ^bb1()
            ^bb1:
              %i0 = vm.call @java.back(%i0)
              %i2 = vm.cmp.lt.i32.s %i0, %i1
              vm.cond_br %i2, ^bb1(), ^bb2()
            ^bb2:
              vm.return %i0
            }
            """;

    /** Functions of the program. */
    public interface Program {
        /** Adds 1. */
        @Import(value = "m.inner", late = true)
        int inner(int value);
    }

    /** The module. */
    @IreeModule("java")
    public static final class Methods {
        /** Adds 1. */
        @Export("add_1")
        public int addOne(int value) {
            return value + 1;
        }

        /** Adds 1 by calling the program. */
        @Export
        public int back(Program program, int value) {
            return program.inner(value);
        }
    }

    /** Annotated methods, or functions without conversions (and without callbacks). */
    @Param({"annotated", "native"})
    public String kind = "";

    private final BytecodeModule program = BytecodeModule.read(
            MemorySegment.ofArray(VmAssembler.assemble(PROGRAM)),
            "program",
            VmTypes.standard(),
            ModuleLimits.DEFAULTS,
            null,
            Compilation.EAGER);

    private Context context = Context.create(List.of(), ContextOptions.DEFAULTS);
    private Invocation[] calls = {};

    /** Links the program. */
    @Setup
    public void link() {
        VmModule module = kind.equals("annotated")
                ? JavaModule.of(new Methods())
                : NativeModule.builder("java", 0, Object::new)
                        .function("add_1", "0i_i", (state, call) -> call.returnI32(call.i32() + 1))
                        .function("back", "0i_i", (state, call) -> call.returnI32(call.i32() + 1))
                        .build();
        context = Context.create(List.of(module, program), ContextOptions.DEFAULTS);
        calls = new Invocation[] {
            context.invocation(Objects.requireNonNull(context.function("m.add"))),
            context.invocation(Objects.requireNonNull(context.function("m.back")))
        };
    }

    /** Frees all. */
    @TearDown
    public void close() {
        for (Invocation call : calls) {
            call.close();
        }
        context.close();
        program.close();
    }

    /** A call of Java by a program. */
    @Benchmark
    @OperationsPerInvocation(CALLS)
    public int callOfJava() {
        calls[0].i32(0).run();
        return calls[0].i32();
    }

    /** A call of Java by a program; the Java method calls the program back. */
    @Benchmark
    @OperationsPerInvocation(CALLS)
    public int callBack() {
        calls[1].i32(0).run();
        return calls[1].i32();
    }
}
