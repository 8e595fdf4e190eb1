package io.github.iree4j.tools;

import static io.github.iree4j.tools.CommandLineRun.assembled;
import static io.github.iree4j.tools.CommandLineRun.fixture;
import static io.github.iree4j.tools.CommandLineRun.iree4j;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class BenchmarkCommandTest {
    private static final String MODULE = """
            vm.module @m
            vm.export @empty
            vm.export @other
            vm.export @takes
            vm.export @dispatch
            vm.func @empty() -> () {
            ^bb0:
              vm.return
            }
            vm.func @other() -> (i32) {
            ^bb0:
              %i0 = vm.const.i32 1
              vm.return %i0
            }
            vm.func @takes(%i0: i32) -> (i32) {
            ^bb0:
              vm.return %i0
            }
            vm.func @dispatch(%i0: i32) -> () {
              vm.attr "iree.benchmark" = "dispatch"
            ^bb0:
              %i1 = vm.const.i32 5
              %i2 = vm.cmp.eq.i32 %i0, %i1
              vm.cond_br %i2, ^bb1(), ^bb2()
            ^bb1:
              vm.return
            ^bb2:
              %i3 = vm.const.i32 13
              vm.fail %i3, "batch size was not passed"
            }
            """;

    @TempDir
    private Path directory;

    private String module() throws IOException {
        return "--module=" + assembled(directory, "m", MODULE);
    }

    private static final String ROW =
            "BM_add/process_time/real_time *[0-9.]+ (ns|us|ms) +[0-9.]+ (ns|us|ms) +[0-9]+ items_per_second=[0-9.]+[kMG]?/s";

    @Test
    void printsTheTableOfIreeBenchmarkModule() {
        CommandLineRun run = iree4j(
                "benchmark",
                "--module=" + fixture("3.11.0/cpu/add.vmfb"),
                "--function=add",
                "--input=4xf32=1 2 3 4",
                "--input=4xf32=10 20 30 40",
                "--benchmark_min_time=0.01s");
        assertThat(run.err()).isEmpty();
        assertThat(run.status()).isZero();
        String[] lines = run.out().split("\n");
        assertThat(lines).hasSize(4);
        assertThat(lines[1])
                .isEqualTo("Benchmark                              Time             CPU   Iterations UserCounters...");
        assertThat(lines[0]).isEqualTo(lines[2]).isEqualTo("-".repeat(lines[1].length()));
        assertThat(lines[3]).matches(ROW);
    }

    @Test
    void repetitionsHaveStatistics() throws IOException {
        CommandLineRun run = iree4j(
                "benchmark", module(), "--function=empty", "--benchmark_repetitions=3", "--benchmark_min_time=20x");
        assertThat(run.status()).as(run.err()).isZero();
        List<String> names = run.out()
                .lines()
                .skip(3)
                .map(line -> line.substring(0, line.indexOf(' ')))
                .toList();
        String name = "BM_empty/process_time/real_time";
        assertThat(names)
                .containsExactly(name, name, name, name + "_mean", name + "_median", name + "_stddev", name + "_cv");
        assertThat(run.out().lines().skip(3).limit(3)).allMatch(line -> line.contains("         20 items_per_second="));
        CommandLineRun aggregates = iree4j(
                "benchmark",
                module(),
                "--function=empty",
                "--benchmark_repetitions=2",
                "--benchmark_min_time=1x",
                "--benchmark_report_aggregates_only=true");
        assertThat(aggregates.out().lines().skip(3)).hasSize(4).allMatch(line -> line.contains("real_time_"));
    }

    @Test
    void measuresFunctionsWithoutArgumentsAndDispatchesByDefault() throws IOException {
        CommandLineRun run = iree4j("benchmark", module(), "--benchmark_list_tests", "--batch_size=5");
        assertThat(run.out())
                .isEqualTo("BM_empty/process_time/real_time\nBM_other/process_time/real_time\n"
                        + "BM_dispatch/process_time/real_time\n");
        run = iree4j(
                "benchmark", module(), "--batch_size=5", "--benchmark_min_time=10x", "--benchmark_filter=dispatch");
        assertThat(run.status()).as(run.err()).isZero();
        assertThat(run.out())
                .contains("BM_dispatch/process_time/real_time")
                .doesNotContain("BM_empty")
                .contains(" us ");
        run = iree4j("benchmark", module(), "--benchmark_filter=-e|o", "--benchmark_list_tests", "--batch_size=5");
        assertThat(run.out()).isEmpty();
    }

    @Test
    void jsonIsWrittenToOutputAndFile() throws IOException {
        Path file = directory.resolve("report.json");
        CommandLineRun run = iree4j(
                "benchmark",
                module(),
                "--function=takes",
                "--input=3",
                "--benchmark_min_time=7x",
                "--benchmark_repetitions=2",
                "--time_unit=ns",
                "--benchmark_out=" + file);
        assertThat(run.status()).as(run.err()).isZero();
        assertThat(Files.readString(file))
                .startsWith("{\n  \"context\": {\n")
                .contains("\"executable\": \"iree4j benchmark\"")
                .contains("      \"name\": \"BM_takes/process_time/real_time\",\n")
                .contains("      \"run_type\": \"iteration\",\n")
                .contains("      \"repetition_index\": 1,\n")
                .contains("      \"iterations\": 7,\n")
                .contains("      \"time_unit\": \"ns\",\n")
                .contains("      \"aggregate_name\": \"cv\",\n      \"aggregate_unit\": \"percentage\",\n")
                .endsWith("    }\n  ]\n}\n");
        CommandLineRun json =
                iree4j("benchmark", module(), "--function=empty", "--benchmark_min_time=1x", "--benchmark_format=json");
        assertThat(json.out()).startsWith("{\n").endsWith("    }\n  ]\n}\n");
    }

    @Test
    void functionsWithFencesRunInBatchesOfChains() throws IOException {
        String module = assembled(directory, "fences", """
                vm.module @fences
                vm.type !hal.fence
                vm.import @hal.fence.signal cconv "0r_v"
                vm.global.i32 mutable @calls
                vm.export @later
                vm.func @later(%r0: !hal.fence, %r1: !hal.fence) -> () {
                  vm.attr "iree.abi.model" = "coarse-fences"
                ^bb0:
                  vm.call @hal.fence.signal(%r1)
                  vm.return
                }
                """);
        CommandLineRun run = iree4j(
                "benchmark",
                "--module=" + module,
                "--batch_size=5",
                "--batch_concurrency=2",
                "--benchmark_min_time=1x");
        assertThat(run.status()).as(run.err()).isZero();
        assertThat(run.out()).as("rounded up to whole rows").contains("          6 items_per_second=");
    }

    @Test
    void invalidFlagsAreReportedBeforeMeasuring() throws IOException {
        assertThat(iree4j("benchmark").status()).isEqualTo(2);
        assertThat(iree4j("benchmark", module(), "--benchmark_min_time=long").status())
                .isEqualTo(2);
        assertThat(iree4j("benchmark", module(), "--benchmark_repetitions=0").status())
                .isEqualTo(2);
        assertThat(iree4j("benchmark", module(), "--benchmark_filter=(").status())
                .isEqualTo(2);
        CommandLineRun none = iree4j("benchmark", module(), "--batch_size=5", "--benchmark_filter=none");
        assertThat(none.status()).isEqualTo(1);
        assertThat(none.err())
                .startsWith("NOT_FOUND; there is nothing to measure")
                .contains("'none'");
        CommandLineRun failing = iree4j("benchmark", module(), "--function=dispatch", "--batch_size=3");
        assertThat(failing.status()).isEqualTo(1);
        assertThat(failing.err()).contains("batch size was not passed");
    }

    @Test
    void statisticsAreOfASample() {
        List<Measurement> runs = new ArrayList<>();
        double[] seconds = {1, 2, 3, 6};
        for (int i = 0; i < seconds.length; i++) {
            runs.add(Measurement.ofRun(i, 10, 10 * seconds[i], 5 * seconds[i]));
        }
        List<Measurement> statistics = Measurement.statistics(runs);
        assertThat(statistics).extracting(Measurement::statistic).containsExactly("mean", "median", "stddev", "cv");
        assertThat(statistics.get(0).realSeconds()).isCloseTo(3, within(1e-12));
        assertThat(statistics.get(1).realSeconds()).isCloseTo(2.5, within(1e-12));
        assertThat(statistics.get(2).realSeconds()).isCloseTo(Math.sqrt(14.0 / 3), within(1e-12));
        assertThat(statistics.get(3).cpuSeconds()).isCloseTo(Math.sqrt(14.0 / 3) / 3, within(1e-12));
        assertThat(runs.get(1).itemsPerSecond()).isCloseTo(0.5, within(1e-12));
    }

    @Test
    void runsGrowToTheMinimumTime() {
        long[] now = {0};
        List<Long> asked = new ArrayList<>();
        BenchmarkLoop loop = new BenchmarkLoop(() -> now[0], () -> 2 * now[0]);
        Measurement run = loop.measure(0, new BenchmarkLoop.Length(1, 0), atLeast -> {
            asked.add(atLeast);
            now[0] += atLeast * 10_000_000; // 10 ms each
            return atLeast;
        });
        assertThat(asked).containsExactly(1L, 10L, 100L);
        assertThat(run.iterations()).isEqualTo(100);
        assertThat(run.realSeconds()).isCloseTo(0.01, within(1e-12));
        assertThat(run.cpuSeconds()).isCloseTo(0.02, within(1e-12));
    }
}
