package io.github.iree4j.tools;

import io.github.iree4j.IreeRuntime;
import io.github.iree4j.Program;
import io.github.iree4j.ProgramOptions;
import io.github.iree4j.generation.GeneratorOptions;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The flags for a model that proposes tokens. */
@SuppressWarnings("NullAway.Init") // picocli sets the fields
final class DraftFlags {
    @Option(
            names = "--draft-module",
            paramLabel = "FILE",
            description = "The .vmfb of a smaller model for the same tokens, which proposes the --proposed-tokens."
                    + " Default: tokens that followed the last tokens earlier.")
    private @Nullable Path module;

    @Option(
            names = "--draft-parameters",
            paramLabel = "[SCOPE=]FILE",
            description = "A parameter file of the draft, as --parameters. Repeat for several.")
    private List<String> parameters = new ArrayList<>();

    @Option(
            names = "--draft-config",
            paramLabel = "FILE",
            description = "The config.json of the draft. Default: 32 tokens per page, proposals in two pages only.")
    private @Nullable Path config;

    @Spec(Spec.Target.MIXEE)
    private CommandSpec spec;

    DraftFlags() {}

    /** Loads the draft, owned by the caller. Returns null without a draft. */
    @Nullable
    Program load(IreeRuntime runtime) {
        if (module == null) {
            if (config != null || !parameters.isEmpty()) {
                throw new ParameterException(
                        spec.commandLine(), "--draft-parameters and --draft-config need --draft-module");
            }
            return null;
        }
        ProgramOptions.Builder options = ProgramOptions.builder().module(module);
        for (String each : parameters) {
            ProgramFlags.ScopedFile file = ProgramFlags.ScopedFile.of(each);
            options.parameters(file.scope(), file.path());
        }
        return runtime.load(options.build());
    }

    /** Adds a draft to options. */
    GeneratorOptions.Builder apply(GeneratorOptions.Builder options, @Nullable Program draft) {
        return options.draft(draft).draftConfig(config);
    }
}
