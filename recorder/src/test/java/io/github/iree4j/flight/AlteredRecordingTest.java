package io.github.iree4j.flight;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.iree4j.Effort;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Recordings with correct checksums and incorrect records: words of others, huge counts and numbers, records twice or
 * missing.
 */
@Timeout(300)
class AlteredRecordingTest {
    private static final long SEED = Effort.seed(20261127);
    private static final long[] ODD = {
        0, 1, 2, 3, -1, 255, 4096, 65_535, 1L << 32, (1L << 32) - 1, 1L << 40, 1L << 62, Long.MAX_VALUE, Long.MIN_VALUE
    };

    @Test
    void alteredRecordsGetAStatusOrAreUsedAsTheyAre() throws IOException {
        for (long seed = SEED; seed < SEED + Effort.rounds(2000); seed++) {
            check(seed);
        }
    }

    @Test
    void pathOfOperationsInARowEnds() throws IOException {
        check(20262390);
    }

    private static void check(long seed) throws IOException {
        Random random = new Random(seed);
        FlightRecording recording = switch (random.nextInt(3)) {
            case 0 -> FlightRecorderTest.record(seed, 20 + random.nextInt(40));
            case 1 -> HostSignalsTest.record(seed, random.nextBoolean());
            default -> ClockedKernels.record(seed);
        };
        check("seed " + seed, recording, altered(recording.records(), random), random.nextInt(10) == 0);
    }

    @Test
    void replayTooLargeForTheHeapIsRefused() throws IOException {
        OperationGraph graph = new OperationGraph(FlightRecorderTest.record(SEED, 100));
        ReplaySize.check(graph, 100 * 16 << 10);
        assertThatThrownBy(() -> ReplaySize.check(graph, 100 * 4 << 10))
                .isInstanceOfSatisfying(
                        IreeException.class, e -> assertThat(e.code()).isEqualTo(StatusCode.RESOURCE_EXHAUSTED))
                .hasMessageContaining("100 operations")
                .hasMessageContaining("-Xmx");
    }

    @Test
    void fenceOfMorePointsThanAnyIsRecordedWithIsDamage() throws IOException {
        FlightRecording recording = FlightRecorderTest.record(SEED, 1);
        int points = RecordingObserver.MAXIMUM_POINTS + 1;
        RecordWords records = new RecordWords();
        records.begin(RecordType.HEADER + 8 + 2 * points);
        records.put(RecordType.header(RecordType.SUBMITTED, RecordType.HEADER + 8 + 2 * points));
        for (long word : new long[] {0, 0, 1, recording.queues().getFirst().axis(), 0, 0, 0, 1, points, 0}) {
            records.put(word);
        }
        for (int i = 0; i < 2 * points; i++) {
            records.put(1);
        }
        assertThatThrownBy(() -> new FlightRecording(
                        recording.header(), recording.names(), recording.queues(), recording.pools(), records))
                .isInstanceOfSatisfying(
                        IreeException.class, e -> assertThat(e.code()).isEqualTo(StatusCode.DATA_LOSS))
                .hasMessageContaining("4097 points");
    }

    @Test
    void memoryBeyondAllAddressesIsDamage() throws IOException {
        FlightRecording recording = FlightRecorderTest.record(SEED, 60);
        RecordWords records = new RecordWords();
        reserved(records, 1, Long.MAX_VALUE, 1);
        assertThatThrownBy(() -> new FlightRecording(
                        recording.header(), recording.names(), recording.queues(), recording.pools(), records))
                .isInstanceOfSatisfying(
                        IreeException.class, e -> assertThat(e.code()).isEqualTo(StatusCode.DATA_LOSS))
                .hasMessageContaining("memory of 1 bytes at 9223372036854775807");
    }

    @Test
    @Timeout(60)
    void manyReservationsBelowALongReservationAreReadInProportionalTime() throws IOException {
        FlightRecording recording = FlightRecorderTest.record(SEED, 60);
        RecordWords records = new RecordWords();
        int count = 150_000;
        reserved(records, 1, 0, 1L << 40);
        released(records, 1);
        for (int i = 2; i < count; i++) {
            reserved(records, i, i * 8L, 8);
            released(records, i);
        }
        OperationGraph graph = new OperationGraph(new FlightRecording(
                recording.header(), recording.names(), recording.queues(), recording.pools(), records));
        for (int i = 2; i < count; i += 997) {
            assertThat(graph.memory().earlierUse(i)).extracting("reservation").isEqualTo(1L);
        }
    }

    private static void reserved(RecordWords records, long reservation, long offset, long length) {
        record(
                records,
                RecordType.RESERVED,
                2 * reservation,
                reservation,
                0,
                1,
                length,
                offset,
                0,
                0,
                0,
                0,
                0,
                0,
                0,
                0);
    }

    private static void released(RecordWords records, long reservation) {
        record(records, RecordType.RELEASED, 2 * reservation + 1, reservation, 0, 0);
    }

    private static void record(RecordWords records, int type, long sequence, long... words) {
        records.begin(RecordType.HEADER + words.length);
        records.put(RecordType.header(type, RecordType.HEADER + words.length));
        records.put(sequence);
        records.put(sequence);
        for (long each : words) {
            records.put(each);
        }
    }

    private static RecordWords altered(RecordWords records, Random random) {
        long[] words = records.words();
        for (int i = 1 + random.nextInt(6); i > 0; i--) {
            int start = records.start(random.nextInt(records.count()));
            int other = records.start(random.nextInt(records.count()));
            int at = start + 1 + random.nextInt(RecordType.words(words[start]) - 1);
            switch (random.nextInt(5)) {
                case 0 -> words[at] = ODD[random.nextInt(ODD.length)];
                case 1 -> words[at] ^= 1L << random.nextInt(64);
                case 2 -> words[at] += random.nextInt(7) - 3;
                case 3 -> words[at] = words[other + 1 + random.nextInt(RecordType.words(words[other]) - 1)];
                default -> {
                    if (RecordType.words(words[start]) == RecordType.words(words[other])) {
                        System.arraycopy(words, other, words, start, RecordType.words(words[other]));
                    }
                }
            }
        }
        RecordWords result = new RecordWords();
        int change = random.nextInt(4);
        for (int i = 0; i < records.count(); i++) {
            boolean chosen = random.nextInt(20) == 0;
            if (!chosen || change != 1) {
                result.add(words, records.start(i));
            }
            if (chosen && change == 2) {
                result.add(words, records.start(i));
            }
        }
        return result.sorted();
    }

    private static void check(String what, FlightRecording recording, RecordWords records, boolean onDevice) {
        assertThatCode(() -> {
                    try {
                        use(recording, records, onDevice);
                    } catch (IreeException e) {
                        // a status, as expected
                    }
                })
                .as(what)
                .doesNotThrowAnyException();
    }

    private static void use(FlightRecording recording, RecordWords records, boolean onDevice) {
        FlightRecording altered = new FlightRecording(
                recording.header(), recording.names(), recording.queues(), recording.pools(), records);
        OperationGraph graph = new OperationGraph(altered);
        Explanation explanation = new Explanation(graph);
        explanation.summary(100);
        graph.operations().forEach(explanation::explain);
        CriticalPath.of(graph);
        status(() -> Replay.of(altered));
        status(() -> Forecast.of(altered, new Forecast.Hardware(2, 2, 120)));
        for (ExportFormat format : ExportFormat.values()) {
            status(() -> {
                try {
                    format.write(graph, OutputStream.nullOutputStream());
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
            });
        }
        if (onDevice) {
            status(() -> DeviceReplayTest.onCpu(altered, Duration.ofMillis(100)));
        }
    }

    private static void status(Runnable use) {
        try {
            use.run();
        } catch (IreeException e) {
            // as expected; the following records are used too
        }
    }
}
