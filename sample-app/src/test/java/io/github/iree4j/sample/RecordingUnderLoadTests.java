package io.github.iree4j.sample;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.flight.FlightEvent;
import io.github.iree4j.flight.FlightRecording;
import io.github.iree4j.flight.Forecast;
import io.github.iree4j.flight.LongestPath;
import io.github.iree4j.flight.OperationGraph;
import io.github.iree4j.flight.Replay;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.SpringBootTest.WebEnvironment;
import org.springframework.boot.test.web.server.LocalServerPort;
import org.springframework.test.annotation.DirtiesContext;

/** A recording of the sample under load, taken as in production: through the endpoint, while requests are served. */
@SpringBootTest(webEnvironment = WebEnvironment.RANDOM_PORT, properties = "iree.recorder.enabled=true")
@DirtiesContext // a process has one recorder
@Timeout(600)
class RecordingUnderLoadTests {
    private static final int CLIENTS = 8;
    private static final int REQUESTS = 25; // of each
    private static final Pattern CURSOR = Pattern.compile("\"cursor\":(\\d+)");
    private static final Pattern NUMBER = Pattern.compile("\\{\"number\":(\\d+),\"time\"");

    @LocalServerPort
    private int port;

    @TempDir
    private Path folder;

    private final HttpClient client = HttpClient.newHttpClient();

    private URI uri(String path) {
        return URI.create("http://localhost:" + port + path);
    }

    private void post(String path, String body) throws Exception {
        HttpResponse<String> response = client.send(
                HttpRequest.newBuilder(uri(path))
                        .header("Content-Type", "application/json")
                        .POST(BodyPublishers.ofString(body))
                        .build(),
                BodyHandlers.ofString());
        assertThat(response.statusCode()).as(response.body()).isEqualTo(200);
    }

    private void request(int number) throws Exception {
        List<HandwrittenDigits.Sample> samples = HandwrittenDigits.load().heldOut();
        String pixels = Arrays.toString(samples.get(number % samples.size()).pixels());
        String dots = "1,".repeat(1023) + "0";
        switch (number % 4) {
            case 0 -> post("/digits", "{\"pixels\": %s}".formatted(pixels));
            case 1 ->
                post(
                        "/models/digits/classify",
                        "{\"inputs\": [{\"shape\": [1, 64], \"type\": \"f32\", \"data\": %s}]}".formatted(pixels));
            case 2 -> post("/scans", "{\"shape\": [1, 1024], \"type\": \"f32\", \"data\": [%s]}".formatted(dots));
            default ->
                post(
                        "/v2/models/scans/infer",
                        "{\"inputs\": [{\"name\": \"input0\", \"shape\": [1, 1024], \"datatype\": \"FP32\", \"data\": [%s]}]}"
                                .formatted(dots));
        }
    }

    private String page(long since) throws Exception {
        return client.send(
                        HttpRequest.newBuilder(uri("/actuator/iree/recording?since=" + since))
                                .build(),
                        BodyHandlers.ofString())
                .body();
    }

    private FlightRecording export(String name) throws Exception {
        Path file = folder.resolve(name);
        client.send(
                HttpRequest.newBuilder(uri("/actuator/iree/recording/export/iree4j"))
                        .build(),
                BodyHandlers.ofFile(file));
        return FlightRecording.read(file);
    }

    @Test
    void isReplayedWithTheSameFrontiersDecisionsAndCriticalPath() throws Exception {
        TreeSet<Long> seen = new TreeSet<>();
        List<Future<?>> clients = new ArrayList<>();
        FlightRecording during = null;
        try (ExecutorService threads = Executors.newFixedThreadPool(CLIENTS)) {
            for (int i = 0; i < CLIENTS; i++) {
                int first = i;
                clients.add(threads.submit(() -> {
                    for (int j = 0; j < REQUESTS; j++) {
                        request(first + j);
                    }
                    return null;
                }));
            }
            long next = 0;
            boolean over;
            do {
                over = clients.stream().allMatch(Future::isDone);
                String page = page(next);
                Matcher cursor = CURSOR.matcher(page);
                assertThat(cursor.find()).as(page).isTrue();
                next = Long.parseLong(cursor.group(1));
                for (MatchResult each : NUMBER.matcher(page).results().toList()) {
                    assertThat(seen.add(Long.parseLong(each.group(1))))
                            .as("new: %s", each.group())
                            .isTrue();
                }
                over &= !page.contains("\"more\":true");
                during = during == null && seen.size() > 500 ? export("during.iree4j") : during;
            } while (!over);
            for (Future<?> each : clients) {
                each.get();
            }
        }
        FlightRecording recording = export("after.iree4j");
        assertThat(recording.header().completeFrom()).isZero();
        Set<Long> numbers = recording.events().stream()
                .map(FlightEvent::sequence)
                .filter(number -> number <= seen.last())
                .collect(Collectors.toCollection(TreeSet::new));
        assertThat(seen).as("each record was in exactly one page").isEqualTo(numbers);

        for (FlightRecording each : during == null ? List.of(recording) : List.of(during, recording)) {
            Replay replay = Replay.of(each);
            assertThat(replay.toString()).endsWith("no differences");
            assertThat(replay.behindGaps()).isZero();
            LongestPath.assertIsCriticalPath(each, "the sample under load");
        }
        OperationGraph graph = new OperationGraph(recording);
        assertThat(graph.operations().stream()
                        .filter(each -> each.call() > 0)
                        .map(each -> each.function() + each.call())
                        .distinct())
                .as("calls")
                .hasSizeGreaterThanOrEqualTo(CLIENTS * REQUESTS / 4);
        System.out.printf(
                "the sample under load: %d records of %d operations in %d bytes, %s%n",
                recording.events().size(), graph.operations().size(), recording.toBytes().length, Replay.of(recording));
        Forecast more = Forecast.of(recording, new Forecast.Hardware(0, 2, 120));
        System.out.println("with a second device and 20 % more memory: " + more);
        assertThat(more.notEnded()).isZero();
        if (System.getProperty("iree4j.recording") instanceof String target) {
            Files.copy(folder.resolve("after.iree4j"), Path.of(target)); // for a look by hand
        }
    }
}
