package io.github.iree4j.spring.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.iree4j.Program;
import io.github.iree4j.spring.TestModules;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** Failure analyses of failing starts. */
@ExtendWith(OutputCaptureExtension.class)
@Tag("nightly")
class StartupFailureTests {

    @TempDir
    Path directory;

    @Test
    void missingModuleFileIsReportedWithPropertyAndPath(CapturedOutput output) {
        fail("--iree.modules.classifier.location=models/none.vmfb");
        assertThat(output)
                .contains("APPLICATION FAILED TO START")
                .contains("Module 'classifier' could not be loaded from 'models/none.vmfb'")
                .contains(Path.of("models/none.vmfb").toAbsolutePath().toString())
                .contains("'iree.modules.classifier.location'")
                .contains("'classpath:'");
    }

    @Test
    void missingClassPathModuleIsReported(CapturedOutput output) {
        fail("--iree.modules.classifier.location=classpath:models/none.vmfb");
        assertThat(output)
                .contains("Module 'classifier' could not be loaded from 'classpath:models/none.vmfb'")
                .contains("class path resource [models/none.vmfb]");
    }

    @Test
    void missingLocationIsReported(CapturedOutput output) {
        fail("--iree.modules.classifier.parameters.model=weights.irpa");
        assertThat(output).contains("Set 'iree.modules.classifier.location' to the module file");
    }

    @Test
    void moduleWithOnlyAMisspelledPropertyIsReported(CapturedOutput output) {
        fail("--iree.modules.classifier.locaton=classpath:models/classifier.vmfb");
        assertThat(output)
                .contains("property 'iree.modules.classifier.locaton' does not exist and has no effect")
                .contains(
                        "Module 'classifier' is configured, but property 'iree.modules.classifier.location' is not set")
                .contains("Set 'iree.modules.classifier.location' to the module file");
    }

    @Test
    void missingLocationOfANameWithDotsIsReportedInBrackets(CapturedOutput output) {
        fail("--iree.modules[a.b].locaton=b.vmfb");
        assertThat(output)
                .contains("Module 'a.b' is configured, but property 'iree.modules[a.b].location' is not set")
                .contains("Set 'iree.modules[a.b].location' to the module file");
    }

    @Test
    void versionWithOnlyAMisspelledPropertyIsReported(CapturedOutput output) throws IOException {
        fail(
                "--iree.modules.adding.location=" + TestModules.adder(directory),
                "--iree.modules.adding.versions.2.locaton=adding-2.vmfb");
        assertThat(output)
                .contains("property 'iree.modules.adding.versions.2.locaton' does not exist and has no effect")
                .contains("property 'iree.modules.adding.versions.2.location' is not set");
    }

    @Test
    void misspelledSystemPropertyOfAModuleIsReported(CapturedOutput output) {
        System.setProperty("iree.modules.classifier.locaton", "classifier.vmfb");
        try {
            fail();
        } finally {
            System.clearProperty("iree.modules.classifier.locaton");
        }
        assertThat(output)
                .contains("property 'iree.modules.classifier.locaton' does not exist and has no effect")
                .contains("property 'iree.modules.classifier.location' is not set");
    }

    @Test
    void missingArchiveIsReportedWithItsScope(CapturedOutput output) throws IOException {
        fail(
                "--iree.modules.adding.location=" + TestModules.adder(directory),
                "--iree.modules.adding.parameters.model=" + directory.resolve("none.irpa"));
        assertThat(output)
                .contains("parameters of scope 'model': there is no file '" + directory.resolve("none.irpa"))
                .contains("Correct 'iree.modules.adding.parameters.model'. ");
    }

    @Test
    void damagedArchiveIsReportedWithItsScope(CapturedOutput output) throws IOException {
        Path text = Files.writeString(directory.resolve("text.irpa"), "This is a text and not an archive.");
        fail(
                "--iree.modules.weighted.location=" + TestModules.weighted(directory),
                "--iree.modules.weighted.parameters.model=" + text);
        assertThat(output)
                .contains(
                        "Correct 'iree.modules.weighted.parameters.model', and inspect the file with 'bin/iree4j parameters dump'");
    }

    @Test
    void failingWarmUpIsReportedWithItsProperty(CapturedOutput output) throws IOException {
        fail(
                "--iree.modules.adding.location=" + TestModules.adder(directory),
                "--iree.modules.adding.warm-up[0].function=subtract");
        assertThat(output)
                .contains("has no function 'subtract'")
                .contains("Correct 'iree.modules.adding.warm-up': the call of 'subtract' failed.");
    }

    @Test
    void signatureContradictingTheModuleIsReportedWithItsProperty(CapturedOutput output) {
        fail(
                "--iree.modules.imported.location=" + TestModules.fixture("3.13.0/vmvx/onnx_classifier.vmfb"),
                "--iree.modules.imported.functions.classifier.signature=(tensor<?x9xf32>, %offset) -> (%probabilities, %label)");
        assertThat(output)
                .contains("argument 0 is given as tensor<?x9xf32>, and by the module it is tensor<?x8xf32>")
                .contains("Correct 'iree.modules.imported.functions.classifier.signature'");
    }

    @Test
    void directoryInPlaceOfAModuleIsReported(CapturedOutput output) {
        fail("--iree.modules.adding.location=" + directory);
        assertThat(output).contains("Make sure that 'iree.modules.adding.location' is a file");
    }

    @Test
    void exceedingTheBudgetSuggestsARaise(CapturedOutput output) throws IOException {
        fail("--iree.modules.hungry.location=" + TestModules.hungry(directory), "--iree.pools.local.budget=1MB");
        assertThat(output)
                .contains("Module 'hungry' could not be loaded")
                .contains("RESOURCE_EXHAUSTED")
                .contains("'iree.pools.<device>.budget'")
                .contains("'iree.pools.<device>.quotas.hungry'");
    }

    @Test
    void unsupportedImportSuggestsToRecompile(CapturedOutput output) throws IOException {
        fail("--iree.modules.future.location=" + TestModules.future(directory));
        assertThat(output)
                .contains("Module 'future' could not be loaded")
                .contains("'hal.device.dream'")
                .contains("Recompile the program with another release of iree-compile")
                .contains("'bin/iree4j dump' shows the imports");
    }

    @Test
    void missingJavaModuleSuggestsABean(CapturedOutput output) throws IOException {
        fail("--iree.modules.doubling.location=" + TestModules.doubling(directory));
        assertThat(output)
                .contains("Module 'doubling' could not be loaded")
                .contains("imports 'custom.twice'")
                .contains("Define a bean whose class is an '@IreeModule(\"custom\")'");
    }

    @Test
    void fileOfNoModuleIsReported(CapturedOutput output) throws IOException {
        Path file = Files.write(directory.resolve("noise.vmfb"), new byte[40]);
        fail("--iree.modules.classifier.location=" + file);
        assertThat(output)
                .contains("Module 'classifier' could not be loaded from '%s'".formatted(file))
                .contains("bin/iree4j dump");
    }

    @Test
    void uncompiledProgramIsReported(CapturedOutput output) throws IOException {
        Path text = Files.writeString(directory.resolve("classifier.mlir"), "func.func @classify() { return }");
        fail("--iree.modules.classifier.location=" + text);
        assertThat(output)
                .contains("Module 'classifier' could not be loaded from '%s'".formatted(text))
                .contains(
                        "it is not a compiled module but a text: if the text is MLIR, compile the program with 'iree-compile'")
                .contains("Set 'iree.modules.classifier.location' to a compiled module (.vmfb)");
    }

    @Test
    void pointerOfGitLfsIsReported(CapturedOutput output) throws IOException {
        Path pointer = directory.resolve("classifier.vmfb");
        Files.writeString(pointer, "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a");
        fail("--iree.modules.classifier.location=" + pointer);
        assertThat(output)
                .contains(
                        "Set 'iree.modules.classifier.location' to a compiled module (.vmfb): fetch the file itself with 'git lfs pull'.");
    }

    @Test
    void malformedTopologyIsReported(CapturedOutput output) {
        fail("--iree.task.topology=cpus=0-x");
        assertThat(output)
                .contains("APPLICATION FAILED TO START")
                .contains("iree.task.topology")
                .contains("'cpus' is '0-x': 'x' is not a number");
    }

    @Test
    void tooManyWorkersAreReportedWithTheLimit(CapturedOutput output) {
        fail("--iree.task.topology=each=0-1", "--iree.task.workers=3");
        assertThat(output)
                .contains("APPLICATION FAILED TO START")
                .contains("iree.task.workers")
                .contains("'workers' is 3 and must be within [0, 2], the groups of the topology");
    }

    @Test
    void unknownDeviceIsReportedWithTheAvailableDrivers(CapturedOutput output) {
        fail("--iree.device=abacus");
        assertThat(output)
                .contains("APPLICATION FAILED TO START")
                .contains("Invalid value 'abacus' for configuration property 'iree.device'")
                .contains("'abacus' is neither a device of 'iree.devices', which has [], nor a driver; drivers here: ");
    }

    @Test
    void rejectedDeviceSuggestsCompilerFlags(CapturedOutput output) throws IOException {
        fail("--iree.modules.classifier.location=" + TestModules.demanding(directory));
        assertThat(output)
                .contains("HAL device `default` not found or unavailable")
                .contains("--iree-hal-target-device=local")
                .contains("--iree-llvmcpu-target-triple=");
    }

    @Test
    @EnabledIfSystemProperty(named = "os.arch", matches = "amd64", disabledReason = "the fixture fits this machine")
    void programForTwoDevicesOnASingleDeviceAsksForTheOther(CapturedOutput output) {
        fail("--iree.modules.pair.location=" + TestModules.fixture("3.13.0/cpu-two/two_devices.vmfb"));
        assertThat(output)
                .contains("finds none for 'b' among the 1 given (local)")
                .contains("'iree.modules.pair.devices' lists 1 of 'iree.devices': list a device for each")
                .doesNotContain("data_layout"); // from the compiler's description of the target
    }

    @Test
    void unsupportedBytecodeVersionIsReported(CapturedOutput output) throws IOException {
        fail("--iree.modules.adding.location=" + withBytecodeVersion(99, TestModules.adder(directory)));
        assertThat(output).contains("99.0").contains("17.0").contains("iree-compile");
    }

    @Test
    void missingScopeIsReportedWithItsProperty(CapturedOutput output) {
        fail(
                "--iree.modules.scale2.location=" + TestModules.fixture("3.11.0/cpu/scale2.vmfb"),
                "--iree.modules.scale2.parameters.model=" + TestModules.fixture("scale_weights.irpa"));
        assertThat(output)
                .contains("scope 'bias'")
                .contains("Set 'iree.modules.scale2.parameters.bias' to the location of the archive (.irpa)");
    }

    @Test
    @EnabledIfSystemProperty(named = "os.arch", matches = "amd64", disabledReason = "the fixture fits this machine")
    void programForAnotherArchitectureIsReportedWithBothFormats(CapturedOutput output) {
        fail("--iree.modules.add.location=" + TestModules.fixture("3.13.0/cpu-arm_64/add.vmfb"));
        assertThat(output)
                .contains("embedded-elf-arm_64")
                .contains("embedded-elf-x86_64")
                .contains("--iree-llvmcpu-target-triple=x86_64-unknown-linux-gnu")
                .contains("Compile the program for this machine, with the flags above")
                .doesNotContain("x86_64-unknown-unknown-eabi-elf");
    }

    @Test
    void checksumMismatchIsReportedWithItsProperty(CapturedOutput output) throws IOException {
        fail(
                "--iree.modules.adding.location=" + TestModules.adder(directory),
                "--iree.modules.adding.sha256=" + "0".repeat(64));
        assertThat(output)
                .contains("has checksum")
                .contains("Restore the intended file, or correct 'iree.modules.adding.sha256'");
    }

    @Test
    void malformedChecksumIsReportedWithItsProperty(CapturedOutput output) throws IOException {
        fail("--iree.modules.adding.location=" + TestModules.adder(directory), "--iree.modules.adding.sha256=abc");
        assertThat(output).contains("iree.modules.adding.sha256").contains("must have 64 hexadecimal digits");
    }

    @Test
    void disallowedFormatSuggestsTheProperty(CapturedOutput output) {
        fail(
                "--iree.modules.add.location=" + TestModules.fixture("3.11.0/cpu/add.vmfb"),
                "--iree.executables.allowed-formats=vmvx-bytecode-fb");
        assertThat(output)
                .contains("Only vmvx-bytecode-fb may run, by 'iree.executables.allowed-formats'")
                .contains("--iree-hal-local-target-device-backends=vmvx");
    }

    @Test
    void sharedLibrarySuggestsTheFlagAndTheProperty(CapturedOutput output) {
        fail("--iree.modules.math.location=" + TestModules.fixture("3.13.0/cpu-system/math_f32.vmfb"));
        assertThat(output)
                .contains("Compile the program without --iree-llvmcpu-link-embedded=false")
                .contains("add its format to 'iree.executables.allowed-formats'");
    }

    @Test
    void sharedLibraryIsTreatedAsNativeCodeWhenOnlyBytecodeIsAllowed(CapturedOutput output) {
        fail(
                "--iree.modules.math.location=" + TestModules.fixture("3.13.0/cpu-system/math_f32.vmfb"),
                "--iree.executables.allowed-formats=vmvx-bytecode-fb");
        assertThat(output)
                .contains("Only vmvx-bytecode-fb may run, by 'iree.executables.allowed-formats'")
                .doesNotContain("Compile the program without");
    }

    @Test
    void rejectsBudgetBeyondTheMemoryOfTheMachine(CapturedOutput output) {
        fail("--iree.pools.local.budget=900TB");
        assertThat(output).contains("iree.pools.local.budget").contains("It exceeds the memory of this machine");
    }

    @Test
    void rejectsPoolOfAnUnknownDevice(CapturedOutput output) {
        fail("--iree.pools.gpu.budget=1GB");
        assertThat(output).contains("iree.pools.gpu").contains("There is no device of that name; there are [local]");
    }

    @Test
    void valuesOutOfRangeAreReportedWithTheirProperty(CapturedOutput output) throws IOException {
        String module = "--iree.modules.adding.location=" + TestModules.adder(directory);
        for (String property : new String[] {
            "iree.advanced.devices.local.queue-count=65",
            "iree.advanced.devices.local.inline-work=-1s",
            "iree.advanced.frontier.capacity=0",
            "iree.advanced.pools.local.trim.idle-after=-1s",
            "iree.modules.adding.contexts=0"
        }) {
            fail(module, "--" + property);
            assertThat(output).contains(property.substring(0, property.indexOf('=')));
        }
    }

    @Test
    void deniedNativeAccessSuggestsTheJvmFlag() throws Exception {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "--illegal-native-access=deny",
                "-Xshare:auto",
                "-XX:TieredStopAtLevel=1",
                "-Djava.io.tmpdir=" + directory,
                "-cp",
                System.getProperty("java.class.path"),
                Application.class.getName(),
                "--iree.modules.classifier.location=" + TestModules.demanding(directory)));
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor()).as(output).isNotZero();
        assertThat(output)
                .contains("APPLICATION FAILED TO START")
                .contains("--enable-native-access=ALL-UNNAMED")
                .contains("Enable-Native-Access: ALL-UNNAMED");
    }

    /** Starts the application in a separate process, which must fail, and returns the output of the process. */
    private static String failedStart(String... arguments) throws IOException, InterruptedException {
        Process process = started(Map.of(), arguments);
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor()).as(output).isNotZero();
        return output;
    }

    private static Process started(Map<String, String> environment, String... arguments) throws IOException {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "--enable-native-access=ALL-UNNAMED",
                "-XX:TieredStopAtLevel=1",
                "-cp",
                System.getProperty("java.class.path"),
                Application.class.getName()));
        command.addAll(List.of(arguments));
        ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
        builder.environment().putAll(environment);
        return builder.start();
    }

    /** The program has portable kernels, so that the start does not fail, but the answers come later. */
    @Test
    void portableKernelsForWantOfTheNativeLibraryAreInTheLog() throws Exception {
        Map<String, String> environment = Map.of(
                "IREE4J_NATIVE_LIBRARY_PATH", directory.resolve("nothing").toString());
        Process process =
                started(environment, "--iree.modules.add.location=" + TestModules.fixture("3.13.0/vmvx/add.vmfb"));
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor()).as(output).isZero();
        assertThat(output)
                .contains("native code is not available, and programs on the CPU run with portable kernels only")
                .contains("native library '%s' does not exist".formatted(directory.resolve("nothing")));
    }

    @Test
    void nativeCodeThatNobodyWantsIsNotInTheLog() throws Exception {
        Map<String, String> environment = Map.of(
                "IREE4J_NATIVE_LIBRARY_PATH", directory.resolve("nothing").toString());
        Process process = started(
                environment,
                "--iree.modules.add.location=" + TestModules.fixture("3.13.0/vmvx/add.vmfb"),
                "--iree.executables.allowed-formats=vmvx-bytecode-fb");
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor()).as(output).isZero();
        assertThat(output).doesNotContain("native code is not available");
    }

    @Test
    void unloadableNativeLibraryIsNamed() throws Exception {
        Path library = Files.writeString(directory.resolve("libnothing.so"), "not a library");
        assertThat(failedStart("--iree.native.library-path=" + library))
                .contains("configuration property 'iree.native.library-path'")
                .contains("Native library '%s' cannot be loaded: ".formatted(library))
                .contains("remove the property");
    }

    /** The program is right for the machine, and compiling again does not help. */
    @Test
    void unwritableDirectoryIsTheFaultAndNotTheProgram() throws Exception {
        Path file = Files.writeString(directory.resolve("file"), "");
        assertThat(failedStart(
                        "--iree.native.extract-dir=" + file.resolve("copies"),
                        "--iree.modules.math.location=" + TestModules.fixture("3.13.0/cpu/math_f32.vmfb")))
                .contains("program wants executables of format embedded-elf-")
                .contains("; compiled code needs the native library: ")
                .contains("Make the native library usable: ")
                .doesNotContain("recompile")
                .doesNotContain("iree-compile");
    }

    private static void fail(String... arguments) {
        assertThatThrownBy(() -> Application.main(arguments)).isNotNull();
    }

    /** Requires a program, of any name. */
    @Configuration(proxyBeanMethods = false)
    static class Undecided {
        @Bean
        Object user(Program program) {
            return program;
        }
    }

    @Test
    void choiceOfAProgramIsReportedWithQualifiersAndNames(CapturedOutput output) throws IOException {
        Path adder = TestModules.adder(directory);
        SpringApplication application = new SpringApplication(Application.class, Undecided.class);
        application.setWebApplicationType(WebApplicationType.NONE);
        assertThatThrownBy(() -> application.run(
                        "--iree.modules.one.location=" + adder, "--iree.modules.mini-lm.location=" + adder))
                .isNotNull();
        assertThat(output)
                .contains("required a single program, but 2 were found")
                .contains("@Qualifier(\"one\"), or the name 'oneProgram'")
                .contains("@Qualifier(\"mini-lm\"), or the name 'miniLmProgram'");
    }

    /** The module's bytes with another bytecode version: the u32 with major 17, minor 0. */
    private static Path withBytecodeVersion(int major, Path module) throws IOException {
        ByteBuffer bytes = ByteBuffer.wrap(Files.readAllBytes(module)).order(ByteOrder.LITTLE_ENDIAN);
        int changed = 0;
        for (int i = 0; i + 4 <= bytes.capacity(); i += 4) {
            if (bytes.getInt(i) == 17 << 16) {
                bytes.putInt(i, major << 16);
                changed++;
            }
        }
        assertThat(changed).isOne();
        return Files.write(module, bytes.array());
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Application {
        public static void main(String[] arguments) {
            SpringApplication application = new SpringApplication(Application.class);
            application.setWebApplicationType(WebApplicationType.NONE);
            application.run(arguments).close();
        }
    }
}
