package io.github.iree4j.vm.asm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class VmAssemblerTest {

    private static final String HEADER = "vm.module @m version 1\n";

    @Test
    void sameTextGivesSameBytes() {
        String source = HEADER + "vm.rodata[0] external align 64 = 0102\nvm.func @f() -> () {\n  vm.return\n}\n";
        assertThat(VmAssembler.assemble(source)).isEqualTo(VmAssembler.assemble(source));
    }

    @Test
    void fileIsSizePrefixedAndCarriesTheIdentifier() {
        byte[] file = VmAssembler.assemble(HEADER + "vm.func @f() -> () {\n  vm.return\n}\n");
        assertThat(ByteBuffer.wrap(file).order(ByteOrder.LITTLE_ENDIAN).getInt(0))
                .isEqualTo(file.length - 4);
        assertThat(new String(file, 8, 4, StandardCharsets.US_ASCII)).isEqualTo("IREE");
    }

    @Test
    void externalRodataIsAlignedAsRequested() {
        byte[] file = VmAssembler.assemble(HEADER
                + "vm.rodata[0] external align 16 = \"first\"\n"
                + "vm.rodata[1] external align 64 = \"second\"\n"
                + "vm.func @f() -> () {\n  vm.return\n}\n");
        String text = new String(file, StandardCharsets.ISO_8859_1);
        assertThat(text.indexOf("first") % 64).isZero();
        assertThat(text.indexOf("second") % 64).isZero();
    }

    @Test
    void embeddedRodataIsAlignedAsRequested() {
        byte[] file = VmAssembler.assemble(HEADER
                + "vm.rodata[0] = \"odd length.\"\n"
                + "vm.rodata[1] align 64 = \"sixty-four\"\n"
                + "vm.func @f() -> () {\n  vm.return\n}\n");
        String text = new String(file, StandardCharsets.ISO_8859_1);
        assertThat(text.indexOf("odd length.") % 16).isZero();
        assertThat(text.indexOf("sixty-four") % 64).isZero();
    }

    @Test
    void rodataComesFromFilesOfTheBaseDirectory(@TempDir Path directory) throws Exception {
        Files.writeString(directory.resolve("kernel.bin"), "the bytes of a kernel");
        byte[] file = VmAssembler.assemble(
                HEADER + "vm.rodata[0] = file \"kernel.bin\"\nvm.func @f() -> () {\n  vm.return\n}\n", directory);
        assertThat(new String(file, StandardCharsets.ISO_8859_1)).contains("the bytes of a kernel");
    }

    @Test
    void missingRodataFileIsNotFoundAndNamed(@TempDir Path directory) {
        assertThatExceptionOfType(IreeException.class)
                .isThrownBy(() -> VmAssembler.assemble(HEADER + "vm.rodata[0] = file \"absent.bin\"\n", directory))
                .withMessageContaining("line 2: cannot read rodata file 'absent.bin'")
                .matches(e -> e.code() == StatusCode.NOT_FOUND);
    }

    @Test
    void stringsTakeEscapesOnlyAfterAnE() {
        byte[] file = VmAssembler.assemble(HEADER
                + "vm.rodata[0] = \"a\\n//b\"  // a comment\n"
                + "vm.rodata[1] = e\"c\\n\\\"d\\xff\"\n"
                + "vm.func @f() -> () {\n  vm.return\n}\n");
        String text = new String(file, StandardCharsets.ISO_8859_1);
        assertThat(text).contains("a\\n//b").contains("c\n\"d\u00ff");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "vm.bogus | line 1:3: expected an instruction of bytecode 17.0, found 'vm.bogus'",
                "vm.return %x0 | line 1:13: expected register like '%i0' or '%r0', found '%x0'",
                "vm.add.i32 %i0, %i1 | line 1:3: expected a result register and '=' before the instruction, found 'vm.add.i32'",
                "%i0 = vm.add.i32 %i0 | line 1:23: expected register like '%i0', found the end of the line",
                "%i0 = vm.add.i32 %i0, %r1 | line 1:25: expected register like '%i0', found '%r1'",
                "%i0 = vm.add.i32 %i0, %i1, %i2 | line 1:28: expected the end of the line, found ','",
                "%i0 = vm.add.i64 %i0:1, %i2:3 | line 1:3: expected register like '%i0:1', found '%i0'",
                "%i0:1 = vm.add.i64 %i0:1, %i3:4 | line 1:29: expected a 64-bit register that begins at an even number, found '%i3:4'",
                "%i0:1 = vm.add.i64 %i0:1, %i2:4 | line 1:29: expected register like '%i0:1', found '%i2:4'",
                "vm.call @g() | line 1:11: expected a function or import of module '@m' that is defined, found '@g'",
                "%i0 = vm.const.i32 4294967296 | line 1:22: expected an i32 literal of 32 bits, found '4294967296'",
                "%i0 = vm.const.i32 010 | line 1:22: expected a number without leading zeros, found '010'",
                "%i0 = vm.const.f32 1e99 | line 1:22: expected an f32 literal within its range, found '1e99'",
                "%i0 = vm.const.f32 one | line 1:22: expected an f32 literal, found 'one'",
                "%i0 = vm.cmp.nz.ref %R0 | line 1:23: expected a register that is kept ('%r'), since the instruction cannot move this operand, found '%R0'",
                "vm.fail %i0, \"no end | line 1:16: expected a string with a closing quote, found '\"no'",
                "vm.br_table %i0 { default: ^a(), 1: ^a() } | line 1:37: expected case 0 before this one; cases are numbered from 0 without gaps, found ':'",
                "%r0 = vm.const.ref.rodata 0 | line 1:29: expected the number of a rodata segment below 0, found '0'",
                "vm.global.store.i32 %i0, @counter | line 1:28: expected a global that is declared before the functions, found '@counter'",
            })
    void faultsInInstructionsAreReportedInPlace(String instruction, String message) {
        String source = HEADER + "vm.func @f() -> () {\n^a:\n  " + instruction + "\n  vm.return\n}\n";
        assertThatExceptionOfType(IreeException.class)
                .isThrownBy(() -> VmAssembler.assemble(source))
                .matches(e -> e.code() == StatusCode.INVALID_ARGUMENT)
                .withMessage(message.replace("line 1:", "line 4:"));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "vm.func @f() -> () { | line 2:1: expected '}' at the end of function '@f', found the end of the line",
                "vm.func @f(%i1: i32) -> () { | line 2:12: expected '%i0', the register of this argument, found '%i1'",
                "vm.func @f(%i0: i64) -> () { | line 2:12: expected a register that holds the argument's type, found '%i0'",
                "vm.func @f() -> (i7) { | line 2:18: expected one of i32, i64, f32, f64 or a reference like '!vm.buffer', found 'i7'",
                "vm.rodata[1] = 00 | line 2:11: expected segment 0; segments come in order, found '1'",
                "vm.rodata[0] = 0g | line 2:16: expected two hex digits for each byte, a string, or 'file', found '0g'",
                "vm.rodata[0] align 48 = 00 | line 2:20: expected a power of two, found '48'",
                "vm.rodata[0] = file \"x\" | line 2:16: expected bytes, since this text is assembled without a directory to find 'x' in, found 'file'",
                "vm.modul @x | line 2:1: expected a directive such as 'vm.func', found 'vm.modul'",
                "vm.module @x | line 2:1: expected one 'vm.module' only, found 'vm.module'",
                "vm.global.i32 @g = 4 : i32 | line 2:20: expected 0; other values are stored by function '__init', found '4'",
                "vm.requires EXT_F16 | line 2:13: expected one of EXT_F32, EXT_F64, YIELD, UNWIND or a number, found 'EXT_F16'",
                "vm.type i32 | line 2:1: expected a function, found the end of the line",
            })
    void faultsInDirectivesAreReportedInPlace(String directive, String message) {
        assertThatExceptionOfType(IreeException.class)
                .isThrownBy(() -> VmAssembler.assemble(HEADER + directive))
                .withMessage(message);
    }

    @Test
    void blockMustEndInATerminator() {
        assertThatExceptionOfType(IreeException.class)
                .isThrownBy(() -> VmAssembler.assemble(
                        HEADER + "vm.func @f() -> () {\n^a:\n  %i0 = vm.const.i32 1\n^b:\n  vm.return\n}\n"))
                .withMessage("line 5:1: expected a terminator such as 'vm.br' before the next block, found '^b'");
    }

    @Test
    void branchTargetMustBeDefined() {
        assertThatExceptionOfType(IreeException.class)
                .isThrownBy(() -> VmAssembler.assemble(HEADER + "vm.func @f() -> () {\n  vm.br ^nowhere()\n}\n"))
                .withMessage("line 3:9: expected a block that is defined, found '^nowhere'");
    }

    @Test
    void nothingFollowsATerminatorInItsBlock() {
        assertThatExceptionOfType(IreeException.class)
                .isThrownBy(() -> VmAssembler.assemble(HEADER + "vm.func @f() -> () {\n  vm.return\n  vm.return\n}\n"))
                .withMessage("line 4:3: expected a block label or '}' after 'vm.return', found 'vm.return'");
    }

    @Test
    void exportOfUnknownFunctionIsReportedAtItsLine() {
        assertThatExceptionOfType(IreeException.class)
                .isThrownBy(() ->
                        VmAssembler.assemble(HEADER + "vm.export @x = @y\nvm.func @f() -> () {\n  vm.return\n}\n"))
                .withMessage("line 2: export 'x' names function '@y', which is not defined");
    }
}
