package io.github.iree4j.tools;

import io.github.iree4j.IreeRuntime;
import io.github.iree4j.Program;
import io.github.iree4j.ProgramFunction;
import io.github.iree4j.Results;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.github.iree4j.tools.file.OutputFiles;
import io.github.iree4j.tools.file.ResultPrinter;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code iree4j run}: calls a function of a module, with the flags and the output of {@code iree-run-module}. */
@Command(
        name = "run",
        description = "Calls a function of a compiled module.",
        mixinStandardHelpOptions = true,
        sortOptions = false,
        footer = {
            "",
            "Values: 3.14 for a primitive; 2x2xi32=1 2 3 4 or 2x2xi32=[1 2][3 4] for a tensor; 4xf32=2 a repeated value;",
            "2x2xi32 zeros; 2x2xi32=@file.bin bytes of a file (+file.bin the next bytes); @file.npy an array of a file",
            "(+file.npy the next array, *file.npy all further arrays); &4xf32 storage for a result; (null)."
        })
@SuppressWarnings("NullAway.Init") // picocli sets the fields
final class RunCommand implements Callable<Integer> {
    @CommandLine.Spec
    private CommandLine.Model.CommandSpec spec;

    @Mixin
    private ProgramFlags flags;

    @Option(
            names = "--function",
            paramLabel = "NAME",
            description =
                    "The function to call, as name or module.name. Optional when the last module exports a single function.")
    private @Nullable String function;

    @Option(
            names = "--input",
            paramLabel = "VALUE",
            description = "An argument. Repeat for more, in the order of the arguments.")
    private List<String> inputs = new ArrayList<>();

    @Option(
            names = "--output",
            paramLabel = "WHERE",
            description =
                    "Destination of a result, in order: empty for none, - to print, @FILE to write, +FILE to append; "
                            + "a .npy file includes shape and type, any other file has only bytes.")
    private List<String> outputs = new ArrayList<>();

    @Option(
            names = "--expected_output",
            paramLabel = "VALUE",
            description =
                    "The expected value of a result, in order; (ignored) for any. The exit status is 1 when a result differs.")
    private List<String> expectedOutputs = new ArrayList<>();

    @Option(
            names = "--output_max_element_count",
            paramLabel = "N",
            defaultValue = "1024",
            description = "Maximum number of elements of a result to print. Default: ${DEFAULT-VALUE}.")
    private int maximumElements;

    @Option(
            names = "--expected_f16_threshold",
            paramLabel = "X",
            defaultValue = "0.001",
            description = "Absolute tolerance.")
    private double f16Threshold;

    @Option(
            names = "--expected_f32_threshold",
            paramLabel = "X",
            defaultValue = "0.0001",
            description = "Absolute tolerance.")
    private double f32Threshold;

    @Option(
            names = "--expected_f64_threshold",
            paramLabel = "X",
            defaultValue = "0.0001",
            description = "Absolute tolerance.")
    private double f64Threshold;

    @Option(
            names = "--expected_bf16_threshold",
            paramLabel = "X",
            defaultValue = "0.01",
            description = "Absolute tolerance.")
    private double bf16Threshold;

    @Option(names = "--expected_rtol", paramLabel = "X", defaultValue = "1e-5", description = "Relative tolerance.")
    private double relativeTolerance;

    @Option(
            names = "--equality_mode",
            paramLabel = "MODE",
            defaultValue = "approximate",
            description = "approximate, or exact: compare bit by bit.")
    private String equalityMode;

    @Option(names = "--print_statistics", description = "Prints memory statistics of the devices to standard error.")
    private boolean printStatistics;

    RunCommand() {}

    @Override
    public Integer call() throws IOException {
        List<Path> files = flags.files(inputs);
        files.addAll(InputSpecs.files(expectedOutputs));
        for (String each : outputs) {
            Path target = OutputFiles.file(each);
            if (target != null) {
                OutputFiles.requireOther(target, files);
            }
        }
        PrintWriter out = spec.commandLine().getOut();
        try (IreeRuntime runtime = flags.open();
                Program program = runtime.load(flags.options().build())) {
            int status = run(ProgramFlags.function(program, function), out);
            if (printStatistics) {
                ProgramFlags.printStatistics(runtime, spec.commandLine().getErr());
            }
            return status;
        }
    }

    private int run(ProgramFunction called, PrintWriter out) {
        try (CallArguments arguments = CallArguments.parse(called, inputs)) {
            out.println("EXEC @" + called.name());
            out.flush();
            try (Results results = called.invoke(arguments.values())) {
                return process(called, results, out);
            }
        } catch (IreeException e) {
            throw called.declaration().isEmpty() ? e : e.during("`" + called.declaration() + "`");
        }
    }

    private int process(ProgramFunction called, Results results, PrintWriter out) {
        List<@Nullable Object> values = results.asList();
        ResultPrinter printer = new ResultPrinter(maximumElements);
        if (!expectedOutputs.isEmpty()) {
            return compare(called, values, out);
        }
        if (outputs.isEmpty()) {
            out.print(printer.print("result", values));
            return 0;
        }
        if (outputs.size() != values.size()) {
            throw IreeException.of(
                    StatusCode.OUT_OF_RANGE,
                    "%d outputs specified, but the function has %d results".formatted(outputs.size(), values.size()));
        }
        for (int i = 0; i < values.size(); i++) {
            if (outputs.get(i).equals("-")) {
                out.println(printer.format(values.get(i)));
            } else if (!outputs.get(i).isEmpty()) {
                OutputFiles.write(outputs.get(i), values.get(i));
            }
        }
        return 0;
    }

    private int compare(ProgramFunction called, List<@Nullable Object> values, PrintWriter out) {
        if (!equalityMode.equals("approximate") && !equalityMode.equals("exact")) {
            throw new CommandLine.ParameterException(
                    spec.commandLine(), "--equality_mode is approximate or exact, not " + equalityMode);
        }
        List<Object> expected = List.of();
        try (InputSpecs specs = new InputSpecs()) {
            expected = specs.parse(called.resultKinds(), expectedOutputs);
            StringBuilder differences = new StringBuilder();
            boolean matched = new ResultComparison(
                            new ResultComparison.Tolerance(
                                    equalityMode.equals("exact"),
                                    f16Threshold,
                                    f32Threshold,
                                    f64Threshold,
                                    bf16Threshold,
                                    relativeTolerance),
                            differences)
                    .compare(expected, values);
            out.print(differences);
            if (matched) {
                out.println("[SUCCESS] all function outputs matched their expected values.");
            }
            return matched ? 0 : 1;
        } finally {
            expected.forEach(CallArguments::closeTensor);
        }
    }
}
