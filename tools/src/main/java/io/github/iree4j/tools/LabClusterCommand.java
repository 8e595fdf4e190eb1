package io.github.iree4j.tools;

import io.github.iree4j.lab.ClusterStudy;
import java.io.PrintWriter;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code iree4j lab cluster}: work that one node submits to many. */
@Command(
        name = "cluster",
        description = {
            "Submits work for many nodes at once, with the scheduler of remote devices on virtual ones, and prints what frontiers and waits cost.",
            "Exits with 1 when a rule did not hold: something started early, hung, or a frontier claimed what was not so."
        },
        mixinStandardHelpOptions = true,
        sortOptions = false)
@SuppressWarnings("NullAway.Init") // picocli sets the fields
final class LabClusterCommand implements Callable<Integer> {
    @CommandLine.Spec
    private CommandLine.Model.CommandSpec spec;

    @Option(
            names = "--nodes",
            paramLabel = "N",
            defaultValue = "1000",
            description = "Nodes, 8 to 4096. Default: ${DEFAULT-VALUE}.")
    private int nodes;

    @Option(
            names = "--capacity",
            paramLabel = "N",
            defaultValue = "12",
            description = "Entries of a frontier, 1 to 255. Default: ${DEFAULT-VALUE}.")
    private int capacity;

    LabClusterCommand() {}

    @Override
    public Integer call() {
        ClusterStudy study = ClusterStudy.run(nodes, capacity);
        PrintWriter out = spec.commandLine().getOut();
        out.print(study.toTable());
        int faults = 0;
        for (ClusterStudy.Row each : study.rows()) {
            each.violations().forEach(what -> out.println("violation in " + each.work() + ": " + what));
            faults += each.violations().size();
        }
        return faults == 0 ? 0 : 1;
    }
}
