package io.github.iree4j.tools;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.NpyFormat;
import io.github.iree4j.Tensor;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The command line as scripts call it: flags, output and exit status. */
class RunCommandTest {
    private static final String A = "--input=4xf32=1 2 3 4";
    private static final String B = "--input=4xf32=10 20 30 40";

    @TempDir
    private Path directory;

    private record Outcome(int status, String out, String err) {}

    private static Outcome iree4j(String... arguments) {
        StringWriter out = new StringWriter();
        StringWriter err = new StringWriter();
        int status = Iree4jCommand.execute(new PrintWriter(out), new PrintWriter(err), arguments);
        return new Outcome(status, out.toString().replace("\r", ""), err.toString());
    }

    private static Outcome add(String... more) {
        List<String> arguments = new ArrayList<>(
                List.of("run", "--module=" + CommandLineRun.fixture("3.11.0/cpu/add.vmfb"), "--function=add"));
        arguments.addAll(List.of(more));
        return iree4j(arguments.toArray(String[]::new));
    }

    // -- fixtures

    @Test
    void sharedLibrariesRunOnlyIfTheirFormatIsNamed() {
        Assumptions.assumeTrue(System.getProperty("os.arch").equals("amd64"), "the module is compiled for x86_64");
        String module = "--module=" + CommandLineRun.fixture("3.13.0/cpu-system/math_f32.vmfb");
        String input = "--input=8xf32=0";
        Outcome refused = iree4j("run", module, input);
        assertThat(refused.status()).isEqualTo(1);
        assertThat(refused.err()).contains("--iree-llvmcpu-link-embedded=false").contains("--executable_formats");
        String formats = "--executable_formats=embedded-elf-x86_64,system-elf-x86_64";
        for (String device : List.of("", "--device=local")) {
            Outcome outcome = device.isEmpty()
                    ? iree4j("run", module, formats, input)
                    : iree4j("run", module, device, formats, input);
            assertThat(outcome.err()).isEmpty();
            assertThat(outcome.out()).contains("result[0]: hal.buffer_view\n8xf32=1 1 1 1 1 1 1 1");
        }
        assertThat(iree4j("run", module, "--executable_formats=vmvx-bytecode-fb", input)
                        .err())
                .contains("program wants executables of format system-elf-x86_64");
    }

    @ParameterizedTest
    @ValueSource(strings = {"3.11.0/cpu/add.vmfb", "3.13.0/cpu/add.vmfb"})
    void printsTheOutputOfIreeRunModule(String module) {
        Outcome outcome = iree4j("run", "--module=" + CommandLineRun.fixture(module), "--function=add", A, B);
        assertThat(outcome.err()).isEmpty();
        assertThat(outcome.out()).isEqualTo("""
                EXEC @add
                result[0]: hal.buffer_view
                4xf32=11 22 33 44
                """);
        assertThat(outcome.status()).isZero();
    }

    @ParameterizedTest
    @CsvSource({"scale_weights.irpa, 2 4 6 8", "scale_weights_zero.irpa, 0 0 0 0"})
    void takesParametersByScope(String archive, String expected) {
        Outcome outcome = iree4j(
                "run",
                "--device=local-task",
                "--module=" + CommandLineRun.fixture("3.11.0/cpu/scale.vmfb"),
                "--parameters=model=" + CommandLineRun.fixture(archive),
                A);
        assertThat(outcome)
                .isEqualTo(new Outcome(0, "EXEC @scale\nresult[0]: hal.buffer_view\n4xf32=" + expected + "\n", ""));
    }

    @ParameterizedTest
    @CsvSource({
        "--device=local, --device=local",
        "--device=a=local, --device=b=local",
        "--device=local, --device=b=local-sync"
    })
    void takesTheSameDeviceTwiceForAProgramOfTwo(String first, String second) {
        String module = "--module=" + CommandLineRun.fixture("3.13.0/cpu-two/two_devices.vmfb");
        assertThat(iree4j("run", first, second, module, A))
                .isEqualTo(new Outcome(0, "EXEC @both\nresult[0]: hal.buffer_view\n4xf32=5 18 39 68\n", ""));
        assertThat(iree4j("run", first, module, A).err())
                .startsWith("INCOMPATIBLE; ")
                .contains(
                        "finds none for 'b' among the 1 given (local)", "--device=b=local", "HAL device `b` not found");
    }

    @Test
    void takesThreeDevicesInOrderOrByName() {
        String module = "--module=" + CommandLineRun.fixture("3.13.0/cpu-three/three_devices.vmfb");
        String b = "--input=4xf32=0.5 0.25 2 8";
        String expected = "--expected_output=4xf32=2 4 6 8";
        String other = "--expected_output=4xf32=0.875 0.984375 0.33333334 -7";
        for (List<String> devices : List.of(
                List.of("--device=local", "--device=local", "--device=local"),
                List.of("--device=c=local", "--device=a=local", "--device=b=local"))) {
            List<String> arguments = new ArrayList<>(List.of("run", module, A, b, other, expected));
            arguments.addAll(devices);
            Outcome outcome = iree4j(arguments.toArray(String[]::new));
            assertThat(outcome.err()).isEmpty();
            assertThat(outcome.out()).contains("[SUCCESS]");
        }
        assertThat(iree4j("run", "--device=local", "--device=local", module, A, b)
                        .err())
                .startsWith("INCOMPATIBLE; ")
                .contains("HAL device `c` not found");
    }

    @Test
    void rejectsDuplicateDeviceNames() {
        String module = "--module=" + CommandLineRun.fixture("3.13.0/cpu-two/two_devices.vmfb");
        assertThat(iree4j("run", "--device=a=local", "--device=a=local", module, A)
                        .err())
                .startsWith("INVALID_ARGUMENT; two devices are called 'a'");
    }

    @Test
    void takesSeveralScopes() {
        Outcome outcome = iree4j(
                "run",
                "--module=" + CommandLineRun.fixture("3.11.0/cpu/scale2.vmfb"),
                "--parameters=model=" + CommandLineRun.fixture("scale_weights.irpa"),
                "--parameters=bias=" + CommandLineRun.fixture("scale2_bias.irpa"),
                A,
                "--expected_output=4xf32=12 14 16 18");
        assertThat(outcome)
                .isEqualTo(new Outcome(
                        0, "EXEC @scale2\n[SUCCESS] all function outputs matched their expected values.\n", ""));
    }

    @Test
    void runsModulesWithoutNativeCode() {
        Outcome outcome = iree4j(
                "run",
                "--module=" + CommandLineRun.fixture("3.11.0/vmvx/simple_mul.vmfb"),
                "--function=simple_mul",
                "--input=100xf32=2",
                "--input=100xf32=3",
                "--expected_output=100xf32=6");
        assertThat(outcome.out()).endsWith("[SUCCESS] all function outputs matched their expected values.\n");
        assertThat(outcome.status()).isZero();
    }

    @Test
    void missingScopeIsNamedOnStandardError() {
        Outcome outcome = iree4j("run", "--module=" + CommandLineRun.fixture("3.11.0/cpu/scale.vmfb"), A);
        assertThat(outcome.status()).isEqualTo(1);
        assertThat(outcome.out()).isEmpty();
        assertThat(outcome.err()).startsWith("NOT_FOUND; ").contains("'model'");
    }

    @Test
    void rejectsCodeForAnotherProcessor() {
        Assumptions.assumeTrue(System.getProperty("os.arch").equals("amd64"), "this machine is no x86_64");
        Outcome outcome = iree4j("run", "--module=" + CommandLineRun.fixture("3.13.0/cpu-arm_64/add.vmfb"), A, B);
        assertThat(outcome.status()).isEqualTo(1);
        assertThat(outcome.err()).startsWith("INCOMPATIBLE; ").contains("embedded-elf-arm_64", "embedded-elf-x86_64");
    }

    // -- failures

    @Test
    void failureNamesFunctionArgumentAndDeclaration() {
        Outcome outcome = add(A, "--input=5xf32=1");
        assertThat(outcome.status()).isEqualTo(1);
        assertThat(outcome.err())
                .startsWith(
                        "INVALID_ARGUMENT; argument 1 'input1' of function 'module.add' is tensor<4xf32>; given 5xf32")
                .contains("`sync func @add(%input0: tensor<4xf32>");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "--input=4xf32=1 2 3 | OUT_OF_RANGE; '1 2 3' has 3 elements",
                "--input=4xf32=1 2 3 x | INVALID_ARGUMENT; element 3, 'x'",
                "--input= | INVALID_ARGUMENT; no value specified",
                "--input=7 | INVALID_ARGUMENT; a tensor needs at least shape and type",
                "--input=@none.npy | NOT_FOUND; file 'none.npy' does not exist",
                "--input=@none.txt | UNIMPLEMENTED; 'none.txt' does not declare shape and type",
                "--input=4xf32=@none.bin | NOT_FOUND; file 'none.bin' does not exist"
            })
    void unreadableInputsAreReported(String input, String message) {
        Outcome outcome = add(input, B);
        assertThat(outcome.status()).isEqualTo(1);
        assertThat(outcome.err()).startsWith(message).contains("parsing input `");
    }

    @Test
    void invalidUsageExitsWithStatusTwo() {
        assertThat(iree4j("run").status()).isEqualTo(2);
        assertThat(iree4j("run", "--nonsense").status()).isEqualTo(2);
        assertThat(iree4j().status()).isEqualTo(2);
        assertThat(iree4j("--help").status()).isZero();
        assertThat(iree4j("run", "--help").out()).contains("--module", "--expected_output");
    }

    @Test
    void missingFileAndFunctionAreReported() {
        assertThat(iree4j("run", "--module=none.vmfb").err()).startsWith("NOT_FOUND; module file 'none.vmfb'");
        assertThat(iree4j("run", "--module=" + CommandLineRun.fixture("3.11.0/cpu/add.vmfb"), "--function=sub")
                        .err())
                .startsWith("NOT_FOUND; program 'module' has no function 'sub' (it has: add)");
        assertThat(iree4j("run", "--device=gpu", "--module=none.vmfb").err())
                .startsWith("NOT_FOUND; there is no driver 'gpu'");
    }

    // -- inputs

    @ParameterizedTest
    @ValueSource(
            strings = {
                "4xf32=10",
                "4xf32=[10 10 10 10]",
                "4xf32=10,10,10,10",
                " 4xf32=1e1 ",
                "\"4xf32=10 10 10 10\"",
                "4xf32=0x1.4p3"
            })
    void inputsMayBeWrittenInManyWays(String input) {
        assertThat(add(A, "--input=" + input, "--expected_output=4xf32=11 12 13 14")
                        .status())
                .isZero();
    }

    @Test
    void inputsMayComeFromFiles() throws Exception {
        Path npy = write("in.npy", A.substring(8), B.substring(8));
        Path bin = directory.resolve("in.bin");
        ByteBuffer bytes = ByteBuffer.allocate(32).order(ByteOrder.LITTLE_ENDIAN);
        for (float f : new float[] {1, 2, 3, 4, 10, 20, 30, 40}) {
            bytes.putFloat(f);
        }
        Files.write(bin, bytes.array());
        String sum = "--expected_output=4xf32=11 22 33 44";
        assertThat(add("--input=@" + npy, "--input=+" + npy, sum).status()).isZero();
        assertThat(add("--input=*" + npy, sum).status()).isZero();
        assertThat(add("--input=4xf32=@" + bin, "--input=4xf32=+" + bin, sum).status())
                .isZero();
        assertThat(add("--input=@" + npy, "--input=@" + npy, "--expected_output=4xf32=2 4 6 8")
                        .status())
                .isZero();
        assertThat(add("--input=*" + npy, B).err()).startsWith("INVALID_ARGUMENT; function takes 2 values, no more");
        assertThat(add("--input=4xf32=@" + bin, "--input=8xf32=+" + bin).err())
                .startsWith("OUT_OF_RANGE; '" + bin + "' for 8xf32: tensor 8xf32: the data ends after 16 of 32 bytes");
        assertThat(add("--input=*" + npy, "--input=+" + npy).status()).isEqualTo(1);
    }

    @Test
    void storageIsPassedAsAnUndeclaredBuffer() throws Exception {
        Path text = directory.resolve("same.vmasm");
        Path module = directory.resolve("same.vmfb");
        Files.writeString(text, """
                vm.module @same version 0
                vm.type !hal.buffer
                vm.dependency @hal version 7
                vm.import @hal.buffer.length cconv "0r_I"
                vm.export @length
                vm.func @length(%r0: !hal.buffer) -> (i64, !hal.buffer) {
                ^bb0:
                  %i0:1 = vm.call @hal.buffer.length(%r0)
                  vm.return %i0:1, %r0
                }
                """);
        assertThat(iree4j("asm", text.toString(), "-o", module.toString()).status())
                .isZero();
        Path bytes = directory.resolve("out.bin");
        assertThat(iree4j("run", "--module=" + module, "--input=&4xf32"))
                .isEqualTo(
                        new Outcome(0, "EXEC @length\nresult[0]: i64=16\nresult[1]: hal.buffer\n(no printer)\n", ""));
        assertThat(iree4j("run", "--module=" + module, "--input=&2xi8=3 4", "--output=", "--output=@" + bytes)
                        .status())
                .isZero();
        assertThat(Files.readAllBytes(bytes)).containsExactly(3, 4);
    }

    private Path write(String name, String... tensors) throws IOException {
        Path file = directory.resolve(name);
        try (var out = Files.newOutputStream(file)) {
            for (String text : tensors) {
                NpyFormat.write(out, Tensor.parse(text));
            }
        }
        return file;
    }

    // -- outputs

    @Test
    void outputsAreWrittenToTheirDestinations() throws Exception {
        Path npy = directory.resolve("out.npy");
        Path bin = directory.resolve("out.bin");
        assertThat(add(A, B, "--output=@" + npy)).isEqualTo(new Outcome(0, "EXEC @add\n", ""));
        assertThat(add(A, A, "--output=+" + npy).status()).isZero();
        assertThat(add(A, B, "--output=+" + bin).status()).isZero();
        try (InputStream in = Files.newInputStream(npy)) {
            assertThat(NpyFormat.read(in)).hasToString("4xf32=11 22 33 44");
            assertThat(NpyFormat.read(in)).hasToString("4xf32=2 4 6 8");
            assertThat(in.read()).isEqualTo(-1);
        }
        assertThat(ByteBuffer.wrap(Files.readAllBytes(bin))
                        .order(ByteOrder.LITTLE_ENDIAN)
                        .getFloat(12))
                .isEqualTo(44);
        assertThat(add(A, B, "--output=")).isEqualTo(new Outcome(0, "EXEC @add\n", ""));
        assertThat(add(A, B, "--output=-").out()).isEqualTo("EXEC @add\nhal.buffer_view\n4xf32=11 22 33 44\n");
        assertThat(add(A, B, "--output=-", "--output=-").err()).startsWith("OUT_OF_RANGE; 2 outputs specified");
        assertThat(add(A, B, "--output=file").err()).startsWith("UNIMPLEMENTED; output 'file'");
    }

    @Test
    void longResultsAreElided() {
        assertThat(add(A, B, "--output_max_element_count=2").out()).endsWith("4xf32=11 22...\n");
    }

    @Test
    void differencesAreReportedAndFailTheRun() {
        Outcome outcome = add(A, B, "--expected_output=4xf32=11 22 33 45");
        assertThat(outcome.status()).isEqualTo(1);
        assertThat(outcome.out()).isEqualTo("""
                EXEC @add
                [FAILED] result[0]: element at index 3 (44) does not match the expected (45); expected that the view is equal to contents of a view of 4xf32
                  expected:
                4xf32=11 22 33 45
                  actual:
                4xf32=11 22 33 44
                """);
        assertThat(add(A, B, "--expected_output=4xi32=11 22 33 44").out())
                .contains("[FAILED] result[0]: metadata is 4xf32; expected that the view matches 4xi32");
        assertThat(add(A, B, "--expected_output=(ignored)").status()).isZero();
    }

    @Test
    void toleranceIsConfigurable() {
        String nearly = "--expected_output=4xf32=11 22 33 44.0001";
        assertThat(add(A, B, nearly).status()).isZero();
        assertThat(add(A, B, nearly, "--equality_mode=exact").status()).isEqualTo(1);
        assertThat(add(A, B, nearly, "--expected_f32_threshold=1e-9", "--expected_rtol=0")
                        .status())
                .isEqualTo(1);
        assertThat(add(A, B, nearly, "--equality_mode=vague").status()).isEqualTo(2);
    }

    @Test
    void devicesAreListedWithTheirFormats() {
        Outcome outcome = iree4j("devices");
        assertThat(outcome.status()).isZero();
        assertThat(outcome.out()).contains("local:", "--device=local", "executables: embedded-elf-");
    }
}
