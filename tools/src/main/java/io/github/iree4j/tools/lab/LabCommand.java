package io.github.iree4j.tools.lab;

import picocli.CommandLine;
import picocli.CommandLine.Command;

/** {@code iree4j lab}: scenarios of work on several kinds of hardware, run on virtual devices. */
@Command(
        name = "lab",
        description =
                "Runs scenarios of work on several kinds of hardware: on virtual devices, with the real scheduler.",
        mixinStandardHelpOptions = true,
        subcommands = {LabListCommand.class, LabRunCommand.class, LabCompareCommand.class, LabPageCommand.class})
@SuppressWarnings("NullAway.Init") // picocli sets the fields
public final class LabCommand implements Runnable {
    @CommandLine.Spec
    private CommandLine.Model.CommandSpec spec;

    /** Creates the command; picocli sets the fields. */
    public LabCommand() {}

    @Override
    public void run() {
        throw new CommandLine.ParameterException(spec.commandLine(), "name a command: list, run, compare or page");
    }
}
