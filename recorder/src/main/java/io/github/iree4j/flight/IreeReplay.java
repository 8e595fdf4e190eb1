package io.github.iree4j.flight;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * A capture of IREE's HAL, an {@code .ireereplay} file, reduced to the submissions to queues.
 *
 * @param recording the operations with their waits and signals; numbered times, nothing decided or complete
 * @param operations number of operations of queues
 * @param leftOut number of other calls, left out: of buffers, executables, command buffers, files, and calls without a
 *     recordable operation, such as host calls
 * @param unsupported number of calls not held by the capture itself
 */
public record IreeReplay(FlightRecording recording, long operations, long leftOut, long unsupported) {
    /**
     * Reads a file.
     *
     * @param file a capture of version 2
     * @return the submissions to queues
     * @throws IOException when the file cannot be read
     * @throws io.github.iree4j.status.IreeException DATA_LOSS for a truncated or damaged file, INVALID_ARGUMENT for
     *     another file, UNIMPLEMENTED for another version
     */
    public static IreeReplay read(Path file) throws IOException {
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
            return new IreeReplayReader(file.toString(), channel).read();
        }
    }

    @Override
    public String toString() {
        return "%d operations of queues; left out: %d other calls, the contents of buffers, executables and commands; %d calls were not captured; a capture has no times, frontiers or decisions"
                .formatted(operations, leftOut, unsupported);
    }
}
