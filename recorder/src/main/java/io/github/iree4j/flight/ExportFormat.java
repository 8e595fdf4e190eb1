package io.github.iree4j.flight;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;

/** Formats read by other tools. */
public enum ExportFormat {
    /** Track events in the binary form of Perfetto's schema: for ui.perfetto.dev. */
    PERFETTO,
    /** Spans of OpenTelemetry, as JSON of the protocol, with links where spans cannot nest. */
    OTLP,
    /** A scenario of the laboratory, as YAML: the ended operations, with durations and submissions, without memory. */
    SCENARIO,
    /** The operations and calls with the parts of their times, as JSON for the console's view of calls. */
    TRACE,
    /** The operations, and memory, as a run of the laboratory, with the problems, as JSON for the console's view of runs. */
    RUN,
    /** The problems keeping work from advancing when the recording was taken, as JSON. */
    PROBLEMS;

    /**
     * Writes a recording.
     *
     * @param graph the recording
     * @param target the destination; not closed
     * @throws IOException when the target cannot be written
     */
    public void write(OperationGraph graph, OutputStream target) throws IOException {
        switch (this) {
            case PERFETTO -> new PerfettoExport(graph).write(target);
            case OTLP -> target.write(new OtlpExport(graph).json().getBytes(StandardCharsets.UTF_8));
            case TRACE -> target.write(new TraceExport(graph).json().getBytes(StandardCharsets.UTF_8));
            case RUN -> target.write(new RunExport(graph).json().getBytes(StandardCharsets.UTF_8));
            case PROBLEMS -> target.write(ProblemsExport.json(graph).getBytes(StandardCharsets.UTF_8));
            case SCENARIO -> target.write(new ScenarioExport(graph).yaml().getBytes(StandardCharsets.UTF_8));
        }
        target.flush();
    }
}
