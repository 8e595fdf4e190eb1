package io.github.iree4j.tools;

import io.github.iree4j.modules.parameters.ParameterArchive;
import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** The flags for parameter files. */
@SuppressWarnings("NullAway.Init") // picocli sets the fields
final class ParameterInputs {
    @CommandLine.Spec(CommandLine.Spec.Target.MIXEE)
    private CommandLine.Model.CommandSpec spec;

    @Option(names = "--parameters", paramLabel = "[SCOPE=]FILE", description = "A parameter file, with a scope.")
    private List<String> flagged = new ArrayList<>();

    @Parameters(paramLabel = "[SCOPE=]FILE", description = "The same without the flag.", arity = "0..*")
    private List<String> named = new ArrayList<>();

    ParameterInputs() {}

    @Option(names = "--parameter_mode", hidden = true)
    void parameterMode(String mode) {
        // Accepted for compatibility with IREE's tools; archives are always mapped.
    }

    /** An open file and the file's scope. */
    record Input(String scope, ParameterArchive archive) {}

    /** Opens all files, to be closed by the caller. */
    List<Input> open() {
        List<String> all = new ArrayList<>(flagged);
        all.addAll(named);
        if (all.isEmpty()) {
            throw new CommandLine.ParameterException(
                    spec.commandLine(), "name a parameter file, with --parameters=[SCOPE=]FILE or without the flag");
        }
        List<Input> inputs = new ArrayList<>();
        try {
            for (String text : all) {
                ProgramFlags.ScopedFile file = ProgramFlags.ScopedFile.of(text);
                inputs.add(new Input(file.scope(), ParameterArchive.open(file.path())));
            }
            return inputs;
        } catch (RuntimeException e) {
            close(inputs);
            throw e;
        }
    }

    static void close(List<Input> inputs) {
        inputs.forEach(input -> input.archive().close());
    }
}
