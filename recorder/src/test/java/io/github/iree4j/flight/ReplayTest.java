package io.github.iree4j.flight;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.Effort;
import java.io.IOException;
import org.junit.jupiter.api.Test;

class ReplayTest {
    private static final long SEED = Effort.seed(20261123);

    @Test
    void replayHasTheSameFrontiersAndDecisions() throws IOException {
        for (long seed = SEED; seed < SEED + 100; seed++) {
            FlightRecording recording = FlightRecorderTest.record(seed, 80);
            Replay replay = Replay.of(recording);
            assertThat(replay.differences()).as("seed %d", seed).isEmpty();
            assertThat(replay.operations()).as("seed %d", seed).isEqualTo(80);
            assertThat(replay.leftOut()).isZero();
            assertThat(replay.waits()).as("seed %d", seed).isGreaterThan(20);
            assertThat(replay.frontiers()).as("seed %d", seed).isGreaterThan(20);
        }
    }

    /** A timeline asked about an older signal answers with the oldest signal remembered. */
    @Test
    void timelinesWithForgottenSignalsAreReplayed() throws IOException {
        for (long seed = SEED; seed < SEED + 20; seed++) {
            FlightRecording recording = FlightRecorderTest.record(seed, 300);
            Replay replay = Replay.of(recording);
            assertThat(replay.differences()).as("seed %d: %s", seed, replay).isEmpty();
            assertThat(replay.reordered()).as("seed %d", seed).isZero();
            LongestPath.assertIsCriticalPath(recording, "seed " + seed);
        }
    }

    @Test
    void operationsEndOnTheVirtualClockAtTheirRecordedTimes() throws IOException {
        for (long seed = SEED; seed < SEED + 100; seed++) {
            try (RandomWork work = new RandomWork(seed, 64 << 10);
                    FlightRecorder recorder =
                            FlightRecorder.open(work.domain, RecorderOptions.DEFAULTS, work.clock::now)) {
                work.run(80);
                Replay replay = Replay.of(recorder.recording());
                assertThat(replay.ends()).as("seed %d", seed).isEqualTo(replay.frontiers());
                assertThat(replay.deviation()).as("seed %d: %s", seed, replay).isZero();
                assertThat(replay.differences()).as("seed %d", seed).isEmpty();
            }
        }
    }
}
