package io.github.iree4j.tools;

import io.github.iree4j.flight.Explanation;
import io.github.iree4j.flight.OperationGraph;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code iree4j explain}: says where the time of a recording went. */
@Command(
        name = "explain",
        description = "Prints the critical path, the waits and the unfinished operations of a recording.",
        mixinStandardHelpOptions = true,
        sortOptions = false)
@SuppressWarnings("NullAway.Init") // picocli sets the fields
final class ExplainCommand implements Callable<Integer> {
    @CommandLine.Spec
    private CommandLine.Model.CommandSpec spec;

    @Mixin
    private RecordingFlags flags;

    @Option(
            names = "--operations",
            description = "Also explains every operation, in half of the lines: waits, memory and frontier.")
    private boolean operations;

    @Option(names = "--operation", paramLabel = "N", description = "Explains only the operation with this number.")
    private @Nullable Long operation;

    @Option(
            names = "--call",
            paramLabel = "N",
            description = "Explains only the call with this number: the parts of its time, critical path, operations.")
    private @Nullable Long call;

    @Option(
            names = "--slowest",
            description = "Lists only the slowest calls whose operations have ended, each with the parts of its time.")
    private boolean slowest;

    @Option(
            names = "--function",
            paramLabel = "NAME",
            defaultValue = "",
            description = "As --slowest, only the calls of this function, for example 'digits.classify'.")
    private String function;

    @Option(
            names = "--max_lines",
            paramLabel = "N",
            defaultValue = "100",
            description = "Maximum number of lines, a quarter for each part of the summary."
                    + " The number of further lines is one more line. Default: ${DEFAULT-VALUE}.")
    private int maximumLines;

    ExplainCommand() {}

    @Override
    public Integer call() throws IOException {
        check();
        PrintWriter out = spec.commandLine().getOut();
        Explanation explanation =
                new Explanation(new OperationGraph(flags.read(spec.commandLine().getErr())));
        lines(explanation).forEach(out::println);
        return 0;
    }

    /** Refuses numbers out of range, and flags of which only one can be obeyed; of a flag given twice the last counts. */
    private void check() {
        requireNumber("--operation", operation);
        requireNumber("--call", call);
        CommandLine.ParseResult parsed = spec.commandLine().getParseResult();
        List<String> given = Stream.of("--operations", "--operation", "--call", "--slowest", "--function")
                .filter(parsed::hasMatchedOption)
                .toList();
        if (given.size() > 1 && !given.equals(List.of("--slowest", "--function"))) {
            throw new CommandLine.ParameterException(
                    spec.commandLine(), String.join(" and ", given) + " are mutually exclusive; choose one");
        }
    }

    private void requireNumber(String flag, @Nullable Long number) {
        if (number != null && number < 1) {
            throw new CommandLine.ParameterException(
                    spec.commandLine(), "%s is a number from 1 on, not %d".formatted(flag, number));
        }
    }

    private List<String> lines(Explanation explanation) {
        if (operation != null) {
            return explanation.operation(operation, maximumLines);
        }
        if (call != null) {
            return explanation.call(call, maximumLines);
        }
        if (slowest || !function.isEmpty()) {
            return explanation.slowest(function, maximumLines);
        }
        return operations ? explanation.everything(maximumLines) : explanation.summary(maximumLines);
    }
}
