package io.github.iree4j.tools;

import static io.github.iree4j.tools.CommandLineRun.iree4j;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class Iree4jCommandTest {
    private static final String[] COMMANDS = {
        "run", "benchmark", "check", "batch", "trace", "dump", "asm", "verify", "devices", "topology", "parameters"
    };

    @Test
    void helpListsEveryCommand() {
        CommandLineRun run = iree4j("--help");
        assertThat(run.status()).isZero();
        for (String command : COMMANDS) {
            assertThat(run.out()).containsPattern("(?m)^  " + command + " +[A-Z]");
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "run",
                "benchmark",
                "check",
                "batch",
                "trace",
                "dump",
                "asm",
                "verify",
                "devices",
                "topology",
                "parameters",
                "parameters dump",
                "parameters convert"
            })
    void everyCommandHasHelp(String command) {
        String[] words = (command + " --help").split(" ");
        CommandLineRun run = iree4j(words);
        assertThat(run.status()).isZero();
        assertThat(run.out()).startsWith("Usage: iree4j " + command);
    }

    @Test
    void manualCoversEveryCommand() throws IOException {
        String manual = Files.readString(Path.of("../docs/command-line.md"));
        for (String command : COMMANDS) {
            assertThat(manual).contains("bin/iree4j " + command);
        }
    }

    @Test
    void printsUsageWithoutACommand() {
        CommandLineRun run = iree4j();
        assertThat(run.status()).isEqualTo(2);
        assertThat(run.err()).contains("name a command").contains("Usage: iree4j");
        assertThat(iree4j("fly").status()).isEqualTo(2);
    }
}
