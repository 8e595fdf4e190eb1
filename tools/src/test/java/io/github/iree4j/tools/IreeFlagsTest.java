package io.github.iree4j.tools;

import static io.github.iree4j.tools.CommandLineRun.fixture;
import static io.github.iree4j.tools.CommandLineRun.iree4j;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Flags of IREE's runners, as users bring them along. */
class IreeFlagsTest {
    @TempDir
    private Path directory;

    private final String[] add = {
        "run", "--module=" + fixture("3.13.0/vmvx/add.vmfb"), "--function=add", "--input=4xf32=1", "--input=4xf32=2"
    };

    private CommandLineRun with(String... flags) {
        List<String> all = new ArrayList<>(List.of(add));
        all.addAll(List.of(flags));
        return iree4j(all.toArray(String[]::new));
    }

    @Test
    void flagFilesMayHoldCommentsBlankLinesAndQuotedValues() throws IOException {
        Path file = Files.writeString(
                directory.resolve("flags"),
                "# a comment\n\n  --module=%s  \n// another\n--function=\"add\"\n--input=4xf32=1 2 3 4\n--input=4xf32=2\n"
                        .formatted(fixture("3.13.0/vmvx/add.vmfb")));
        assertThat(iree4j("run", "--flagfile=" + file).out()).endsWith("4xf32=3 4 5 6\n");
        assertThat(iree4j("run", "--flagfile", file.toString()).out()).endsWith("4xf32=3 4 5 6\n");
        Path outer = Files.writeString(directory.resolve("outer"), "--flagfile=" + file + "\n");
        assertThat(iree4j("run", "--flagfile=" + outer, "--expected_output=4xf32=3 4 5 6")
                        .status())
                .isZero();
    }

    @Test
    void flagsAfterAFlagFileOverrideTheFile() throws IOException {
        Path file = Files.writeString(directory.resolve("flags"), "--output_max_element_count=1\n--function=none\n");
        CommandLineRun run = iree4j(
                "run",
                "--flagfile=" + file,
                "--module=" + fixture("3.13.0/vmvx/add.vmfb"),
                "--function=add",
                "--input=4xf32=1",
                "--input=4xf32=2");
        assertThat(run.out()).endsWith("4xf32=3...\n");
    }

    /** The output of {@code iree-run-module --help} is a file of flags with their default values. */
    @Test
    void theDefaultsOfEveryFlagAreTaken() throws IOException {
        List<String> defaults = new ArrayList<>();
        try (InputStream in = IreeFlagsTest.class.getResourceAsStream("/iree-flags.txt")) {
            new String(in.readAllBytes(), StandardCharsets.UTF_8)
                    .lines()
                    .filter(line -> !line.startsWith("#"))
                    .map(line -> line.split("\\|", 3))
                    .filter(parts -> !parts[1].isEmpty())
                    .forEach(parts -> defaults.add("--" + parts[0] + "=" + parts[1]));
        }
        assertThat(defaults).hasSizeGreaterThan(40);
        Path file = Files.write(directory.resolve("flags"), defaults);
        CommandLineRun run = with("--flagfile=" + file, "--print_statistics=false", "--task_topology_nodes=current");
        assertThat(run.out()).as(run.err()).endsWith("4xf32=3 3 3 3\n");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '"',
            value = {
                "--trace_execution                     | use 'iree4j trace' with the same flags",
                "--trace_execution=true                | use 'iree4j trace' with the same flags",
                "--print_device_statistics=true        | use --print_statistics",
                "--device_profiling_mode=queue-events  | 'iree4j benchmark' measures",
                "--device_allocator=caching            | memory is pooled",
                "--cuda_default_index=1                | docs/gpu.md",
                "--vulkan_validation_layers=true       | iree4j.vulkan.validation",
                "--executable_plugin=libx.so           | docs/native.md",
                "--batch_size=4                        | use 'iree4j benchmark'"
            })
    void otherValuesAreRejectedWithTheReplacement(String flag, String instead) {
        CommandLineRun run = with(flag);
        assertThat(run.status()).isEqualTo(2);
        assertThat(run.err())
                .contains("'iree4j run' has no " + flag.split("=")[0])
                .contains(instead);
    }

    /** The output of {@code iree-dump-module --help}, without the comments. */
    @Test
    void theDefaultsOfADumpShowEverything() throws IOException {
        Path file = Files.writeString(
                directory.resolve("flags"),
                "--pretty=false\n--output=\"all\"\n--function=\"\"\n--bytecode_offsets=false\n");
        String module = fixture("3.13.0/vmvx/add.vmfb").toString();
        assertThat(iree4j("dump", "--flagfile=" + file, module).out())
                .isEqualTo(iree4j("dump", "--output=all", module).out())
                .contains("Disassembly");
    }

    @Test
    void unknownFlagsAreRejectedAsSuch() {
        assertThat(with("--task_fly=1").err()).contains("Unknown option: '--task_fly=1'");
    }

    @ParameterizedTest
    @ValueSource(strings = {"--list_devices", "--dump_devices=local", "--list_drivers"})
    void listsOfDevicesMatchTheCommand(String flag) {
        assertThat(iree4j("run", flag).out()).isEqualTo(iree4j("devices").out());
    }

    @Test
    void topologiesMatchTheCommand() {
        assertThat(iree4j("run", "--dump_task_topologies").out())
                .isEqualTo(iree4j("topology").out());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "--task_topology_group_count=1",
                "--task_topology_cpu_ids=0",
                "--task_topology_max_group_count=1",
                "--task_topology_nodes=0",
                "--task_topology_distribution=compact",
                "--parameter_mode=preload"
            })
    void workersArePlacedByTheFlagsOfTheRunners(String flag) {
        assertThat(with(flag).out()).endsWith("4xf32=3 3 3 3\n");
    }

    @Test
    void misplacedWorkersAreRejected() {
        assertThat(with("--task_topology_cpu_ids=x").err()).contains("'x' is not a number");
        assertThat(with("--task_topology_distribution=round").err()).contains("round");
    }

    @ParameterizedTest
    @CsvSource({
        "--device=a=, names no device; write --device=DEVICE or --device=NAME=DEVICE",
        "--device=, names no device",
        "--device==local, names no name"
    })
    void devicesWithoutANameOrADriverAreRejectedWithTheSyntax(String flag, String message) {
        CommandLineRun run = with(flag);
        assertThat(run.status()).isEqualTo(2);
        assertThat(run.err()).contains("'" + flag + "' " + message);
    }

    @Test
    void unreadableFlagFilesAreNamed() throws IOException {
        assertThat(with("--flagfile=" + directory.resolve("none")).err())
                .startsWith("NOT_FOUND; there is no flag file '" + directory.resolve("none"));
        Path file = Files.writeString(directory.resolve("flags"), "--module=x\nadd.vmfb\n");
        assertThat(with("--flagfile=" + file).err())
                .contains("flag file '" + file + "', line 2: 'add.vmfb' is not a flag");
        Path itself = directory.resolve("itself");
        Files.writeString(itself, "--flagfile=" + itself);
        assertThat(with("--flagfile=" + itself).err()).contains("is named by 8 others in turn");
        assertThat(with("--flagfile=" + Files.write(directory.resolve("binary"), new byte[] {(byte) 0xC0, 1}))
                        .err())
                .contains("is not UTF-8 text");
    }
}
