package io.github.iree4j.tools;

import io.github.iree4j.task.Topology;
import java.io.PrintWriter;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code iree4j topology}: prints the placement of workers on this machine. */
@Command(
        name = "topology",
        description = "Prints the placement of workers on the processors available to the process.",
        mixinStandardHelpOptions = true)
@SuppressWarnings("NullAway.Init") // picocli sets the fields
final class TopologyCommand implements Runnable {
    @CommandLine.Spec
    private CommandLine.Model.CommandSpec spec;

    @Parameters(
            paramLabel = "SPECIFICATION",
            description = "auto; a selection such as 'mode=threads max=4 nodes=0'; or groups such as"
                    + " 'cpus=0,8; cpus=1,9', 'each=0-3' or 'workers=4'. Default: ${DEFAULT-VALUE}",
            arity = "0..1",
            defaultValue = "auto")
    private String specification;

    @Option(
            names = "--specification",
            description = "Prints a single line, accepted as a specification by this command and the runtime.")
    private boolean oneLine;

    TopologyCommand() {}

    @Override
    public void run() {
        PrintWriter out = spec.commandLine().getOut();
        Topology topology = Topology.of(specification);
        if (oneLine) {
            out.println(topology);
        } else {
            out.print(topology.describe());
        }
    }
}
