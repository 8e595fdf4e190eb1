package io.github.iree4j.tools;

import io.github.iree4j.flight.ExportFormat;
import io.github.iree4j.flight.OperationGraph;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.github.iree4j.tools.file.OutputFiles;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code iree4j export}: writes a recording in the format of another tool. */
@Command(
        name = "export",
        description = {
            "Writes a recording in the format of another tool: perfetto (for ui.perfetto.dev), otlp (JSON of",
            "OpenTelemetry, with span links), scenario (YAML of 'iree4j lab'), trace (JSON for the console) or",
            "problems (JSON: what kept work from advancing)."
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
            description = "perfetto, otlp, scenario, trace or problems.")
    private String format;

    @Option(names = "--output", paramLabel = "FILE", required = true, description = "The file to write.")
    private Path output;

    ExportCommand() {}

    @Override
    public Integer call() {
        ExportFormat chosen = switch (format.toLowerCase(Locale.ROOT)) {
            case "perfetto" -> ExportFormat.PERFETTO;
            case "otlp" -> ExportFormat.OTLP;
            case "scenario" -> ExportFormat.SCENARIO;
            case "trace" -> ExportFormat.TRACE;
            case "problems" -> ExportFormat.PROBLEMS;
            default ->
                throw new CommandLine.ParameterException(
                        spec.commandLine(), "--format is perfetto, otlp, scenario, trace or problems, not " + format);
        };
        OutputFiles.requireOther(output, List.of(flags.file()));
        OperationGraph graph = new OperationGraph(flags.read(spec.commandLine().getErr()));
        try (OutputStream target = new OpenedAtFirstByte(output)) {
            chosen.write(graph, target);
        } catch (IOException e) {
            throw IreeException.of(StatusCode.UNKNOWN, "file '%s' cannot be written: %s".formatted(output, e), e);
        }
        spec.commandLine().getOut().println("wrote " + output);
        return 0;
    }

    /** A file opened at the first byte: a refused export leaves an existing file unchanged. */
    private static final class OpenedAtFirstByte extends OutputStream {
        private final Path path;
        private @Nullable OutputStream opened;

        OpenedAtFirstByte(Path path) {
            this.path = path;
        }

        private OutputStream opened() throws IOException {
            OutputStream target = opened;
            if (target == null) {
                target = new BufferedOutputStream(Files.newOutputStream(path));
                opened = target;
            }
            return target;
        }

        @Override
        public void write(int value) throws IOException {
            opened().write(value);
        }

        @Override
        public void write(byte[] bytes, int offset, int length) throws IOException {
            opened().write(bytes, offset, length);
        }

        @Override
        public void close() throws IOException {
            if (opened != null) {
                opened.close();
            }
        }
    }
}
