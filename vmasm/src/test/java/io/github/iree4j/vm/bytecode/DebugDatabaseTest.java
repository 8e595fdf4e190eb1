package io.github.iree4j.vm.bytecode;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.github.iree4j.Fixtures;
import io.github.iree4j.modules.hal.HalTypes;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.github.iree4j.vm.Context;
import io.github.iree4j.vm.ContextOptions;
import io.github.iree4j.vm.Invocation;
import io.github.iree4j.vm.ProgramTrace;
import io.github.iree4j.vm.VmTypes;
import io.github.iree4j.vm.asm.VmAssembler;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.Objects;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The source locations of the model in failures. */
class DebugDatabaseTest {
    private static final String TEXT = """
            vm.module @model version 0
            vm.export @main
            vm.func @main(%i0: i32) -> (i32) {
            ^bb0:
              vm.loc "model.py":10:5
              %i1 = vm.const.i32 100
              vm.loc callsite("layers.py":7:9 at "model.py":12:3)
              %i0 = vm.call @divide(%i1, %i0)
              vm.return %i0
            }
            vm.func @divide(%i0: i32, %i1: i32) -> (i32) {
            ^bb0:
              vm.loc "dense/Div"(fused["math.py":1:2, "math.py":3:4])
              %i0 = vm.div.i32.s %i0, %i1
              vm.return %i0
            }
            """;

    private static BytecodeModule module(byte[] file, Compilation compilation) {
        return BytecodeModule.read(
                MemorySegment.ofArray(file), "test", VmTypes.standard(), ModuleLimits.DEFAULTS, null, compilation);
    }

    private static IreeException failure(byte[] file, Compilation compilation) {
        try (BytecodeModule module = module(file, compilation);
                Context context = Context.create(List.of(module), ContextOptions.DEFAULTS);
                Invocation call = context.invocation(module.exports().getFirst())) {
            return catchThrowableOfType(IreeException.class, () -> call.i32(0).run());
        }
    }

    private static IreeException failure(String text) {
        return failure(VmAssembler.assemble(text), Compilation.OFF);
    }

    private static List<String> stack(Throwable failure, int frames) {
        return Arrays.stream(failure.getStackTrace())
                .limit(frames)
                .map(StackTraceElement::toString)
                .toList();
    }

    @ParameterizedTest
    @EnumSource(names = {"OFF", "EAGER"})
    void stackTracesBeginInTheSourceOfTheModel(Compilation compilation) {
        IreeException failure = failure(VmAssembler.assemble(TEXT), compilation);
        assertThat(stack(failure, 4))
                .containsExactly(
                        "model.divide \"dense/Div\"(math.py:1)",
                        "model.divide \"dense/Div\"(math.py:3)",
                        "model.main(layers.py:7)",
                        "model.main(model.py:12)");
        assertThat(failure.getStackTrace()[4].getClassName()).startsWith("io.github.iree4j.");
        StringWriter printed = new StringWriter();
        failure.printStackTrace(new PrintWriter(printed));
        assertThat(printed.toString()).contains("at model.main(model.py:12)");
    }

    @ParameterizedTest
    @EnumSource(names = {"OFF", "EAGER"})
    void messagesNameTheInnermostPlaceOfEachFunction(Compilation compilation) {
        assertThat(failure(VmAssembler.assemble(TEXT), compilation))
                .hasMessageContaining("in @model.divide+0x")
                .hasMessageContaining("(dense/Div at math.py:1:2), in @model.main+0x")
                .hasMessageContaining("(layers.py:7:9)");
    }

    @Test
    void theTraceIsAvailableToPrograms() {
        ProgramTrace trace = failure(TEXT).detail(ProgramTrace.class).orElseThrow();
        assertThat(trace.frames()).extracting(ProgramTrace.Frame::function).containsExactly("divide", "main");
        assertThat(trace.frames().getLast().sources())
                .containsExactly(
                        new ProgramTrace.Source("", "layers.py", 7, 9), new ProgramTrace.Source("", "model.py", 12, 3));
    }

    @Test
    void aModuleWithoutSourcesStillNamesItsFunctions() {
        String bare = TEXT.replaceAll("(?m)^  vm.loc.*\n", "");
        assertThat(stack(failure(bare), 2)).containsExactly("model.#1(Unknown Source)", "model.main(Unknown Source)");
    }

    @Test
    void anInstructionWithoutLocationHasNone() {
        String partly = TEXT.replaceFirst("  vm.loc \"dense.*\n", "");
        assertThat(stack(failure(partly), 1)).containsExactly("model.divide(Unknown Source)");
    }

    @Test
    void namesAndPlacesAreTruncatedAndPrintable() {
        String loud = TEXT.replace("layers.py", "x".repeat(100_000)).replace("dense/Div", "a\tb");
        ProgramTrace trace = failure(loud).detail(ProgramTrace.class).orElseThrow();
        assertThat(trace.frames().getFirst().sources().getFirst().name()).isEqualTo("a?b");
        assertThat(trace.frames().getLast().sources().getFirst().file()).hasSizeLessThan(600);
    }

    @Test
    void deepAndWideLocationsAreTruncated() {
        String deep = "\"deep\"(".repeat(40) + "\"model.py\":1:1" + ")".repeat(40);
        assertThat(failure(TEXT.replace("\"model.py\":12:3", deep))
                        .detail(ProgramTrace.class)
                        .orElseThrow()
                        .frames()
                        .getLast()
                        .sources())
                .hasSizeLessThanOrEqualTo(16);
        StringBuilder wide = new StringBuilder("fused[\"model.py\":1:1");
        for (int i = 2; i < 500; i++) {
            wide.append(", \"model.py\":").append(i).append(":1");
        }
        assertThat(failure(TEXT.replace("\"model.py\":12:3", wide + "]"))
                        .detail(ProgramTrace.class)
                        .orElseThrow()
                        .frames()
                        .getLast()
                        .sources())
                .hasSize(16);
    }

    @Test
    void repeatedQueriesDoNotExhaustAnything() {
        try (BytecodeModule module = module(VmAssembler.assemble(TEXT), Compilation.OFF)) {
            DebugDatabase debug = Objects.requireNonNull(module.definition().debug());
            for (int i = 0; i < 100_000; i++) {
                assertThat(debug.functionName(1)).isEqualTo("divide");
            }
        }
    }

    @Test
    void damagedDatabasesAreHarmless() {
        byte[] file = VmAssembler.assemble(TEXT);
        int from = new String(file, StandardCharsets.ISO_8859_1).indexOf("layers.py") - 400;
        SplittableRandom random = new SplittableRandom(1);
        int failed = 0;
        for (int i = 0; i < 5_000; i++) {
            byte[] damaged = file.clone();
            for (int k = random.nextInt(4); k >= 0; k--) {
                int at = Math.min(file.length - 1, Math.max(16, from + random.nextInt(800)));
                damaged[at] = (byte) (random.nextBoolean() ? random.nextInt(8) : random.nextInt());
            }
            try {
                IreeException failure = failure(damaged, Compilation.OFF);
                if (failure == null) {
                    continue; // the code is different now
                }
                assertThat(failure.getMessage()).as("damage %d", i).hasSizeLessThan(20_000);
                assertThat(failure.getStackTrace()).as("damage %d", i).hasSizeLessThan(2000);
                failed++;
            } catch (NoSuchElementException noExport) {
                continue;
            } catch (IreeException refused) {
                assertThat(refused.code()).as("damage %d", i).isNotEqualTo(StatusCode.INTERNAL);
            }
        }
        assertThat(failed).as("modules that loaded").isGreaterThan(500);
    }

    @Test
    void compiledModulesHaveLocationsOfTheirInstructions() {
        Path fixture = Fixtures.file("3.13.0/cpu-debug/add.vmfb");
        try (BytecodeModule module =
                BytecodeModule.open(fixture, HalTypes.register(VmTypes.standard()), ModuleLimits.DEFAULTS)) {
            DebugDatabase debug = Objects.requireNonNull(module.definition().debug());
            List<String> names = new ArrayList<>();
            List<ProgramTrace.Source> sources = new ArrayList<>();
            for (int i = 0; i < module.definition().functions().size(); i++) {
                names.add(debug.functionName(i));
                for (int offset = 0; offset < 1000; offset++) {
                    sources.addAll(debug.sources(i, offset));
                }
            }
            assertThat(sources)
                    .isNotEmpty()
                    .allSatisfy(source -> assertThat(source.file()).endsWith("add.mlir"));
            // This compiler kept the last function's entry only, and put it first.
            assertThat(names).containsExactly(null, null, "__init");
        }
    }

    @Test
    void locationsAreReadAsWrittenByMlir() {
        assertThatExceptionOfType(IreeException.class)
                .isThrownBy(() -> VmAssembler.assemble(TEXT.replace("callsite(", "callsite[")))
                .withMessageContaining("line 7");
    }
}
