package io.github.iree4j.tools;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class AsmDumpTest {

    private static final String SOURCE = """
            vm.module @sample version 3
              vm.attr "made.by" = "hand"
            vm.type !vm.buffer
            vm.type !hal.buffer_view
            vm.dependency @hal version 7
            vm.import optional @hal.devices.count cconv "0v_i"
            vm.import @support.sum cconv "0rCID_i"
            vm.rodata[0] = "some text"
            vm.rodata[1] align 64 external = file "kernel.bin"
            vm.global.i32 mutable @counter

            vm.export @next
            vm.func @next(%i0: i32) -> (i32) {
              vm.attr "iree.abi.declaration" = "sync func @next(%arg0: i32) -> i32"
            ^bb0:
              %i1 = vm.global.load.i32 @counter
              %i0 = vm.add.i32 %i0, %i1
              vm.global.store.i32 %i0, @counter
              vm.return %i0
            }
            """;

    @TempDir
    Path directory;

    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();

    private int iree4j(String... arguments) {
        return Iree4jCommand.execute(new PrintWriter(out), new PrintWriter(err), arguments);
    }

    private Path assembled() throws Exception {
        Path source = directory.resolve("sample.vmasm");
        Files.writeString(source, SOURCE);
        Files.write(directory.resolve("kernel.bin"), new byte[300]);
        assertThat(iree4j("asm", source.toString())).as(err.toString()).isZero();
        return directory.resolve("sample.vmfb");
    }

    @Test
    void asmWritesTheModuleNextToTheText() throws Exception {
        assertThat(assembled()).exists();
    }

    @Test
    void asmWritesToTheGivenFile() throws Exception {
        Path module = assembled();
        Path other = directory.resolve("other.vmfb");
        assertThat(iree4j("asm", directory.resolve("sample.vmasm").toString(), "-o", other.toString()))
                .isZero();
        assertThat(other).hasSameBinaryContentAs(module);
    }

    @Test
    void asmFindsFilesInAnotherDirectory() throws Exception {
        Path module = assembled();
        Path elsewhere = Files.createDirectory(directory.resolve("elsewhere"));
        Files.move(directory.resolve("kernel.bin"), elsewhere.resolve("kernel.bin"));
        Path other = directory.resolve("other.vmfb");
        String source = directory.resolve("sample.vmasm").toString();
        assertThat(iree4j("asm", source, "--directory=" + elsewhere, "-o", other.toString()))
                .isZero();
        assertThat(other).hasSameBinaryContentAs(module);
    }

    @Test
    void asmReportsTheLocationOfErrors() throws Exception {
        Path source = directory.resolve("wrong.vmasm");
        Files.writeString(source, SOURCE.replace("vm.add.i32 %i0, %i1", "vm.add.i32 %i0"));
        Files.write(directory.resolve("kernel.bin"), new byte[300]);
        assertThat(iree4j("asm", source.toString())).isEqualTo(1);
        assertThat(err.toString())
                .contains("INVALID_ARGUMENT; '%s': line 17:23: expected register like '%%i0'".formatted(source));
        assertThat(directory.resolve("wrong.vmfb")).doesNotExist();
    }

    @Test
    void asmRejectsUnverifiableModules() throws Exception {
        Path source = directory.resolve("unsound.vmasm");
        Files.writeString(
                source,
                "vm.module @m\nvm.func @f() -> (i32) {\n  vm.registers values 1 refs 0\n  %i5 = vm.const.i32 1\n  vm.return %i5\n}\n");
        assertThat(iree4j("asm", source.toString())).isEqualTo(1);
        assertThat(err.toString()).contains("INVALID_ARGUMENT").contains("unsound.vmasm");
        assertThat(iree4j("asm", "--no-verify", source.toString())).isZero();
    }

    @Test
    void dumpShowsTheTables() throws Exception {
        assertThat(iree4j("dump", assembled().toString())).as(err.toString()).isZero();
        assertThat(out.toString())
                .contains("// @sample : version 3\n")
                .contains("Attributes:\n  made.by: hand\n")
                .contains("Required Types:\n  [  0] !vm.buffer\n  [  1] !hal.buffer_view\n")
                .contains("Module Dependencies:\n  hal, version >= 7, required\n")
                .contains("Imported Functions:\n  [  0] ?hal.devices.count() -> (i32)\n"
                        + "  [  1] support.sum(!vm.ref<?>, tuple<i64>...) -> (i32)\n")
                .contains("Exported Functions:\n  [  0] next(i32) -> (i32)\n"
                        + "        iree.abi.declaration: sync func @next(%arg0: i32) -> i32\n")
                .contains("Module State:\n  4 bytes, 0 refs\n")
                .contains("  .rodata[  0] embedded        9 bytes `some text`\n")
                .contains("  .rodata[  1] external      300 bytes (offset 0 / 0h to 12Ch)\n")
                .contains("// Bytecode : version 17.0\n")
                .contains("  0 | 00000000 |       28 |      1 |     2 |     0 |              | next\n")
                .doesNotContain("vm.func");
    }

    @Test
    void dumpShowsTheCodeWhenAsked() throws Exception {
        assertThat(iree4j("dump", "--disassemble", assembled().toString())).isZero();
        assertThat(out.toString())
                .contains("// @sample : version 3\n")
                .contains("vm.func @next(%i0: i32) -> (i32) {\n")
                .contains("= <300 bytes left out>\n");
    }

    @Test
    void dumpShowsASingleFunction() throws Exception {
        assertThat(iree4j(
                        "dump",
                        "--function=next",
                        "--bytecode_offsets",
                        assembled().toString()))
                .isZero();
        assertThat(out.toString())
                .contains("[00000001]  %i1 = vm.global.load.i32 .rwdata[0]\n")
                .doesNotContain("Sections");
    }

    @Test
    void disassemblyWithFilesAssemblesToTheSameFile() throws Exception {
        Path module = assembled();
        Path rodata = directory.resolve("parts");
        assertThat(iree4j("dump", "--output=disassembly", "--rodata=" + rodata, module.toString()))
                .isZero();
        Path text = rodata.resolve("again.vmasm");
        Files.writeString(text, out.toString());
        assertThat(iree4j("asm", text.toString())).as(err.toString()).isZero();
        assertThat(rodata.resolve("again.vmfb")).hasSameBinaryContentAs(module);
    }

    @Test
    void dumpShowsCompiledModules() {
        assertThat(iree4j("dump", "--output=all", CommandLineRun.fixture("3.13.0/cpu-debug/add.vmfb")))
                .isZero();
        assertThat(out.toString())
                .contains("hal.devices.count() -> (i32)")
                .contains("iree.abi.declaration: sync func @add(")
                .contains("Debug Information")
                .contains("vm.call @hal.command_buffer.create(");
    }

    @Test
    void dumpReportsFilesOfNoModule() throws Exception {
        Path file = directory.resolve("text.txt");
        Files.writeString(file, "this is no module, only a text of some length");
        assertThat(iree4j("dump", file.toString())).isEqualTo(1);
        assertThat(err.toString()).startsWith("INVALID_ARGUMENT; module file '" + file + "'");
        assertThat(iree4j("dump", directory.resolve("absent").toString())).isEqualTo(1);
        assertThat(err.toString()).contains("NOT_FOUND; there is no module file");
    }
}
