package io.github.iree4j.tools;

import static io.github.iree4j.tools.CommandLineRun.fixture;
import static io.github.iree4j.tools.CommandLineRun.iree4j;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** No command writes to one of its inputs, by whatever name. */
class OutputFilesTest {
    private static final String ADD = "--module=DIR/add.vmfb --function=add --input=4xf32=1 --input=4xf32=@DIR/in.bin";

    @TempDir
    private Path directory;

    @BeforeEach
    void prepare() throws IOException {
        Files.copy(Path.of(fixture("3.13.0/cpu/add.vmfb")), directory.resolve("add.vmfb"));
        Files.createSymbolicLink(directory.resolve("link"), directory.resolve("add.vmfb"));
        Files.createLink(directory.resolve("hard"), directory.resolve("add.vmfb"));
        Files.write(directory.resolve("in.bin"), new byte[16]);
        Files.write(directory.resolve("a=b.npy"), new byte[16]);
        Files.writeString(directory.resolve("a.vmasm"), "any text");
        Files.writeString(directory.resolve("flags"), "--repetitions=1\n");
        Files.writeString(directory.resolve("s.yaml"), """
                id: one
                placement: queues
                hardware:
                  - {id: h}
                semaphores: [s]
                operations:
                  - {id: o, hw: h, duration: 4, signal: {s: 1}}
                """);
        assertThat(run("record " + ADD + " --recording=DIR/a.iree4j").status()).isZero();
        assertThat(run("parameters create --data=w=4xf32=1 --output=DIR/w.irpa").status())
                .isZero();
    }

    private CommandLineRun run(String line) {
        return iree4j(Arrays.stream(line.split(" "))
                .map(each -> each.replace("DIR", directory.toString()))
                .toArray(String[]::new));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "record " + ADD + " --recording=DIR/add.vmfb",
                "record " + ADD + " --recording=DIR/link",
                "record " + ADD + " --recording=DIR/hard",
                "record " + ADD + " --recording=DIR/../DIR/in.bin",
                "record " + ADD + " --parameters=model=DIR/w.irpa --recording=DIR/w.irpa",
                "run " + ADD + " --output=@DIR/add.vmfb",
                "run " + ADD + " --output=+DIR/in.bin",
                "run --module=DIR/add.vmfb --function=add --input=4xf32=1 --input=@DIR/a=b.npy --output=@DIR/a=b.npy",
                "run " + ADD + " --expected_output=4xf32=@DIR/w.irpa --output=@DIR/w.irpa",
                "benchmark " + ADD + " --benchmark_out=DIR/add.vmfb",
                "export DIR/a.iree4j --format=trace --output=DIR/a.iree4j",
                "asm DIR/a.vmasm --output=DIR/a.vmasm",
                "spirv DIR/a.vmasm DIR/in.bin --output=DIR/in.bin",
                "ptx DIR/a.vmasm --output=DIR/a.vmasm",
                "hsaco DIR/a.vmasm --output=DIR/a.vmasm",
                "lab page DIR/s.yaml --output=DIR/s.yaml",
                "parameters dump DIR/w.irpa --extract=w=DIR/w.irpa",
            })
    void anOutputEqualToAnInputIsRefusedAndUnchanged(String line) throws IOException {
        String output = line.contains("a=b.npy")
                ? "DIR/a=b.npy"
                : line.substring(line.lastIndexOf("=") + 1).replaceAll("^[@+]", "");
        Path file =
                Path.of(output.contains("..") ? directory + "/in.bin" : output.replace("DIR", directory.toString()));
        byte[] before = Files.readAllBytes(file);
        CommandLineRun refused = run(line.replace("DIR/../DIR", "DIR/../" + directory.getFileName()));
        assertThat(refused.status()).as(refused.out()).isEqualTo(1);
        assertThat(refused.err()).contains("INVALID_ARGUMENT").contains("is also an input");
        assertThat(file).hasBinaryContent(before);
    }

    /** Written beside, and renamed. */
    @Test
    void anArchiveMayReplaceAnInput() {
        CommandLineRun run = run("parameters convert DIR/w.irpa --rename=w=v --output=DIR/w.irpa");
        assertThat(run.status()).as(run.err()).isZero();
        assertThat(run.out()).contains("v");
    }
}
