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
 * recorder as files, and limiting the requests that may compute for long, regardless of the number of clients:
 *
 * <ul>
 *   <li>the recording and its exports copy records by the ten thousand: one request at once, on a thread of the
 *       extension;
 *   <li>live, timelines and calls search all pending operations for signallers, which are many in a server that hangs:
 *       {@value #MOST_LOOKS} requests at once, on further threads.
 * </ul>
 *
 * <p>Of each kind {@value #MOST_WAITING} requests wait; others are refused at once. The other parts list devices, queues,
 * programs, timelines of the application, at most {@value MemoryDescriptor#LISTED} blocks of memory per device, at most
 * 100 events, or the problems found by the watchdog at its last look, and are answered by the requesting thread.
 * Thread-safe.
 */
@EndpointWebExtension(endpoint = IreeEndpoint.class)
public final class IreeEndpointWebExtension implements AutoCloseable {

    /** The number of requests for pending work that are answered at the same time. */
    static final int MOST_LOOKS = 2;

    /** The number of requests that wait for others of the same kind. */
    static final int MOST_WAITING = 4;

    private final LongRequests readings;
    private final LongRequests looks;
    private final IreeEndpoint endpoint;
    private final @Nullable FlightRecorder recorder;

    /**
     * Creates an extension.
     *
     * @param endpoint the endpoint
     * @param recorder the flight recorder; null for none
     * @param detaches whether operations return a future of the response, as Spring MVC permits, and hold no thread of
     *     the server; otherwise operations wait for the response
     */
    public IreeEndpointWebExtension(IreeEndpoint endpoint, @Nullable FlightRecorder recorder, boolean detaches) {
        this.endpoint = endpoint;
        this.recorder = recorder;
        this.readings = new LongRequests(1, MOST_WAITING, "recording is being read", "iree4j-recording", detaches);
        this.looks = new LongRequests(
                MOST_LOOKS, MOST_WAITING, "requests for pending work are being answered", "iree4j-look", detaches);
    }

    /**
     * Returns a part.
     *
     * @param part as for {@link IreeEndpoint#part}
     * @param since as for {@link IreeEndpoint#part}
     * @param peaks as for {@link IreeEndpoint#part}
     * @return the part, or null for an unknown name; status 503 when too many requests wait, with {@code Retry-After} if
     *     detached
     */
    @ReadOperation
    public @Nullable Object part(@Selector String part, @Nullable Long since, @Nullable Long peaks) {
        return switch (part) {
            case "recording" ->
                recorder == null ? null : readings.answer(null, () -> endpoint.part(part, since, peaks));
            case "live", "timelines", "calls" -> look(() -> endpoint.part(part, since, peaks));
            default -> endpoint.part(part, since, peaks);
        };
    }

    /**
     * Returns a program, call or pool.
     *
     * @param part as for {@link IreeEndpoint#one}
     * @param name as for {@link IreeEndpoint#one}
     * @return the description, or null when there is no such object; status as for {@link #part}
     */
    @ReadOperation
    public @Nullable Object one(@Selector String part, @Selector String name) {
        return part.equals("calls") ? look(() -> endpoint.one(part, name)) : endpoint.one(part, name);
    }

    Object look(Supplier<?> body) {
        return looks.answer(null, body);
    }

    /**
     * Exports the contents of the flight recorder.
     *
     * @param part recording
     * @param action export
     * @param format iree4j for a file readable by {@code bin/iree4j}; perfetto, otlp, scenario, trace, run or problems
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
            case "run" -> answer(() -> bytes(source, ExportFormat.RUN));
            case "problems" -> answer(() -> bytes(source, ExportFormat.PROBLEMS));
            default -> null;
        };
    }

    Object answer(Supplier<byte[]> file) {
        return readings.answer(MediaType.APPLICATION_OCTET_STREAM, () -> (Resource) new ByteArrayResource(file.get()));
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

    /** Refuses further requests that may compute for long. Requests in progress and waiting get their responses. */
    @Override
    public void close() {
        readings.close();
        looks.close();
    }
}
