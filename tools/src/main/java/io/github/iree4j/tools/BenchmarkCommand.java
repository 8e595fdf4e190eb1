package io.github.iree4j.tools;

import io.github.iree4j.IreeRuntime;
import io.github.iree4j.Program;
import io.github.iree4j.ProgramFunction;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.github.iree4j.tools.file.OutputFiles;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import java.util.regex.PatternSyntaxException;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/**
 * {@code iree4j benchmark}: measures functions of a module, with the flags and figures of {@code
 * iree-benchmark-module}.
 */
@Command(
        name = "benchmark",
        description = {
            "Measures how long functions of a compiled module take.",
            "Times are of a single call; CPU counts all threads of the process. A run shorter than the minimum time is repeated with more calls, so early runs warm up the JVM."
        },
        mixinStandardHelpOptions = true,
        sortOptions = false)
@SuppressWarnings("NullAway.Init") // picocli sets the fields
final class BenchmarkCommand implements Runnable {
    /** Format of a report. */
    private enum Format {
        /** A table. */
        console,
        /** Google Benchmark's JSON. */
        json
    }

    @CommandLine.Spec
    private CommandLine.Model.CommandSpec spec;

    @Mixin
    private ProgramFlags flags;

    @Option(
            names = "--function",
            paramLabel = "NAME",
            description = "The function to measure. Default: all functions without arguments.")
    private @Nullable String function;

    @Option(names = "--input", paramLabel = "VALUE", description = "An argument, as for 'iree4j run'.")
    private List<String> inputs = new ArrayList<>();

    @Option(
            names = "--batch_size",
            paramLabel = "N",
            defaultValue = "1",
            description =
                    "Calls of a batch: the calls of a submission of a function with fences, or the repetitions within a call of a dispatch benchmark.")
    private int batchSize;

    @Option(
            names = "--batch_concurrency",
            paramLabel = "N",
            defaultValue = "1",
            description = "Maximum number of concurrent calls of a batch, for a function with fences.")
    private int batchConcurrency;

    @Option(names = "--time_unit", paramLabel = "UNIT", description = "ns, us or ms. Default: ms.")
    private BenchmarkReport.@Nullable Unit unit;

    @Option(
            names = "--benchmark_min_time",
            paramLabel = "TIME",
            defaultValue = "0.5s",
            description =
                    "Minimum duration of a run, such as 2s, or number of calls, such as 100x. Default: ${DEFAULT-VALUE}.")
    private String minimumTime;

    @Option(
            names = "--benchmark_min_warmup_time",
            paramLabel = "SECONDS",
            defaultValue = "0",
            description = "Minimum duration of the warm-up before the first run.")
    private double warmup;

    @Option(
            names = "--benchmark_repetitions",
            paramLabel = "N",
            defaultValue = "1",
            description =
                    "Number of runs; from 2 on with mean, median, standard deviation and coefficient of variation.")
    private int repetitions;

    @Option(
            names = "--benchmark_report_aggregates_only",
            arity = "0..1",
            fallbackValue = "true",
            description = "Shows only statistics, not the runs.")
    private boolean aggregatesOnly;

    @Option(
            names = "--benchmark_filter",
            paramLabel = "REGEX",
            description = "Measures only benchmarks with a match in the name.")
    private @Nullable String filter;

    @Option(
            names = "--benchmark_list_tests",
            arity = "0..1",
            fallbackValue = "true",
            description = "Prints the names and measures nothing.")
    private boolean listOnly;

    @Option(
            names = "--benchmark_format",
            paramLabel = "FORMAT",
            defaultValue = "console",
            description = "console or json.")
    private Format format;

    @Option(names = "--benchmark_out", paramLabel = "FILE", description = "Writes a second report to this file.")
    private @Nullable Path outFile;

    @Option(
            names = "--benchmark_out_format",
            paramLabel = "FORMAT",
            defaultValue = "json",
            description = "Format of the second report, console or json. Default: ${DEFAULT-VALUE}.")
    private Format outFormat;

    @Option(names = "--print_statistics", description = "Prints memory statistics of the devices to standard error.")
    private boolean printStatistics;

    BenchmarkCommand() {}

    @Override
    public void run() {
        BenchmarkLoop.Length length = length();
        if (repetitions < 1 || batchSize < 1 || batchConcurrency < 1 || !(warmup >= 0)) {
            throw wrong("repetitions and batch sizes must be at least 1, and the warm-up time must not be negative");
        }
        if (outFile != null) {
            OutputFiles.requireOther(outFile, flags.files(inputs));
        }
        List<BenchmarkedFunction> benchmarks = new ArrayList<>();
        try (IreeRuntime runtime = flags.open();
                Program program = runtime.load(flags.options().build())) {
            try {
                for (ProgramFunction chosen : functions(program)) {
                    benchmarks.add(new BenchmarkedFunction(runtime, chosen, inputs, batchSize, batchConcurrency));
                }
                run(benchmarks, length);
            } finally {
                benchmarks.forEach(BenchmarkedFunction::close);
            }
            if (printStatistics) {
                ProgramFlags.printStatistics(runtime, spec.commandLine().getErr());
            }
        } catch (IOException e) {
            throw IreeException.of(StatusCode.UNAVAILABLE, "a file cannot be accessed: " + e, e);
        }
    }

    private BenchmarkLoop.Length length() {
        try {
            return BenchmarkLoop.Length.parse(minimumTime);
        } catch (IllegalArgumentException e) {
            throw wrong("--benchmark_min_time " + e.getMessage());
        }
    }

    private List<ProgramFunction> functions(Program program) {
        if (function != null && !function.isEmpty()) {
            return List.of(program.function(function));
        }
        return ProgramFlags.ownFunctions(program).stream()
                .filter(f -> BenchmarkedFunction.isDispatch(f)
                        || f.argumentKinds().isEmpty() && f.name().indexOf('$') < 0)
                .toList();
    }

    private void run(List<BenchmarkedFunction> benchmarks, BenchmarkLoop.Length length) throws IOException {
        List<BenchmarkedFunction> chosen = chosen(benchmarks);
        PrintWriter out = spec.commandLine().getOut();
        if (listOnly) {
            chosen.forEach(benchmark -> out.println(benchmark.name()));
            return;
        }
        if (chosen.isEmpty()) {
            throw IreeException.of(
                    StatusCode.NOT_FOUND,
                    "there is nothing to measure: no function without arguments%s; name a function with --function= and the arguments with --input="
                            .formatted(filter == null ? "" : " matches '" + filter + "'"));
        }
        Path file = outFile;
        if (file == null) {
            measure(chosen, length, List.of(report(format, out)));
            return;
        }
        try (PrintWriter second = new PrintWriter(Files.newBufferedWriter(file, StandardCharsets.UTF_8))) {
            measure(chosen, length, List.of(report(format, out), report(outFormat, second)));
        }
    }

    private List<BenchmarkedFunction> chosen(List<BenchmarkedFunction> benchmarks) {
        if (filter == null) {
            return benchmarks;
        }
        boolean without = filter.startsWith("-");
        try {
            Pattern pattern = Pattern.compile(without ? filter.substring(1) : filter);
            return benchmarks.stream()
                    .filter(b -> pattern.matcher(b.name()).find() != without)
                    .toList();
        } catch (PatternSyntaxException e) {
            throw wrong("--benchmark_filter: " + e.getMessage());
        }
    }

    private static BenchmarkReport report(Format format, PrintWriter out) {
        return format == Format.json ? BenchmarkReport.json(out) : BenchmarkReport.console(out);
    }

    private void measure(List<BenchmarkedFunction> chosen, BenchmarkLoop.Length length, List<BenchmarkReport> reports) {
        int longest = chosen.stream().mapToInt(b -> b.name().length()).max().orElse(0);
        int width = repetitions > 1 ? longest + "_median".length() : longest;
        reports.forEach(report -> report.begin(width));
        BenchmarkLoop loop = new BenchmarkLoop();
        for (int family = 0; family < chosen.size(); family++) {
            BenchmarkedFunction benchmark = chosen.get(family);
            loop.warmUp(warmup, benchmark);
            List<Measurement> runs = new ArrayList<>();
            for (int i = 0; i < repetitions; i++) {
                Measurement run = loop.measure(i, length, benchmark);
                runs.add(run);
                if (!aggregatesOnly || repetitions == 1) {
                    add(reports, benchmark, family, run);
                }
            }
            if (repetitions > 1) {
                for (Measurement statistic : Measurement.statistics(runs)) {
                    add(reports, benchmark, family, statistic);
                }
            }
        }
        reports.forEach(BenchmarkReport::end);
    }

    private void add(
            List<BenchmarkReport> reports, BenchmarkedFunction benchmark, int family, Measurement measurement) {
        BenchmarkReport.Row row = new BenchmarkReport.Row(
                benchmark.name(), family, repetitions, unit == null ? benchmark.defaultUnit() : unit, measurement);
        reports.forEach(report -> report.add(row));
    }

    private CommandLine.ParameterException wrong(String message) {
        return new CommandLine.ParameterException(spec.commandLine(), message);
    }
}
