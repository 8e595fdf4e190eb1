package io.github.iree4j.vm.bytecode;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.vm.Invocation;
import io.github.iree4j.vm.VmTypes;
import io.github.iree4j.vm.asm.VmAssembler;
import java.lang.foreign.MemorySegment;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Code with a few hundred instructions beyond the size of a Java method, such as calls with many arguments. */
class HugeMethodTest {
    private static final int ARGUMENTS = 100;

    /** Calls a function of many arguments again and again: the last is subtracted from the first. */
    private static String program(int calls) {
        String declared =
                IntStream.range(0, ARGUMENTS).mapToObj(i -> "%i" + i + ": i32").collect(Collectors.joining(", "));
        String given = IntStream.range(0, ARGUMENTS).mapToObj(i -> "%i" + i).collect(Collectors.joining(", "));
        StringBuilder text = new StringBuilder("vm.export @f\nvm.func @f(%i0: i32) -> (i32) {\n");
        for (int i = 1; i < ARGUMENTS; i++) {
            text.append("%i").append(i).append(" = vm.const.i32 ").append(i).append('\n');
        }
        for (int i = 0; i < calls; i++) {
            text.append("%i0 = vm.call @m:1(").append(given).append(")\n");
        }
        text.append("vm.return %i0\n}\n");
        text.append("vm.func @g(").append(declared).append(") -> (i32) {\n");
        text.append("%i0 = vm.sub.i32 %i0, %i").append(ARGUMENTS - 1).append("\nvm.return %i0\n}\n");
        return "vm.module @m version 0\n" + text;
    }

    @ParameterizedTest
    @CsvSource({"100", "150", "1000"
    }) // more than HotSpot compiles, more than a method may have, more than a part of a function has
    void calledWithMoreArgumentsThanAMethodHasRoomForIsCompiled(int calls) {
        BytecodeModule module = BytecodeModule.read(
                MemorySegment.ofArray(VmAssembler.assemble(program(calls))),
                "test",
                VmTypes.standard(),
                ModuleLimits.DEFAULTS,
                null,
                Compilation.EAGER);
        try (Programs.Running program = Programs.run(module);
                Invocation call = program.call("m.f")) {
            assertThat(module.compilation().refused()).isEmpty();
            assertThat(module.compilation().compiled()).isEqualTo(2);
            call.i32(7).run();
            assertThat(call.i32()).isEqualTo(7 - 99 * calls);
        }
    }
}
