package io.github.iree4j.vm.asm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.github.iree4j.Effort;
import io.github.iree4j.Fixtures;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.vm.bytecode.ModuleDef;
import io.github.iree4j.vm.bytecode.ModuleLimits;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;

class RoundTripTest {

    private static final Path MODULES = Fixtures.DIRECTORY.resolve("modules");

    @TestFactory
    Stream<DynamicTest> fixtureComesBackFromItsDisassembly() throws IOException {
        try (Stream<Path> files = Files.walk(MODULES)) {
            List<Path> all = files.filter(file -> file.toString().endsWith(".vmfb"))
                    .sorted()
                    .toList();
            int every = Effort.isBrief() ? 5 : 1;
            List<DynamicTest> tests = IntStream.range(0, all.size())
                    .filter(place -> place % every == 0)
                    .mapToObj(all::get)
                    .map(file ->
                            DynamicTest.dynamicTest(MODULES.relativize(file).toString(), () -> {
                                ModuleDef module = read(file);
                                assertSame(module, reassembled(VmDisassembler.disassemble(module)));
                            }))
                    .toList();
            assertThat(tests).hasSizeGreaterThanOrEqualTo(60);
            return tests.stream();
        }
    }

    @TestFactory
    Stream<DynamicTest> suiteComesBackFromItsDisassembly() throws Exception {
        Path directory =
                Path.of(Objects.requireNonNull(getClass().getResource("/vmasm")).toURI());
        try (Stream<Path> files = Files.list(directory)) {
            return files
                    .sorted()
                    .map(file -> DynamicTest.dynamicTest(file.getFileName().toString(), () -> {
                        ModuleDef module = assembled(Files.readString(file));
                        String text = VmDisassembler.disassemble(module);
                        assertSame(module, reassembled(text));
                        assertThat(VmDisassembler.disassemble(reassembled(text)))
                                .isEqualTo(text);
                    }))
                    .toList()
                    .stream();
        }
    }

    /** Everything inexpressible in IREE's text. */
    private static final String EVERYTHING = """
            vm.module @everything version 4294967295
              vm.attr "key" = "value"
              vm.attr e"quo\\"ted" = e"line\\nbreak \\x00 and \\\\"
            vm.requires EXT_F32|YIELD|0x100
            vm.type i32
            vm.type !vm.buffer
            vm.type "odd // name"
            vm.dependency @hal version 7
            vm.dependency @other version 0 optional
            vm.import @hal.device.count cconv "0v_i"
              vm.attr "nosideeffects" = ""
            vm.import optional @"od d.name" cconv "0CriDI_r"
            vm.rodata[0] = 00FF
            vm.rodata[1] =
            vm.rodata[2] @text = "plain \\ text // # not a comment"
            vm.rodata[3] align 64 external = 0102030405
            vm.rodata[4] align 32 external = 06
            vm.rwdata[0] = 12
            vm.state bytes 100 refs 3
            vm.export @zwei = @two
            vm.export @one
            vm.export @"a name" = @one

            vm.func @one(%i0: i32, %i2:3: i64, %r0: !vm.ref<?>) -> (f32, f64) {
              vm.attr "iree.abi.declaration" = e"sync func @one(%input: \\"x\\")"
              vm.requires EXT_F32|EXT_F64|UNWIND
              vm.registers values 40 refs 9
            ^bb0:
              %i4 = vm.const.f32 bits(0x7F800001)
              %i6:7 = vm.const.f64 -nan
              %i8 = vm.const.f32 1.40129846e-45
              %i10:11 = vm.const.f64 2.2250738585072014e-308
              %r1 = vm.const.ref.rodata @text
              %r2 = vm.cast.any.ref %R1 : !vm.ref<?> -> type[2]
              vm.trace e"with \\xff and \\"quotes\\""(%R2, %i0)
              vm.return %i4, %i6:7
            }

            vm.func @two() -> () {
              vm.cconv "0"
            ^bb0:
              %i0 = vm.call @import:0()
              vm.return
            }
            """;

    @Test
    void everythingInTheFormatCanBeWritten() {
        ModuleDef module = assembled(EVERYTHING);
        assertThat(module.attributes()).isEqualTo(Map.of("key", "value", "quo\"ted", "line\nbreak \u0000 and \\"));
        assertThat(module.requirements()).isEqualTo(0x105);
        assertThat(module.dependencies())
                .containsExactly(new ModuleDef.Dependency("hal", 7, 1), new ModuleDef.Dependency("other", 0, 2));
        assertThat(module.imports().get(1).fullName()).isEqualTo("od d.name");
        assertThat(module.rwdataBytes()).containsExactly(12);
        assertThat(module.globalBytes()).isEqualTo(100);
        assertThat(module.functions().getFirst().words()).isEqualTo(40);
        assertThat(module.signatures().get(1).convention()).isEqualTo("0");
        assertThat(bytes(module.rodata().get(2))).isEqualTo("plain \\ text // # not a comment".getBytes());

        String text = VmDisassembler.disassemble(module);
        assertSame(module, reassembled(text));
        assertThat(VmDisassembler.disassemble(reassembled(text))).isEqualTo(text);
    }

    @Test
    void ignoredMoveBitsOfVersion15AreKept() {
        String function = """
                vm.func @f(%r0: !vm.buffer) -> (i32) {
                ^bb0:
                  %i0:1 = vm.const.i64.zero
                  %i2 = vm.buffer.load.i32 %R0, %i0:1
                  vm.return %i2
                }
                """;
        ModuleDef module = assembled("vm.module @m\nvm.bytecode 15\n" + function);
        String text = VmDisassembler.disassemble(module);
        assertThat(text).contains("vm.bytecode 15\n").contains("vm.buffer.load.i32 %R0");
        assertSame(module, reassembled(text));
        assertThatExceptionOfType(IreeException.class)
                .isThrownBy(() -> assembled("vm.module @m\nvm.bytecode 16\n" + function))
                .withMessageContaining("cannot move");
    }

    @Test
    void anIgnoredMoveBitOfABranchTargetIsKept() {
        ModuleDef module = assembled("""
                vm.module @m
                vm.func @f(%r0: !vm.buffer) -> () {
                ^bb0:
                  vm.br ^bb1(%r0->%R1)
                ^bb1:
                  vm.return
                }
                """);
        String text = VmDisassembler.disassemble(module);
        assertThat(text).contains("%r0->%R1");
        assertSame(module, reassembled(text));
    }

    @Test
    void offsetsInFrontOfInstructionsAreNotRead() {
        ModuleDef module = assembled(EVERYTHING);
        String text = VmDisassembler.disassemble(module, new VmDisassembler.Options(true, null, Long.MAX_VALUE, null));
        assertThat(text).contains("[00000000]^bb0:").contains("[00000001]  %i4 = ");
        assertSame(module, reassembled(text));
    }

    @Test
    void rodataCanGoToFiles(@TempDir Path directory) {
        ModuleDef module = assembled(EVERYTHING);
        String text = VmDisassembler.disassemble(module, new VmDisassembler.Options(false, null, 0, directory));
        assertThat(text).contains("vm.rodata[3] align 64 external = file \"rodata_3.bin\"");
        assertSame(module, definition(VmAssembler.assemble(text, directory)));
    }

    @Test
    void textIsTheSameInEachLanguage(@TempDir Path directory) {
        ModuleDef module = assembled(EVERYTHING);
        VmDisassembler.Options options = new VmDisassembler.Options(true, null, 0, directory);
        String text = VmDisassembler.disassemble(module, options);
        Locale language = Locale.getDefault();
        try {
            for (String tag : List.of("fa-IR", "ar-EG", "tr-TR", "de-DE")) {
                Locale.setDefault(Locale.forLanguageTag(tag));
                assertThat(VmDisassembler.disassemble(module, options)).as(tag).isEqualTo(text);
                assertSame(module, definition(VmAssembler.assemble(text, directory)));
                assertThat(FloatLiterals.formatF32(Float.floatToRawIntBits(0x1p-20f)))
                        .as(tag)
                        .isEqualTo("9.53674316e-07");
            }
        } finally {
            Locale.setDefault(language);
        }
    }

    @Test
    void omittedRodataIsNotMistakenForEmpty() {
        String text =
                VmDisassembler.disassemble(assembled(EVERYTHING), new VmDisassembler.Options(false, null, 4, null));
        assertThat(text).contains("vm.rodata[3] align 64 external = <5 bytes left out>");
    }

    private static ModuleDef read(Path file) {
        try {
            return definition(Files.readAllBytes(file));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static ModuleDef assembled(String text) {
        return definition(VmAssembler.assemble(text));
    }

    private static ModuleDef reassembled(String text) {
        return definition(VmAssembler.assemble(text));
    }

    private static ModuleDef definition(byte[] file) {
        return ModuleDef.read(MemorySegment.ofArray(file), ModuleLimits.DEFAULTS);
    }

    private static byte[] bytes(ModuleDef.Rodata rodata) {
        return rodata.bytes().toArray(ValueLayout.JAVA_BYTE);
    }

    /** Equal except for the placement of constants and the debug database. */
    private static void assertSame(ModuleDef wanted, ModuleDef actual) {
        assertThat(actual.bytecode()).as("code").isEqualTo(wanted.bytecode());
        assertThat(actual.rodata().stream().map(RoundTripTest::bytes).toList())
                .usingRecursiveComparison()
                .isEqualTo(wanted.rodata().stream().map(RoundTripTest::bytes).toList());
        assertThat(actual.rodata().stream().map(ModuleDef.Rodata::embedded).toList())
                .isEqualTo(
                        wanted.rodata().stream().map(ModuleDef.Rodata::embedded).toList());
        assertThat(actual)
                .usingRecursiveComparison()
                .ignoringFields("bytecode", "rodata", "debug")
                .isEqualTo(wanted);
    }
}
