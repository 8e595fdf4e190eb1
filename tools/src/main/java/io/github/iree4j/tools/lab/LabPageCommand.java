package io.github.iree4j.tools.lab;

import io.github.iree4j.lab.Laboratory;
import io.github.iree4j.lab.Scenario;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.github.iree4j.tools.file.OutputFiles;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code iree4j lab page}: writes a page showing scenarios without a server. */
@Command(
        name = "page",
        description = {
            "Writes a page showing scenarios without a server: one file with the console and the runs of the scenarios.",
            "Open the file in a browser, or embed the file in a page as a frame, with ?scenario=ID for a scenario."
        },
        mixinStandardHelpOptions = true,
        sortOptions = false)
@SuppressWarnings("NullAway.Init") // picocli sets the fields
final class LabPageCommand implements Callable<Integer> {
    @CommandLine.Spec
    private CommandLine.Model.CommandSpec spec;

    @Parameters(
            arity = "0..*",
            paramLabel = "SCENARIO|FILE",
            description =
                    "Scenarios named by 'iree4j lab list', or files with a scenario in YAML or JSON. Default: all scenarios of the list.")
    private List<String> scenarios = List.of();

    @Option(names = "--output", paramLabel = "FILE", required = true, description = "The file, overwritten if present.")
    private Path output;

    /** The names given by the console to a scenario of the user and to a recording. */
    private static final Set<String> RESERVED = Set.of("own", "recorded");

    LabPageCommand() {}

    @Override
    public Integer call() throws IOException {
        OutputFiles.requireOther(output, scenarios.stream().map(Path::of).toList());
        List<Scenario> shown = new ArrayList<>();
        for (String each : scenarios) {
            shown.add(LabFlags.read(each));
        }
        Set<String> ids = new HashSet<>(RESERVED);
        for (Scenario each : shown) {
            if (!ids.add(each.id())) {
                throw IreeException.of(
                        StatusCode.INVALID_ARGUMENT,
                        "scenario id '%s' %s; give the scenario another id"
                                .formatted(
                                        each.id(),
                                        RESERVED.contains(each.id()) ? "is reserved by the page" : "occurs twice"));
            }
        }
        String page = OfflinePage.of(shown.isEmpty() ? Laboratory.scenarios() : shown);
        Files.writeString(output, page);
        spec.commandLine().getOut().println("%s: %d kB".formatted(output, page.length() / 1000));
        return 0;
    }
}
