package io.github.iree4j.tools;

import picocli.CommandLine;
import picocli.CommandLine.Command;

/** {@code iree4j parameters}: inspects, converts and creates parameter files. */
@Command(
        name = "parameters",
        description = "Shows, converts and creates parameter files: .irpa, .gguf and .safetensors.",
        mixinStandardHelpOptions = true,
        subcommands = {ParametersDumpCommand.class, ParametersConvertCommand.class, ParametersCreateCommand.class})
@SuppressWarnings("NullAway.Init") // picocli sets the fields
final class ParametersCommand implements Runnable {
    @CommandLine.Spec
    private CommandLine.Model.CommandSpec spec;

    ParametersCommand() {}

    @Override
    public void run() {
        throw new CommandLine.ParameterException(spec.commandLine(), "name a command: dump, convert or create");
    }
}
