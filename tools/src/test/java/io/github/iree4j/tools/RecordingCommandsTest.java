package io.github.iree4j.tools;

import static io.github.iree4j.tools.CommandLineRun.fixture;
import static io.github.iree4j.tools.CommandLineRun.iree4j;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RecordingCommandsTest {
    @TempDir
    private Path directory;

    private String record(int times, String... options) {
        String file = directory.resolve("a.iree4j").toString();
        List<String> arguments = new ArrayList<>(List.of(
                "record",
                "--module=" + fixture("3.13.0/cpu/add.vmfb"),
                "--function=add",
                "--input=4xf32=1 2 3 4",
                "--input=4xf32=10 20 30 40",
                "--repetitions=" + times,
                "--recording=" + file));
        arguments.addAll(List.of(options));
        CommandLineRun run = iree4j(arguments.toArray(String[]::new));
        assertThat(run.status()).as(run.err()).isZero();
        assertThat(run.out()).contains("recorded ");
        return file;
    }

    @Test
    void recordedProgramIsExplainedAndReplayed() {
        String file = record(3);
        CommandLineRun explained = iree4j("explain", file, "--operations");
        assertThat(explained.status()).as(explained.err()).isZero();
        assertThat(explained.out())
                .contains("critical path: ")
                .contains(" on local/0")
                .contains("running");
        CommandLineRun replayed = iree4j("replay", file);
        assertThat(replayed.status()).as(replayed.out()).isZero();
        assertThat(replayed.out()).contains("no differences");
        CommandLineRun json = iree4j("replay", file, "--json");
        assertThat(json.out()).contains("\"differences\": 0");
    }

    @Test
    void callsAreListedByTheirTimeAndExplained() {
        String file = record(5);
        assertThat(iree4j("explain", file).out()).contains("calls by function:").contains("5 calls, p50 ");
        List<String> slowest =
                iree4j("explain", file, "--slowest").out().lines().toList();
        assertThat(slowest)
                .hasSize(6)
                .endsWith("how these calls ended for their callers is not recorded, nor are calls without operations");
        assertThat(slowest.subList(0, 5))
                .allMatch(
                        line -> line.matches("call \\d+ of .*: .* from .* on = .*; \\d+ operations? that ended well"));
        assertThat(iree4j("explain", file, "--slowest", "--max_lines=2").out().lines())
                .containsExactly(slowest.getFirst(), slowest.getLast(), "(4 more lines)");
        String[] words = slowest.getFirst().split("[ :]");
        assertThat(iree4j("explain", file, "--function=" + words[3]).out().lines())
                .containsExactlyElementsOf(slowest);
        CommandLineRun one = iree4j("explain", file, "--call=" + words[1]);
        assertThat(one.out())
                .startsWith(slowest.getFirst())
                .contains("critical path")
                .contains("operations:\n")
                .contains(" by call " + words[1] + " of ");
        CommandLineRun none = iree4j("explain", file, "--call=999999");
        assertThat(none.status()).isEqualTo(1);
        assertThat(none.err()).contains("NOT_FOUND");
        assertThat(iree4j("explain", file, "--function=nowhere").err()).contains("it has calls of " + words[3]);
    }

    @Test
    void numbersBelowOneAreRefusedWithTheirRange() {
        String file = record(1);
        for (String flag : List.of("--call", "--operation")) {
            for (String number : List.of("0", "-3")) {
                CommandLineRun refused = iree4j("explain", file, flag + "=" + number);
                assertThat(refused.status()).as(refused.out()).isEqualTo(2);
                assertThat(refused.err()).contains("%s is a number from 1 on, not %s".formatted(flag, number));
            }
        }
    }

    @Test
    void onlyASingleSelectionIsExplained() {
        String file = record(1);
        String call = iree4j("explain", file, "--slowest").out().split("[ :]")[1];
        List<List<String>> selections = List.of(
                List.of("--call=" + call),
                List.of("--operation=1"),
                List.of("--operations"),
                List.of("--slowest"),
                List.of("--function=add.add"),
                List.of("--slowest", "--function=add.add"));
        for (List<String> one : selections) {
            for (List<String> other : selections) {
                List<String> arguments = new ArrayList<>(List.of("explain", file));
                arguments.addAll(one);
                arguments.addAll(other);
                CommandLineRun run = iree4j(arguments.toArray(String[]::new));
                boolean isOne = one.equals(other) || selections.indexOf(one) > 2 && selections.indexOf(other) > 2;
                if (!isOne) {
                    assertThat(run.status()).as("%s %s", one, other).isEqualTo(2);
                    assertThat(run.err()).contains("mutually exclusive");
                } else if (!one.contains("--operation=1")) { // which may be another number
                    assertThat(run.status())
                            .as("%s %s: %s", one, other, run.err())
                            .isZero();
                }
            }
        }
    }

    @Test
    void theOutputHasNoMoreLinesThanAskedForAndTheNumberOfTheOthers() {
        String file = record(30);
        String[] words = iree4j("explain", file, "--slowest").out().split("[ :]");
        for (String mode : new String[] {"--max_lines=100", "--operations", "--slowest", "--call=" + words[1]}) {
            long all = iree4j("explain", file, mode, "--max_lines=100000")
                    .out()
                    .lines()
                    .count();
            for (int most : new int[] {0, 1, 2, 3, 5, 8, 13, 30, 60}) {
                List<String> lines = iree4j("explain", file, mode, "--max_lines=" + most)
                        .out()
                        .lines()
                        .toList();
                assertThat(lines).as(mode).hasSizeLessThanOrEqualTo(most + 1);
                if (all > most) {
                    assertThat(lines.getLast()).as(mode).matches("\\(\\d+ more lines?\\)");
                }
            }
        }
        assertThat(iree4j("explain", file, "--max_lines=1").out())
                .matches("\\d+ operations, .*\\R\\(\\d+ more lines\\)\\R");
        assertThat(iree4j("explain", file, "--max_lines=8").out())
                .contains("critical path: ")
                .contains("calls by function:\n")
                .doesNotContain("waits: ");
    }

    /** Both modules are named 'module'. */
    @Test
    void programsAreToldApartByTheirFilesOrNames() {
        for (String[] each : new String[][] {{"dynamic_add", ""}, {"add", ""}, {"add", "sum"}}) {
            String file = directory.resolve(each[0] + each[1] + ".iree4j").toString();
            String[] words = {
                "record",
                "--module=" + fixture("3.13.0/cpu/" + each[0] + ".vmfb"),
                "--input=4xf32=1 2 3 4",
                "--input=4xf32=1 2 3 4",
                "--recording=" + file,
                each[1].isEmpty() ? "--max_bytes=1048576" : "--name=" + each[1]
            };
            CommandLineRun run = iree4j(words);
            assertThat(run.status()).as(run.err()).isZero();
            String program = each[1].isEmpty() ? each[0] : each[1];
            assertThat(iree4j("explain", file).out()).containsPattern(program + "\\.\\w+: 1 call, p50 ");
        }
    }

    @Test
    void dispatchesAreListedBelowTheExecutionsOfACallUnlessNoneAreAskedFor() {
        String file = record(3);
        assertThat(iree4j("explain", file).out())
                .contains("dispatches with the most time, of 3 sampled of 3 executions:\n")
                .containsPattern("_dispatch_\\S* of add.add: 3 times, p50 ");
        String call = iree4j("explain", file, "--slowest").out().split("[ :]")[1];
        assertThat(iree4j("explain", file, "--call=" + call).out())
                .containsPattern(
                        "dispatches, sampled:\n\\s+[\\d.]+ .s  add_dispatch_\\S* of \\d+x\\d+x\\d+, [\\d.]+ % of the time running\n");
        String every = record(5, "--dispatches=4");
        assertThat(iree4j("explain", every).out()).contains("of 1 sampled of 5 executions:");
        String none = record(1, "--dispatches=0");
        assertThat(iree4j("explain", none, "--operations").out())
                .contains("dispatches: not sampled")
                .doesNotContain("with the most time");
        CommandLineRun refused = iree4j(
                "record",
                "--module=" + fixture("3.13.0/cpu/add.vmfb"),
                "--recording=" + directory.resolve("refused"),
                "--dispatches=-1");
        assertThat(refused.status()).isEqualTo(1);
        assertThat(refused.err()).contains("INVALID_ARGUMENT").contains("one of -1 executions");
    }

    @Test
    void recordedProgramIsRepeatedOnADevice() {
        String file = record(3);
        CommandLineRun repeated = iree4j("replay", file, "--device=local");
        assertThat(repeated.status()).as(repeated.out() + repeated.err()).isZero();
        assertThat(repeated.out())
                .contains(" operations repeated on the device")
                .contains("no differences");
        CommandLineRun json = iree4j("replay", file, "--device=local-task", "--json");
        assertThat(json.out()).contains("\"notEnded\": 0").contains("\"differences\": 0");
        assertThat(iree4j("replay", file, "--device=local", "--devices=2").status())
                .isEqualTo(2);
        assertThat(iree4j("replay", file, "--device=nowhere").err()).contains("NOT_FOUND");
    }

    @Test
    void otherHardwareIsForecast() {
        CommandLineRun forecast = iree4j("replay", record(3), "--devices=2", "--memory=+20%", "--json");
        assertThat(forecast.status()).as(forecast.err()).isZero();
        assertThat(forecast.out()).contains("\"shortestNanos\": ").contains("\"notEnded\": 0");
        assertThat(forecast.out()).contains("\"hanging\": 0");
        CommandLineRun nothing = iree4j("replay", record(0), "--devices=2");
        assertThat(nothing.status()).isEqualTo(1);
        assertThat(nothing.err()).contains("there is nothing to forecast");
    }

    @Test
    void impossibleHardwareIsRefused() {
        String file = record(1);
        for (String option :
                new String[] {"--devices=0", "--devices=-3", "--queues=-1", "--memory=0%", "--memory=-100%"}) {
            CommandLineRun run = iree4j("replay", file, option);
            assertThat(run.status()).as(option).isEqualTo(1);
            assertThat(run.err()).as(option).contains("INVALID_ARGUMENT").contains("out of range");
        }
    }

    @Test
    void recordingIsExported() throws IOException {
        String file = record(1);
        for (String format : new String[] {"perfetto", "otlp", "scenario"}) {
            Path target = directory.resolve(format);
            CommandLineRun run = iree4j("export", file, "--format=" + format, "--output=" + target);
            assertThat(run.status()).as(run.err()).isZero();
            assertThat(Files.size(target)).isPositive();
        }
        assertThat(iree4j("export", file, "--format=gif", "--output=x").status())
                .isEqualTo(2);
    }

    @Test
    void damagedRecordingIsRefusedAndSalvaged() throws IOException {
        Path file = Path.of(record(1));
        byte[] whole = Files.readAllBytes(file);
        Files.write(file, Arrays.copyOf(whole, whole.length - 10));
        CommandLineRun refused = iree4j("explain", file.toString());
        assertThat(refused.status()).isEqualTo(1);
        assertThat(refused.err()).contains("DATA_LOSS").contains("--salvage");
        assertThat(iree4j("explain", "--salvage", file.toString()).status()).isZero();
        whole[whole.length / 2]++; // in the only chunk of records
        Files.write(file, whole);
        CommandLineRun salvaged = iree4j("explain", "--salvage", file.toString());
        assertThat(salvaged.status()).isZero();
        assertThat(salvaged.err())
                .contains("another checksum")
                .contains(", so only the 0 records before the damage are read");
        assertThat(salvaged.out()).contains(salvaged.err().strip());
    }

    @Test
    void missingFilesAreNamed() {
        for (String command : new String[] {"explain", "replay"}) {
            assertThat(iree4j(command, "nowhere.iree4j").err())
                    .contains("NOT_FOUND; recording 'nowhere.iree4j' does not exist");
        }
        assertThat(iree4j("explain", "nowhere.ireereplay").err()).contains("NOT_FOUND; recording 'nowhere.ireereplay'");
        assertThat(iree4j("export", record(1), "--format=perfetto", "--output=/nowhere/at/all")
                        .err())
                .contains("file '/nowhere/at/all' cannot be written");
    }

    @Test
    void refusedExportLeavesItsOutputUnchanged() throws IOException {
        Path file = Path.of(record(1));
        Files.write(file, Arrays.copyOf(Files.readAllBytes(file), 200));
        Path output = Files.writeString(directory.resolve("kept"), "from before");
        CommandLineRun run = iree4j("export", "--salvage", file.toString(), "--format=scenario", "--output=" + output);
        assertThat(run.status()).isEqualTo(1);
        assertThat(run.err()).contains("no operations that ended");
        assertThat(output).hasContent("from before");
    }
}
