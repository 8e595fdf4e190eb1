package io.github.iree4j.tools;

import io.github.iree4j.flight.Explanation;
import io.github.iree4j.flight.OperationGraph;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.List;
import java.util.concurrent.Callable;
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
    private long operation;

    @Option(
            names = "--call",
            paramLabel = "N",
            description = "Explains only the call with this number: the parts of its time, critical path, operations.")
    private long call;

    @Option(
            names = "--slowest",
            description = "Lists only the slowest calls whose operations have ended, each with the parts of its time.")
    private boolean slowest;

    @Option(
            names = "--function",
            paramLabel = "NAME",
            defaultValue = "",
            description = "As --slowest, only the calls of this function, for example 'module.main'.")
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
        PrintWriter out = spec.commandLine().getOut();
        Explanation explanation =
                new Explanation(new OperationGraph(flags.read(spec.commandLine().getErr())));
        lines(explanation).forEach(out::println);
        return 0;
    }

    private List<String> lines(Explanation explanation) {
        if (operation != 0) {
            return explanation.operation(operation, maximumLines);
        }
        if (call != 0) {
            return explanation.call(call, maximumLines);
        }
        if (slowest || !function.isEmpty()) {
            return explanation.slowest(function, maximumLines);
        }
        return operations ? explanation.everything(maximumLines) : explanation.summary(maximumLines);
    }
}
