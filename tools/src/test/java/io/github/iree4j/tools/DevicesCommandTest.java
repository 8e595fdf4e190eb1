package io.github.iree4j.tools;

import static io.github.iree4j.tools.CommandLineRun.iree4j;
import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

class DevicesCommandTest {
    @Test
    void listsTheLocalDeviceWithItsFormats() {
        CommandLineRun run = iree4j("devices");
        assertThat(run.err()).isEmpty();
        assertThat(run.status()).isZero();
        assertThat(run.out())
                .contains("local:\n  --device=local  ")
                .containsPattern("    executables: .*vmvx-bytecode-fb");
    }

    @Test
    void saysWhyCompiledCodeCannotRun() throws Exception {
        ProcessBuilder builder = new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:TieredStopAtLevel=1",
                "-cp",
                System.getProperty("java.class.path"),
                Iree4jCommand.class.getName(),
                "devices");
        builder.environment().put("IREE4J_NATIVE_LIBRARY_PATH", "/nothing/here");
        Process process = builder.start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor()).isZero();
        assertThat(output).contains("    no compiled code: native library '/nothing/here' does not exist");
    }

    @Test
    void listedDeviceCanBeUsed() {
        CommandLineRun run = iree4j(
                "run",
                "--device=local",
                "--module=" + CommandLineRun.fixture("3.11.0/vmvx/simple_mul.vmfb"),
                "--input=100xf32=2",
                "--input=100xf32=3",
                "--expected_output=100xf32=6");
        assertThat(run.status()).as(run.err()).isZero();
    }

    @Test
    void takesNoArguments() {
        assertThat(iree4j("devices", "local").status()).isEqualTo(2);
    }
}
