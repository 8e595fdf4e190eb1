package io.github.iree4j.tools;

import io.github.iree4j.flight.ExportFormat;
import io.github.iree4j.flight.OperationGraph;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code iree4j export}: writes a recording in the format of another tool. */
@Command(
        name = "export",
        description = {
            "Writes a recording in the format of another tool: perfetto (for ui.perfetto.dev), otlp (JSON of",
            "OpenTelemetry, with span links), shiviz (a log with vector clocks) or scenario (YAML of 'iree4j lab')."
        },
        mixinStandardHelpOptions = true,
        sortOptions = false)
@SuppressWarnings("NullAway.Init") // picocli sets the fields
final class ExportCommand implements Callable<Integer> {
    @CommandLine.Spec
    private CommandLine.Model.CommandSpec spec;

    @Mixin
    private RecordingFlags flags;

    @Option(
            names = "--format",
            paramLabel = "NAME",
            required = true,
            description = "perfetto, otlp, shiviz or scenario.")
    private String format;

    @Option(names = "--output", paramLabel = "FILE", required = true, description = "Where it goes.")
    private Path output;

    ExportCommand() {}

    @Override
    public Integer call() throws IOException {
        ExportFormat chosen = switch (format.toLowerCase(Locale.ROOT)) {
            case "perfetto" -> ExportFormat.PERFETTO;
            case "otlp" -> ExportFormat.OTLP;
            case "shiviz" -> ExportFormat.SHIVIZ;
            case "scenario" -> ExportFormat.SCENARIO;
            default ->
                throw new CommandLine.ParameterException(
                        spec.commandLine(), "--format is perfetto, otlp, shiviz or scenario, not " + format);
        };
        OperationGraph graph = new OperationGraph(flags.read(spec.commandLine().getErr()));
        ByteArrayOutputStream whole = new ByteArrayOutputStream();
        chosen.write(graph, whole); // which may refuse: a file that is there stays as it is
        try (OutputStream target = Files.newOutputStream(output)) {
            whole.writeTo(target);
        }
        spec.commandLine().getOut().println("wrote " + output);
        return 0;
    }
}
