package io.github.iree4j.spring.actuate.endpoint;

import io.github.iree4j.flight.ExportFormat;
import io.github.iree4j.flight.FlightRecorder;
import io.github.iree4j.flight.FlightRecording;
import io.github.iree4j.flight.OperationGraph;
import io.github.iree4j.lab.Laboratory;
import io.github.iree4j.lab.Scenario;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.zip.Inflater;
import java.util.zip.InflaterInputStream;
import org.jspecify.annotations.Nullable;

/** The sources of scenarios for requests: the runtime, the request itself, or the flight recorder. Safe from any thread. */
final class LabScenarios {

    /** Id of a scenario contained in the request. */
    static final String OWN = "own";

    /** Id of a scenario made from records. */
    static final String RECORDED = "recorded";

    /** The maximum length of a scenario contained in a request, in bytes of UTF-8. */
    static final int MOST_BYTES = 65_536;

    /** The maximum number of records in a scenario. */
    static final int MOST_RECORDS = 16_000;

    private final @Nullable FlightRecorder recorder;

    LabScenarios(@Nullable FlightRecorder recorder) {
        this.recorder = recorder;
    }

    /**
     * Finds a scenario.
     *
     * @param id the scenario's id
     * @param text for {@link #OWN}, the scenario's text: UTF-8, as a raw deflate stream, in Base64 for URLs
     * @param opened for {@link #RECORDED}, the opening time of the recorder
     * @param since for {@link #RECORDED}, the first record
     * @param until for {@link #RECORDED}, the record after the last
     */
    Scenario find(
            String id, @Nullable String text, @Nullable String opened, @Nullable Long since, @Nullable Long until) {
        return switch (id) {
            case OWN -> Laboratory.read(unpack(required("text", text)));
            case RECORDED -> {
                if (recorder == null) {
                    throw IreeException.of(
                            StatusCode.NOT_FOUND,
                            "there is no flight recorder; set iree.recorder.enabled=true to have one");
                }
                if (opened == null) {
                    throw invalid("parameter 'recorder' is missing, and recorders number their records alike;"
                            + " open the recording in Live");
                }
                yield recorded(recorder, opened, required("since", since), required("until", until));
            }
            default -> Laboratory.scenario(id);
        };
    }

    private static <T> T required(String name, @Nullable T value) {
        if (value == null) {
            throw invalid("parameter '%s' is missing".formatted(name));
        }
        return value;
    }

    /** Unpacks a text. Reads no more than the limit, regardless of the text's expanded size. */
    private static String unpack(String text) {
        byte[] packed;
        try {
            packed = Base64.getUrlDecoder().decode(text);
        } catch (IllegalArgumentException e) {
            throw invalid("parameter 'text' is not Base64 for URLs: " + e.getMessage());
        }
        Inflater inflater = new Inflater(true);
        try (InputStream unpacked = new InflaterInputStream(new ByteArrayInputStream(packed), inflater)) {
            byte[] scenario = unpacked.readNBytes(MOST_BYTES + 1);
            if (scenario.length > MOST_BYTES) {
                throw invalid(
                        "the scenario has more than %d bytes; run it with 'bin/iree4j lab run FILE --json' and open the result"
                                .formatted(MOST_BYTES));
            }
            return StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(ByteBuffer.wrap(scenario))
                    .toString();
        } catch (CharacterCodingException e) {
            throw invalid("parameter 'text' is not a deflate stream of UTF-8");
        } catch (IOException e) {
            throw invalid("parameter 'text' is not a deflate stream: " + e.getMessage());
        } finally {
            inflater.end();
        }
    }

    private static Scenario recorded(FlightRecorder recorder, String opened, long since, long until) {
        if (since < 0 || until <= since || until - since > MOST_RECORDS) {
            throw invalid("records %d to %d are not 1 to %d of them".formatted(since, until, MOST_RECORDS));
        }
        FlightRecording recording = recorder.since(since, (int) (until - since));
        if (!recording.header().start().toString().equals(opened)) {
            throw IreeException.of(
                    StatusCode.NOT_FOUND,
                    "the records are of a recorder that was opened at %s, and this one was opened at %s: the application was restarted; open its recording in Live"
                            .formatted(opened, recording.header().start()));
        }
        if (recording.header().completeFrom() > since) {
            throw IreeException.of(
                    StatusCode.NOT_FOUND,
                    "the recorder has dropped records below %d, and record %d was asked for; open the recording again"
                            .formatted(recording.header().completeFrom(), since));
        }
        ByteArrayOutputStream yaml = new ByteArrayOutputStream();
        try {
            ExportFormat.SCENARIO.write(new OperationGraph(recording), yaml);
        } catch (IOException e) {
            throw new IllegalStateException(e); // never thrown by a stream in memory
        }
        return Laboratory.read(yaml.toString(StandardCharsets.UTF_8));
    }

    private static IreeException invalid(String message) {
        return IreeException.of(StatusCode.INVALID_ARGUMENT, message);
    }
}
