package io.github.iree4j.tools;

import io.github.iree4j.IreeRuntime;
import io.github.iree4j.Program;
import io.github.iree4j.ProgramFunction;
import io.github.iree4j.ProgramOptions;
import io.github.iree4j.Results;
import io.github.iree4j.Tensor;
import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.BufferParams;
import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.MemoryAccess;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code iree4j run}: calls one function of a module, with the flags and the output of {@code iree-run-module}. */
@Command(
        name = "run",
        description = "Calls a function of a compiled module.",
        mixinStandardHelpOptions = true,
        sortOptions = false,
        footer = {
            "",
            "Values: 3.14 for a primitive; 2x2xi32=1 2 3 4 or 2x2xi32=[1 2][3 4] for a tensor; 4xf32=2 all of one value;",
            "2x2xi32 zeros; 2x2xi32=@file.bin bytes of a file (+file.bin its next bytes); @file.npy an array of a file",
            "(+file.npy its next one, *file.npy all further ones); &4xf32 storage for a result; (null)."
        })
@SuppressWarnings("NullAway.Init") // picocli sets the fields
final class RunCommand implements Callable<Integer> {
    @CommandLine.Spec
    private CommandLine.Model.CommandSpec spec;

    @Option(
            names = "--module",
            required = true,
            paramLabel = "FILE",
            description =
                    "A .vmfb, or - for standard input. Repeat it for several modules: later ones may import from earlier ones.")
    private List<String> modules;

    @Option(
            names = "--function",
            paramLabel = "NAME",
            description =
                    "The function to call, name or module.name. Not needed when the last module exports just one.")
    private @Nullable String function;

    @Option(
            names = "--input",
            paramLabel = "VALUE",
            description = "An argument. Repeat it in the order of the arguments.")
    private List<String> inputs = new ArrayList<>();

    @Option(
            names = "--parameters",
            paramLabel = "[SCOPE=]FILE",
            description = "A parameter archive (.irpa), with the scope the program knows it by.")
    private List<String> parameters = new ArrayList<>();

    @Option(names = "--device", paramLabel = "DEVICE", description = "A device, see 'iree4j devices'. Default: local.")
    private List<String> devices = new ArrayList<>();

    @Option(
            names = "--output",
            paramLabel = "WHERE",
            description =
                    "What to do with a result, in order: nothing (empty), - print it, @FILE write it, +FILE append it; "
                            + "a .npy file gets shape and type, any other bytes only.")
    private List<String> outputs = new ArrayList<>();

    @Option(
            names = "--expected_output",
            paramLabel = "VALUE",
            description =
                    "What a result should be, in order; (ignored) for any. The exit status is 1 when one differs.")
    private List<String> expectedOutputs = new ArrayList<>();

    @Option(
            names = "--output_max_element_count",
            paramLabel = "N",
            defaultValue = "1024",
            description = "How many elements of a result to print. Default: ${DEFAULT-VALUE}.")
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

    @Option(
            names = "--print_statistics",
            description = "Print what the devices' memory was used for, to standard error.")
    private boolean printStatistics;

    RunCommand() {}

    @Option(names = "--module_mode", hidden = true)
    void moduleMode(String mode) {
        // Known to iree-run-module; here modules are always mapped.
    }

    @Option(names = "--parameter_mode", hidden = true)
    void parameterMode(String mode) {
        // Known to iree-run-module; here archives are always mapped.
    }

    @Override
    public Integer call() throws IOException {
        PrintWriter out = spec.commandLine().getOut();
        IreeRuntime.Builder builder = IreeRuntime.builder();
        devices.forEach(builder::device);
        try (IreeRuntime runtime = builder.build();
                Program program = runtime.load(program())) {
            int status = run(function(program), out);
            if (printStatistics) {
                for (Device device : runtime.devices()) {
                    spec.commandLine()
                            .getErr()
                            .println("Device: " + device.id() + "\n"
                                    + device.allocator().statistics());
                }
            }
            return status;
        }
    }

    private ProgramOptions program() throws IOException {
        ProgramOptions.Builder builder = ProgramOptions.builder();
        for (String module : modules) {
            if (module.equals("-")) {
                builder.module("standard input", System.in.readAllBytes());
            } else {
                builder.module(Path.of(module));
            }
        }
        for (String parameter : parameters) {
            int equals = parameter.indexOf('=');
            String scope = equals < 0 ? "" : parameter.substring(0, equals);
            builder.parameters(scope, Path.of(parameter.substring(equals + 1)));
        }
        return builder.build();
    }

    private ProgramFunction function(Program program) {
        if (function != null && !function.isEmpty()) {
            return program.function(function);
        }
        String module = program.name() + ".";
        List<ProgramFunction> candidates = program.functions().stream()
                .filter(f -> f.fullName().startsWith(module))
                .toList();
        if (candidates.size() != 1) {
            throw new IreeException(
                    StatusCode.INVALID_ARGUMENT,
                    "module '%s' exports %d functions; choose one with --function= (%s)"
                            .formatted(
                                    program.name(),
                                    candidates.size(),
                                    candidates.stream()
                                            .map(ProgramFunction::name)
                                            .collect(Collectors.joining(", "))));
        }
        return candidates.getFirst();
    }

    private int run(ProgramFunction called, PrintWriter out) {
        List<Object> arguments = List.of();
        try (InputSpecs specs = new InputSpecs()) {
            arguments = specs.parse(called.argumentKinds(), inputs);
            out.println("EXEC @" + called.name());
            out.flush();
            @Nullable Object[] values = forCall(called.program().devices().getFirst(), arguments);
            try (Results results = called.invoke(values)) {
                return process(called, results, out);
            } finally {
                releaseStorage(values);
            }
        } catch (IreeException e) {
            throw called.declaration().isEmpty() ? e : e.during("`" + called.declaration() + "`");
        } finally {
            arguments.forEach(RunCommand::closeTensor);
        }
    }

    private static @Nullable Object[] forCall(Device device, List<Object> arguments) {
        @Nullable Object[] values = new Object[arguments.size()];
        try {
            for (int i = 0; i < values.length; i++) {
                Object argument = arguments.get(i);
                values[i] = argument instanceof InputSpecs.NoValue
                        ? null
                        : argument instanceof InputSpecs.Storage storage ? buffer(device, storage.tensor()) : argument;
            }
            return values;
        } catch (RuntimeException e) {
            releaseStorage(values);
            throw e;
        }
    }

    /** Storage for a result is a buffer without a shape, whether the function declares it or not. */
    private static Buffer buffer(Device device, Tensor contents) {
        Buffer buffer = device.allocator().allocate(BufferParams.DEFAULT, contents.byteSize());
        contents.copyTo(buffer.map(MemoryAccess.DISCARD_WRITE, 0, contents.byteSize()));
        return buffer;
    }

    private static void releaseStorage(@Nullable Object[] values) {
        for (Object value : values) {
            if (value instanceof Buffer buffer) {
                buffer.close();
            }
        }
    }

    private static void closeTensor(Object value) {
        if (value instanceof Tensor tensor) {
            tensor.close();
        } else if (value instanceof InputSpecs.Storage storage) {
            storage.tensor().close();
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
            throw new IreeException(
                    StatusCode.OUT_OF_RANGE,
                    "%d outputs specified and the function has %d results".formatted(outputs.size(), values.size()));
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
            expected.forEach(RunCommand::closeTensor);
        }
    }
}
