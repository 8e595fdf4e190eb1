package io.github.iree4j.tools;

import io.github.iree4j.flight.Explanation;
import io.github.iree4j.flight.OperationGraph;
import io.github.iree4j.flight.RecordedOperation;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.io.IOException;
import java.io.PrintWriter;
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

    @Option(names = "--operations", description = "Also explains every operation: waits, memory and frontier.")
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
            description = "Lists only the slowest calls that have ended, each with the parts of its time.")
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
            defaultValue = "20",
            description = "Maximum number of lines of each part. Default: ${DEFAULT-VALUE}.")
    private int maximumLines;

    ExplainCommand() {}

    @Override
    public Integer call() throws IOException {
        PrintWriter out = spec.commandLine().getOut();
        OperationGraph graph = new OperationGraph(flags.read(spec.commandLine().getErr()));
        Explanation explanation = new Explanation(graph);
        if (operation != 0) {
            RecordedOperation one = graph.operation(operation);
            if (one == null) {
                throw new IreeException(StatusCode.NOT_FOUND, "the recording has no operation " + operation);
            }
            explanation.explain(one).forEach(out::println);
            return 0;
        }
        if (call != 0) {
            explanation.call(call).forEach(out::println);
            return 0;
        }
        if (slowest || !function.isEmpty()) {
            explanation.slowest(function, maximumLines).forEach(out::println);
            return 0;
        }
        explanation.summary(maximumLines).forEach(out::println);
        if (operations) {
            out.println("operations:");
            graph.operations().forEach(each -> explanation.explain(each).forEach(out::println));
        }
        return 0;
    }
}
