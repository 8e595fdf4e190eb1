package io.github.iree4j.tools;

import io.github.iree4j.flight.FlightRecording;
import io.github.iree4j.flight.IreeReplay;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** The flags of commands reading a recording. */
@SuppressWarnings("NullAway.Init") // picocli sets the fields
final class RecordingFlags {
    @Parameters(index = "0", paramLabel = "FILE", description = "A recording, or a capture of IREE (.ireereplay).")
    private Path file;

    @Option(names = "--salvage", description = "Reads a damaged or truncated file up to the first damage.")
    private boolean salvage;

    RecordingFlags() {}

    Path file() {
        return file;
    }

    /** Reads the recording, or converts an {@code .ireereplay} file and prints the omissions. */
    FlightRecording read(PrintWriter err) {
        try {
            return readFile(err);
        } catch (NoSuchFileException e) {
            throw IreeException.of(StatusCode.NOT_FOUND, "recording '%s' does not exist".formatted(file), e);
        } catch (IOException e) {
            throw IreeException.of(
                    StatusCode.UNKNOWN, "recording '%s' cannot be read: %s".formatted(file, e.getMessage()), e);
        }
    }

    private FlightRecording readFile(PrintWriter err) throws IOException {
        if (file.toString().endsWith(".ireereplay")) {
            IreeReplay replay = IreeReplay.read(file);
            err.println(replay);
            return replay.recording();
        }
        if (!salvage) {
            return FlightRecording.read(file);
        }
        FlightRecording recording = FlightRecording.salvage(file);
        if (!recording.damage().isEmpty()) {
            err.println(recording.damage());
        }
        return recording;
    }
}
