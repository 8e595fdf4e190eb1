package io.github.iree4j.tools;

import static io.github.iree4j.tools.CommandLineRun.fixture;
import static io.github.iree4j.tools.CommandLineRun.iree4j;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class VerifyCommandTest {
    private static final String UNSOUND = """
            vm.module @m
            vm.export @f
            vm.export @g
            vm.func @f() -> (i32) {
              vm.registers values 1 refs 0
              %i5 = vm.const.i32 1
              vm.return %i6
            }
            vm.func @g() -> (i32) {
              vm.registers values 1 refs 0
              %i7 = vm.const.i32 1
              vm.return %i0
            }
            """;

    @TempDir
    private Path directory;

    @Test
    void listsAllFindingsOfAllFunctionsAndFails() throws IOException {
        Path source = Files.writeString(directory.resolve("unsound.vmasm"), UNSOUND);
        assertThat(iree4j("asm", "--no-verify", source.toString()).status()).isZero();
        String module = directory.resolve("unsound.vmfb").toString();
        CommandLineRun run = iree4j("verify", module);
        assertThat(run.status()).isEqualTo(1);
        assertThat(run.err()).isEmpty();
        String at = module + ": INVALID_ARGUMENT; function '";
        String bound = " and the function has 1 such registers\n";
        assertThat(run.out())
                .isEqualTo(at + "f': offset 0x1: result of const.i32 is value register 5" + bound
                        + at + "f': offset 0x8: operands of return is value register 6" + bound
                        + at + "g': offset 0x1: result of const.i32 is value register 7" + bound
                        + module + ": 3 findings\n");
    }

    @Test
    void warnsOfModulesWithPossiblyWrongResults() {
        String module = fixture("3.13.0/vulkan/compare_i1.vmfb").toString();
        CommandLineRun run = iree4j("verify", module);
        assertThat(run.status()).isZero();
        assertThat(run.out())
                .startsWith(module + ": verified\n" + module + ": warning: module 'module' has shaders")
                .contains("--iree-vulkan-target=");
    }

    @Test
    void verifiesModulesWithForeignTypes() throws IOException {
        Path source = Files.writeString(directory.resolve("own.vmasm"), """
                vm.module @m
                vm.export @f
                vm.func @f() -> () {
                  %r0 = vm.global.load.ref .refs[0] : !my.thing
                  vm.return
                }
                """);
        assertThat(iree4j("asm", "--no-verify", source.toString()).status()).isZero();
        String module = directory.resolve("own.vmfb").toString();
        CommandLineRun run = iree4j("verify", module);
        assertThat(run.err()).isEmpty();
        assertThat(run.out()).isEqualTo(module + ": verified\n");
        assertThat(run.status()).isZero();
    }

    @Test
    void asmReportsAllFindingsToo() throws IOException {
        Path source = Files.writeString(directory.resolve("unsound.vmasm"), UNSOUND);
        CommandLineRun run = iree4j("asm", source.toString());
        assertThat(run.status()).isEqualTo(1);
        assertThat(run.err())
                .contains("value register 5")
                .contains("value register 6")
                .contains("value register 7");
    }

    @Test
    void verifiesCompiledModulesOfAllVersions() {
        String add = fixture("3.11.0/cpu/add.vmfb");
        String vmvx = fixture("3.11.0/vmvx/simple_mul.vmfb");
        CommandLineRun run = iree4j("verify", add, vmvx, fixture("20240226.813/cpu/pipeline.vmfb"));
        assertThat(run.status()).as(run.out()).isZero();
        assertThat(run.out()).contains(add + ": verified\n").contains(vmvx + ": verified\n");
    }

    @Test
    void namesTheCpusWithCodeAndMarksOtherMachines() {
        String intel = fixture("3.11.0/cpu/add.vmfb");
        String arm = fixture("3.13.0/cpu-arm_64/add.vmfb");
        CommandLineRun run = iree4j("verify", intel, arm);
        assertThat(run.status()).isZero();
        boolean isArm = System.getProperty("os.arch").equals("aarch64");
        assertThat(run.out())
                .isEqualTo(intel + ": verified\n"
                        + intel + ": code for CPUs: x86_64" + (isArm ? " (not this machine)\n" : "\n")
                        + arm + ": verified\n"
                        + arm + ": code for CPUs: arm_64" + (isArm ? "\n" : " (not this machine)\n"));
    }

    @Test
    void damagedMemberIsAFinding() throws IOException {
        byte[] bytes = Files.readAllBytes(Path.of(fixture("3.13.0/cpu/add.vmfb")));
        int code = new String(bytes, StandardCharsets.ISO_8859_1).indexOf("\u007fELF");
        bytes[code + 100] ^= 1;
        Path damaged = Files.write(directory.resolve("damaged.vmfb"), bytes);
        CommandLineRun run = iree4j("verify", damaged.toString());
        assertThat(run.status()).isEqualTo(1);
        assertThat(run.out()).contains("DATA_LOSS; ", "has CRC-32").endsWith(damaged + ": 1 finding\n");
    }

    @Test
    void invalidFileIsAFindingAndMissingFileAFailure() throws IOException {
        Path text = Files.writeString(directory.resolve("text.vmfb"), "no module, though of some length, as it seems");
        CommandLineRun run = iree4j("verify", text.toString());
        assertThat(run.status()).isEqualTo(1);
        assertThat(run.out()).endsWith(text + ": 1 finding\n");
        CommandLineRun absent =
                iree4j("verify", directory.resolve("absent.vmfb").toString());
        assertThat(absent.status()).isEqualTo(1);
        assertThat(absent.err()).startsWith("NOT_FOUND; module file ");
        assertThat(iree4j("verify").status()).isEqualTo(2);
    }
}
