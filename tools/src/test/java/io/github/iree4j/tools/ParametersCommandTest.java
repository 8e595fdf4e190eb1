package io.github.iree4j.tools;

import static io.github.iree4j.tools.CommandLineRun.fixture;
import static io.github.iree4j.tools.CommandLineRun.iree4j;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ParametersCommandTest {
    @TempDir
    private Path directory;

    private String safetensors;
    private String gguf;

    /** {@code weight}: four floats, and {@code other}: two bytes. */
    @BeforeEach
    void makeFiles() throws IOException {
        byte[] header = """
                {"weight":{"dtype":"F32","shape":[4],"data_offsets":[0,16]},"other":{"dtype":"U8","shape":[1,2],"data_offsets":[16,18]}}""".getBytes(StandardCharsets.UTF_8);
        ByteBuffer tensors = little(8 + header.length + 18)
                .putLong(header.length)
                .put(header)
                .putFloat(3)
                .putFloat(3)
                .putFloat(3)
                .putFloat(5)
                .put(new byte[] {7, 8});
        safetensors = Files.write(directory.resolve("model.safetensors"), tensors.array())
                .toString();
        ByteBuffer model = little(96 + 16)
                .put("GGUF".getBytes(StandardCharsets.UTF_8))
                .putInt(3)
                .putLong(1)
                .putLong(0)
                .putLong(6)
                .put("weight".getBytes(StandardCharsets.UTF_8))
                .putInt(1)
                .putLong(4)
                .putInt(0)
                .putLong(0)
                .position(64);
        model.putFloat(2).putFloat(2).putFloat(2).putFloat(2);
        gguf = Files.write(directory.resolve("model.gguf"), model.array()).toString();
    }

    private static ByteBuffer little(int size) {
        return ByteBuffer.allocate(size).order(ByteOrder.LITTLE_ENDIAN);
    }

    private String path(String name) {
        return directory.resolve(name).toString();
    }

    @Test
    void dumpListsScopeOffsetsLengthsTypesAndKeys() {
        CommandLineRun run = iree4j("parameters", "dump", "--parameters=model=" + safetensors);
        assertThat(run.err()).isEmpty();
        assertThat(run.status()).isZero();
        String rule = "//" + "-".repeat(116) + "//\n";
        assertThat(run.out())
                .isEqualTo(rule
                        + "// Parameter scope `model` (2 entries, 18 total bytes), safetensors '" + safetensors + "'\n"
                        + rule
                        + "//         Start |              End |           Length | Type                     | Key\n"
                        + rule
                        + "             128 |              144 |               16 | 4xF32                    | `weight`\n"
                        + "             144 |              146 |                2 | 1x2xU8                   | `other`\n"
                        + "\n");
    }

    @Test
    void dumpTakesSeveralFilesOfAnyFormatAndName() throws IOException {
        Files.move(Path.of(gguf), directory.resolve("model.bin"));
        CommandLineRun run =
                iree4j("parameters", "dump", path("model.bin"), "bias=" + fixture("scale2_bias.irpa"), safetensors);
        assertThat(run.status()).isZero();
        assertThat(run.out())
                .contains("scope <global> (1 entries, 16 total bytes), gguf")
                .contains(
                        "              64 |               80 |               16 | 4xF32                    | `weight`")
                .contains("scope `bias` (1 entries, 16 total bytes), irpa")
                .contains(
                        "               - |                - |               16 | splat 00002041           | `offset`")
                .contains("safetensors '");
    }

    @Test
    void dumpExtractsStoredAndSplatParameters() throws IOException {
        CommandLineRun run = iree4j(
                "parameters",
                "dump",
                "m=" + safetensors,
                "bias=" + fixture("scale2_bias.irpa"),
                "--extract=m::other=" + path("other.bin"),
                "--extract=bias::offset=" + path("offset.bin"));
        assertThat(run.status()).as(run.err()).isZero();
        assertThat(Path.of(path("other.bin"))).hasBinaryContent(new byte[] {7, 8});
        assertThat(Path.of(path("offset.bin")))
                .hasBinaryContent(little(16)
                        .putFloat(10)
                        .putFloat(10)
                        .putFloat(10)
                        .putFloat(10)
                        .array());
        CommandLineRun missing = iree4j("parameters", "dump", safetensors, "--extract=none=" + path("none.bin"));
        assertThat(missing.status()).isEqualTo(1);
        assertThat(missing.err()).startsWith("NOT_FOUND; ").contains("'none'");
    }

    @Test
    void convertWritesAnArchiveReadByPrograms() {
        for (String source : new String[] {safetensors, gguf}) {
            CommandLineRun run = iree4j("parameters", "convert", source, "--output=" + path("model.irpa"));
            assertThat(run.err()).isEmpty();
            assertThat(run.status()).isZero();
            assertThat(run.out()).contains("irpa '").contains("`weight`");
            assertThat(scaled(path("model.irpa"))).isEqualTo(scaled(source));
        }
        assertThat(scaled(safetensors)).endsWith("4xf32=3 6 9 20\n");
        assertThat(scaled(gguf)).endsWith("4xf32=2 4 6 8\n");
    }

    private static String scaled(String parameters) {
        CommandLineRun run = iree4j(
                "run",
                "--module=" + fixture("3.11.0/cpu/scale.vmfb"),
                "--parameters=model=" + parameters,
                "--input=4xf32=1 2 3 4");
        assertThat(run.err()).isEmpty();
        return run.out();
    }

    @Test
    void scopeMayComeFromSeveralFiles() {
        CommandLineRun run = iree4j(
                "run",
                "--module=" + fixture("3.11.0/cpu/scale.vmfb"),
                "--parameters=model=" + fixture("scale2_bias.irpa"),
                "--parameters=model=" + gguf,
                "--parameters=model=" + safetensors,
                "--input=4xf32=1 2 3 4");
        assertThat(run.out()).as("the first that has it gives it").endsWith("4xf32=2 4 6 8\n");
    }

    @Test
    void parameterProgressIsReported() {
        CommandLineRun run = iree4j(
                "run",
                "--parameter_progress",
                "--module=" + fixture("3.11.0/cpu/scale.vmfb"),
                "--parameters=model=" + safetensors,
                "--input=4xf32=1 2 3 4");
        assertThat(run.status()).isZero();
        assertThat(run.err())
                .isEqualTo("parameters `model`: opened, 0 of 146 bytes '" + safetensors + "'\n"
                        + "parameters `model`: loading, 16 of 16 bytes '" + safetensors + "'\n"
                        + "parameters `model`: loaded, 16 of 16 bytes\n");
    }

    @Test
    void convertOfASingleArchiveWritesTheSameBytes() {
        iree4j("parameters", "convert", fixture("scale_weights.irpa"), "-o", path("copy.irpa"), "--quiet");
        assertThat(Path.of(path("copy.irpa"))).hasSameBinaryContentAs(Path.of(fixture("scale_weights.irpa")));
    }

    @Test
    void convertExcludesRenamesAndSplats() {
        CommandLineRun run = iree4j(
                "parameters",
                "convert",
                "--parameters=" + safetensors,
                "--exclude=other",
                "--rename=weight=scale",
                "--splat=scale=f32=4.5",
                "--output=" + path("one.irpa"));
        assertThat(run.status()).as(run.err()).isZero();
        assertThat(run.out())
                .contains("(1 entries, 16 total bytes)")
                .contains("16 | splat 00009040           | `scale`");
        run = iree4j(
                "parameters",
                "convert",
                safetensors,
                "--strip",
                "--splat=other=x16=CAFE",
                "--output=" + path("two.irpa"));
        assertThat(run.out())
                .contains("splat 00                 | `weight`")
                .contains("splat feca               | `other`");
    }

    @Test
    void convertCanReplaceItsOwnInput() throws IOException {
        iree4j("parameters", "convert", safetensors, "--quiet", "-o", path("same.irpa"));
        byte[] before = Files.readAllBytes(Path.of(path("same.irpa")));
        CommandLineRun run = iree4j("parameters", "convert", path("same.irpa"), "--quiet", "-o", path("same.irpa"));
        assertThat(run).isEqualTo(new CommandLineRun(0, "", ""));
        assertThat(Path.of(path("same.irpa"))).hasBinaryContent(before);
        try (var files = Files.list(directory)) {
            assertThat(files.map(f -> f.getFileName().toString()))
                    .containsExactlyInAnyOrder("model.gguf", "model.safetensors", "same.irpa");
        }
    }

    @Test
    void convertReportsProgress() {
        CommandLineRun run =
                iree4j("parameters", "convert", safetensors, "--progress", "--quiet", "-o", path("model.irpa"));
        assertThat(run.err()).endsWith("100% of 18 bytes\n").startsWith(" 88% of 18 bytes\n");
    }

    @Test
    void rejectsDuplicateParameters() {
        CommandLineRun run = iree4j("parameters", "convert", safetensors, gguf, "-o", path("model.irpa"));
        assertThat(run.status()).isEqualTo(1);
        assertThat(run.err())
                .startsWith("ALREADY_EXISTS; parameter 'weight' is in ")
                .contains("--rename");
        assertThat(Path.of(path("model.irpa"))).doesNotExist();
    }

    @Test
    void rejectsFlagsForUnknownParameters() {
        CommandLineRun run = iree4j("parameters", "convert", gguf, "--exclude=wieght", "-o", path("model.irpa"));
        assertThat(run.status()).isEqualTo(1);
        assertThat(run.err()).startsWith("NOT_FOUND; ").contains("wieght");
    }

    @Test
    void invalidUsageIsStatusTwoAndFailureStatusOne() {
        assertThat(iree4j("parameters").status()).isEqualTo(2);
        assertThat(iree4j("parameters", "dump").status()).isEqualTo(2);
        assertThat(iree4j("parameters", "convert", gguf).status()).isEqualTo(2);
        assertThat(iree4j("parameters", "convert", gguf, "-o", path("x"), "--rename=weight")
                        .status())
                .isEqualTo(2);
        assertThat(iree4j("parameters", "convert", gguf, "-o", path("x"), "--splat=weight=x32=zz")
                        .status())
                .isEqualTo(2);
        CommandLineRun none = iree4j("parameters", "dump", path("none.gguf"));
        assertThat(none.status()).isEqualTo(1);
        assertThat(none.err()).startsWith("NOT_FOUND; parameter archive '").contains("none.gguf");
        CommandLineRun nowhere = iree4j("parameters", "convert", gguf, "-o", path("no/such/place.irpa"));
        assertThat(nowhere.status()).isEqualTo(1);
        assertThat(nowhere.err()).startsWith("UNAVAILABLE; ");
    }

    @Test
    void createWritesZerosAndPatterns() throws IOException {
        CommandLineRun run = iree4j(
                "parameters",
                "create",
                "--data=zeros=3x2xi16",
                "--data=pattern=2x2xf32=2.5",
                "--splat=splat=1024xi32=7",
                "--splat=none=f64",
                "--output=" + path("made.irpa"));
        assertThat(run.err()).isEmpty();
        assertThat(run.status()).isZero();
        assertThat(run.out()).contains("irpa '").contains("`zeros`").contains("splat 07000000");
        CommandLineRun dump = iree4j(
                "parameters",
                "dump",
                path("made.irpa"),
                "--extract=zeros=" + path("zeros"),
                "--extract=pattern=" + path("pattern"),
                "--extract=splat=" + path("splat"),
                "--extract=none=" + path("none"));
        assertThat(dump.status()).as(dump.err()).isZero();
        assertThat(Path.of(path("zeros"))).hasBinaryContent(new byte[12]);
        assertThat(Path.of(path("pattern")))
                .hasBinaryContent(little(16)
                        .putFloat(2.5f)
                        .putFloat(2.5f)
                        .putFloat(2.5f)
                        .putFloat(2.5f)
                        .array());
        assertThat(Path.of(path("splat"))).hasSize(4096);
        assertThat(Path.of(path("none"))).hasBinaryContent(new byte[8]);
        try (var left = Files.list(directory)) {
            assertThat(left.map(file -> file.getFileName().toString())).noneMatch(name -> name.endsWith(".data"));
        }
    }

    @Test
    void createRejectsTheUnwritable() {
        for (String[] wrong : new String[][] {
            {"--data=x", "--data needs KEY=SHAPExTYPE=VALUE"},
            {"--splat==4xf32", "--splat needs KEY=SHAPExTYPE=VALUE"},
            {"--data=x=9223372036854775807x4xf32", "has more bytes than a file can have"},
            {"--data=x=99999999999999999999xf32", "has more bytes than a file can have"},
            {"--data=x=3xi4", "does not fill whole bytes"},
            {"--alignment=4096", "archives are written with 64"}
        }) {
            CommandLineRun run = iree4j("parameters", "create", wrong[0], "--output=" + path("made.irpa"));
            assertThat(run.status()).as(wrong[0]).isEqualTo(2);
            assertThat(run.err()).contains(wrong[1]);
        }
        assertThat(iree4j("parameters", "create", "--data=x=4xfoo", "--output=" + path("made.irpa"))
                        .err())
                .contains("foo");
    }
}
