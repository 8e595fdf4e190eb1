package io.github.iree4j.spring.actuate.endpoint;

import io.github.iree4j.flight.ExportFormat;
import io.github.iree4j.flight.FlightRecorder;
import io.github.iree4j.flight.OperationGraph;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import org.springframework.boot.actuate.endpoint.annotation.Selector;
import org.springframework.boot.actuate.endpoint.web.annotation.EndpointWebExtension;
import org.springframework.core.io.ByteArrayResource;
import org.springframework.core.io.Resource;
import org.springframework.http.MediaType;

/**
 * {@link EndpointWebExtension @EndpointWebExtension} of {@link IreeEndpoint} exporting the contents of the flight
 * recorder as files. An export of a full ring takes seconds: one is made at once, regardless of the number of clients, on
 * a thread of the extension, and {@value #MOST_WAITING} wait; others are refused at once. Thread-safe.
 */
@EndpointWebExtension(endpoint = IreeEndpoint.class)
public final class IreeEndpointWebExtension implements AutoCloseable {

    /** The number of requests that wait for others. */
    static final int MOST_WAITING = 4;

    private final LongRequests exports;
    private final @Nullable FlightRecorder recorder;

    /**
     * Creates an extension.
     *
     * @param recorder the flight recorder; null for none
     * @param detaches whether operations return a future of the response, as Spring MVC permits, and hold no thread of
     *     the server; otherwise operations wait for the response
     */
    public IreeEndpointWebExtension(@Nullable FlightRecorder recorder, boolean detaches) {
        this.recorder = recorder;
        this.exports = new LongRequests(1, MOST_WAITING, "recording is being exported", "iree4j-export", detaches);
    }

    /**
     * Exports the contents of the flight recorder.
     *
     * @param part recording
     * @param action export
     * @param format iree4j for a file readable by {@code bin/iree4j}; perfetto, otlp, scenario, trace or problems
     * @return the contents of the file, or null when there is no recorder, or no such format; status 503 when too many
     *     requests wait, with {@code Retry-After} if detached
     */
    @ReadOperation(produces = MediaType.APPLICATION_OCTET_STREAM_VALUE)
    public @Nullable Object export(@Selector String part, @Selector String action, @Selector String format) {
        FlightRecorder source = recorder;
        if (source == null || !part.equals("recording") || !action.equals("export")) {
            return null;
        }
        return switch (format) {
            case "iree4j" -> answer(() -> source.recording().toBytes());
            case "perfetto" -> answer(() -> bytes(source, ExportFormat.PERFETTO));
            case "otlp" -> answer(() -> bytes(source, ExportFormat.OTLP));
            case "scenario" -> answer(() -> bytes(source, ExportFormat.SCENARIO));
            case "trace" -> answer(() -> bytes(source, ExportFormat.TRACE));
            case "problems" -> answer(() -> bytes(source, ExportFormat.PROBLEMS));
            default -> null;
        };
    }

    Object answer(Supplier<byte[]> file) {
        return exports.answer(MediaType.APPLICATION_OCTET_STREAM, () -> (Resource) new ByteArrayResource(file.get()));
    }

    private static byte[] bytes(FlightRecorder recorder, ExportFormat format) {
        ByteArrayOutputStream target = new ByteArrayOutputStream();
        try {
            format.write(new OperationGraph(recorder.recording()), target);
        } catch (IOException e) {
            throw new IllegalStateException(e); // never thrown by a stream in memory
        }
        return target.toByteArray();
    }

    /** Refuses further exports. Exports in progress end, and the requests get their responses. */
    @Override
    public void close() {
        exports.close();
    }
}
