package io.github.iree4j.tools.lab;

import io.github.iree4j.lab.Comparison;
import java.io.IOException;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code iree4j lab compare}: runs a scenario with events, timelines and frontiers. */
@Command(
        name = "compare",
        description =
                "Runs a scenario three times with the same scheduler: with binary events, with plain timelines and with frontiers.",
        mixinStandardHelpOptions = true,
        sortOptions = false)
@SuppressWarnings("NullAway.Init") // picocli sets the fields
final class LabCompareCommand implements Callable<Integer> {
    @CommandLine.Spec
    private CommandLine.Model.CommandSpec spec;

    @Mixin
    private LabFlags flags;

    @Option(
            names = "--host_delay",
            paramLabel = "TICKS",
            defaultValue = "1",
            description = "Ticks until the host observes the end of an operation. Default: ${DEFAULT-VALUE}.")
    private long hostDelay;

    @Option(names = "--json", description = "Prints JSON.")
    private boolean json;

    LabCompareCommand() {}

    @Override
    public Integer call() throws IOException {
        Comparison comparison = Comparison.of(flags.scenario(), flags.options(hostDelay));
        spec.commandLine().getOut().print(json ? comparison.toJson() : comparison.toTable());
        return 0;
    }
}
