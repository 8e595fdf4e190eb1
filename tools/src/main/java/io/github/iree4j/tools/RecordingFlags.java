package io.github.iree4j.tools;

import io.github.iree4j.flight.FlightRecording;
import java.io.IOException;
import java.nio.file.Path;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** The flags of commands that read a recording. */
@SuppressWarnings("NullAway.Init") // picocli sets the fields
final class RecordingFlags {
    @Parameters(index = "0", paramLabel = "FILE", description = "A recording.")
    private Path file;

    @Option(names = "--salvage", description = "Reads a damaged or truncated file as far as it is whole.")
    private boolean salvage;

    RecordingFlags() {}

    FlightRecording read() throws IOException {
        return salvage ? FlightRecording.salvage(file) : FlightRecording.read(file);
    }
}
