package io.github.iree4j.module;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.github.iree4j.IreeRuntime;
import io.github.iree4j.Program;
import io.github.iree4j.ProgramOptions;
import io.github.iree4j.Results;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.github.iree4j.vm.VmModule;
import io.github.iree4j.vm.asm.VmAssembler;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * A module with a type of its own, like IREE's {@code custom_module/basic}: strings created, measured and printed by a
 * program.
 */
class StringModuleTest {
    private final IreeRuntime runtime = IreeRuntime.create();

    @AfterEach
    void close() {
        runtime.close();
    }

    @ReferenceType("custom.string")
    record Text(String value) {}

    @IreeModule("custom")
    static class Strings {
        final List<String> printed = new ArrayList<>();

        @Export("string.create")
        Text create(String bytes) {
            return new Text(bytes);
        }

        @Export("string.length")
        static long length(Text text) {
            return text.value().length();
        }

        @Export("string.print")
        void print(Text text) {
            printed.add(text.value());
        }
    }

    static final class DebugStrings extends Strings {
        @Export("string.dprint")
        void printDebug(Text text) {
            printed.add("debug " + text.value());
        }
    }

    private static final String MAIN = """
            vm.module @example version 0
            vm.type !vm.buffer
            vm.type !custom.string
            vm.import @custom.string.create cconv "0r_r"
            vm.import @custom.string.length cconv "0r_I"
            vm.import @custom.string.print cconv "0r_v"
            vm.import optional @custom.string.dprint cconv "0r_v"
            vm.rodata[0] @hello = "hello"
            vm.rodata[1] @optimized = "optimized"
            vm.export @main
            vm.func @main() -> (i64) {
            ^bb0:
              %r0 = vm.const.ref.rodata @hello
              %r1 = vm.call @custom.string.create(%r0)
              vm.call @custom.string.print(%r1)
              %i0 = vm.import.resolved @custom.string.dprint
              vm.cond_br %i0, ^debug(), ^fallback()
            ^debug:
              vm.call @custom.string.dprint(%r1)
              vm.br ^end()
            ^fallback:
              %r2 = vm.const.ref.rodata @optimized
              %r2 = vm.call @custom.string.create(%r2)
              vm.call @custom.string.print(%R2)
              vm.br ^end()
            ^end:
              %i2:3 = vm.call @custom.string.length(%R1)
              vm.return %i2:3
            }
            """;

    private Program load(JavaModule module, String text) {
        return runtime.load(ProgramOptions.builder()
                .module(module)
                .module("main", VmAssembler.assemble(text))
                .build());
    }

    private long run(Strings strings) {
        try (Program program = load(JavaModule.of(strings), MAIN);
                Results results = program.function("main").invoke()) {
            return results.longValue(0);
        }
    }

    @Test
    void aProgramMakesMeasuresAndPrintsObjectsOfAJavaClass() {
        DebugStrings strings = new DebugStrings();
        assertThat(run(strings)).isEqualTo(5);
        assertThat(strings.printed).containsExactly("hello", "debug hello");
    }

    @Test
    void anOptionalImportMissingInTheClassIsAbsent() {
        Strings strings = new Strings();
        assertThat(run(strings)).isEqualTo(5);
        assertThat(strings.printed).containsExactly("hello", "optimized");
    }

    @IreeModule("loud")
    static final class Loud {
        @Export
        void print(Text text) {
            throw new IllegalStateException(text.value());
        }
    }

    /** Imports from a module perhaps offered. */
    @IreeModule("custom")
    static final class Printer {
        final List<String> printed = new ArrayList<>();

        interface Output {
            @Import("output.length")
            long length(String text);
        }

        @Export("string.create")
        Text create(String bytes) {
            return new Text(bytes);
        }

        @Export("string.length")
        static long length(Text text) {
            return text.value().length();
        }

        @Export("string.print")
        void print(Output output, Text text) {
            printed.add(text.value() + " " + output.length(text.value()));
        }
    }

    @IreeModule("output")
    static final class Output {
        @Export
        long length(String text) {
            return text.length();
        }
    }

    @Test
    void aProgramLinksOnlyTheOfferedModulesItImportsFrom() {
        Strings strings = new Strings();
        Strings second = new Strings();
        try (Program program = runtime.load(ProgramOptions.builder()
                        .offer(JavaModule.of(new Loud()))
                        .offer(JavaModule.shared(Strings.class, () -> strings))
                        .offer(JavaModule.of(second))
                        .module("main", VmAssembler.assemble(MAIN))
                        .build());
                Results results = program.function("main").invoke()) {
            assertThat(results.longValue(0)).isEqualTo(5);
            assertThat(program.monitor().modules()).extracting(VmModule::name).containsExactly("custom", "example");
            assertThat(program.name()).isEqualTo("example");
        }
        assertThat(strings.printed).containsExactly("hello", "optimized");
        assertThat(second.printed).isEmpty();
    }

    @Test
    void offeredModulesCanImportFromOfferedModules() {
        Printer printer = new Printer();
        try (Program program = runtime.load(ProgramOptions.builder()
                        .offer(JavaModule.of(printer))
                        .offer(JavaModule.of(new Output()))
                        .module("main", VmAssembler.assemble(MAIN))
                        .build());
                Results results = program.function("main").invoke()) {
            assertThat(results.longValue(0)).isEqualTo(5);
            assertThat(program.monitor().modules())
                    .extracting(VmModule::name)
                    .containsExactly("output", "custom", "example");
        }
        assertThat(printer.printed).containsExactly("hello 5", "optimized 9");
    }

    @Test
    void anAddedModuleTakesPrecedenceOverAnOfferedModule() {
        Strings added = new Strings();
        Strings offered = new Strings();
        try (Program program = runtime.load(ProgramOptions.builder()
                        .offer(JavaModule.of(offered))
                        .module(JavaModule.of(added))
                        .module("main", VmAssembler.assemble(MAIN))
                        .build());
                Results results = program.function("main").invoke()) {
            assertThat(results.longValue(0)).isEqualTo(5);
        }
        assertThat(added.printed).isNotEmpty();
        assertThat(offered.printed).isEmpty();
    }

    @Test
    void aTypeOfNoModuleIsRefusedByName() {
        assertThatExceptionOfType(IreeException.class)
                .isThrownBy(() -> runtime.load(ProgramOptions.builder()
                        .module("main", VmAssembler.assemble(MAIN))
                        .build()))
                .withMessageContaining("custom.string");
    }

    @Test
    void aDifferentSignatureNamesTheImportAndTheMethod() {
        String wrong = MAIN.replace("@custom.string.length cconv \"0r_I\"", "@custom.string.length cconv \"0r_i\"")
                .replace("-> (i64)", "-> (i32)")
                .replace("%i2:3", "%i2");
        assertThatExceptionOfType(IreeException.class)
                .isThrownBy(() -> load(JavaModule.of(new Strings()), wrong))
                .withMessageContaining("module 'example' imports 'custom.string.length' with convention '0r_i'")
                .withMessageContaining("'0r_I' (long Strings.length(Text))")
                .satisfies(e -> assertThat(e.code()).isEqualTo(StatusCode.INTERNAL));
    }

    @Test
    void anObjectOfAnotherTypeIsRefusedByNameOfTheArgument() {
        String wrong = MAIN.replace("vm.call @custom.string.print(%r1)", "vm.call @custom.string.print(%r0)");
        try (Program program = load(JavaModule.of(new Strings()), wrong)) {
            assertThatExceptionOfType(IreeException.class)
                    .isThrownBy(() -> program.function("main").invoke())
                    .withMessageContaining("argument 'text' of 'custom.string.print'")
                    .withMessageContaining("a !vm.buffer where a Text is wanted")
                    .satisfies(e -> assertThat(e.code()).isEqualTo(StatusCode.INVALID_ARGUMENT));
        }
    }
}
