package io.github.iree4j.tools;

import io.github.iree4j.IreeRuntime;
import io.github.iree4j.Program;
import io.github.iree4j.ProgramFunction;
import io.github.iree4j.Results;
import io.github.iree4j.tools.file.ResultPrinter;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import java.util.regex.PatternSyntaxException;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code iree4j trace}: calls a function and prints all nested calls of functions and imports. */
@Command(
        name = "trace",
        description = {
            "Calls a function of a compiled module, or only loads the module, and prints every call of a function or an import, nested, with arguments and results.",
            "Traced programs are interpreted; 'iree4j run' runs the same program at full speed."
        },
        mixinStandardHelpOptions = true,
        sortOptions = false)
@SuppressWarnings("NullAway.Init") // picocli sets the fields
final class TraceCommand implements Callable<Integer> {
    @CommandLine.Spec
    private CommandLine.Model.CommandSpec spec;

    @Mixin
    private ProgramFlags flags;

    @Option(
            names = "--function",
            paramLabel = "NAME",
            description = "The function to call. Optional when the last module exports a single function.")
    private @Nullable String function;

    @Option(names = "--input", paramLabel = "VALUE", description = "An argument, as for 'iree4j run'.")
    private List<String> inputs = new ArrayList<>();

    @Option(names = "--init_only", description = "Calls no function: traces only the loading of the program.")
    private boolean initOnly;

    @Option(
            names = "--filter",
            paramLabel = "REGEX",
            description = "Prints only calls of functions with a match in the name (module.function).")
    private @Nullable String filter;

    @Option(
            names = "--max_depth",
            paramLabel = "N",
            defaultValue = "2147483647",
            description = "Maximum depth of calls: 1 for calls from outside.")
    private int maxDepth;

    @Option(
            names = "--max_lines",
            paramLabel = "N",
            defaultValue = "10000",
            description = "Maximum number of lines to print. Default: ${DEFAULT-VALUE}.")
    private long maxLines;

    @Option(
            names = "--output_max_element_count",
            paramLabel = "N",
            defaultValue = "1024",
            description = "Maximum number of elements of a result to print. Default: ${DEFAULT-VALUE}.")
    private int maximumElements;

    TraceCommand() {}

    @Override
    public Integer call() throws IOException {
        PrintWriter out = spec.commandLine().getOut();
        TracePrinter printer = new TracePrinter(out, maxDepth, maxLines, wanted());
        try (IreeRuntime runtime = flags.open();
                Program program = runtime.load(flags.options().tracer(printer).build())) {
            if (!initOnly) {
                call(ProgramFlags.function(program, function), printer, out);
            }
        } finally {
            printer.finish();
        }
        return 0;
    }

    private Predicate<String> wanted() {
        if (filter == null) {
            return _ -> true;
        }
        try {
            return Pattern.compile(filter).asPredicate();
        } catch (PatternSyntaxException e) {
            throw new CommandLine.ParameterException(spec.commandLine(), "--filter: " + e.getMessage(), e);
        }
    }

    private void call(ProgramFunction called, TracePrinter printer, PrintWriter out) {
        try (CallArguments arguments = CallArguments.parse(called, inputs)) {
            out.println("EXEC @" + called.name());
            try (Results results = called.invoke(arguments.values())) {
                printer.finish();
                out.print(new ResultPrinter(maximumElements).print("result", results.asList()));
            }
        }
    }
}
