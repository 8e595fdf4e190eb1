package io.github.iree4j.tools;

import static io.github.iree4j.tools.CommandLineRun.fixture;
import static io.github.iree4j.tools.CommandLineRun.iree4j;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class BatchCommandTest {
    @TempDir
    private Path directory;

    private CommandLineRun batch(String text) throws IOException {
        return iree4j(
                "batch", Files.writeString(directory.resolve("commands"), text).toString());
    }

    private static String add(String function) {
        return """
                run
                --module=%s
                --function=%s
                --input=4xf32=1 2 3 4
                --input=4xf32=10 20 30 40
                """.formatted(fixture("3.13.0/cpu/add.vmfb"), function);
    }

    @Test
    void everyCommandIsFollowedByItsStatus() throws IOException {
        CommandLineRun run = batch(add("add") + "\n\n" + add("add"));
        assertThat(run.err()).isEmpty();
        String one = "EXEC @add\nresult[0]: hal.buffer_view\n4xf32=11 22 33 44\n[status 0]\n";
        assertThat(run.out()).isEqualTo(one + one);
        assertThat(run.status()).isZero();
    }

    @Test
    void failedCommandDoesNotAffectOthers() throws IOException {
        CommandLineRun run = batch(add("subtract") + "\nfly\n\n" + add("add") + "\n");
        assertThat(run.err()).contains("NOT_FOUND").contains("subtract").contains("fly");
        assertThat(run.out()).startsWith("[status 1]\n[status 2]\n").endsWith("4xf32=11 22 33 44\n[status 0]\n");
        assertThat(run.status()).isEqualTo(1);
    }

    @Test
    void emptyInputSucceeds() throws IOException {
        assertThat(batch("\n\n")).isEqualTo(new CommandLineRun(0, "", ""));
    }
}
