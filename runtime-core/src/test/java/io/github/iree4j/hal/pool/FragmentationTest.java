package io.github.iree4j.hal.pool;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.async.FrontierTracker;
import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.hal.pool.RecordedMix.Pipeline;
import io.github.iree4j.hal.pool.RecordedMix.Step;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;

/**
 * Replays recorded reservations and releases of many pipelines at once for a long time, and compares the memory taken with the memory in
 * use. Prints the time taken.
 */
class FragmentationTest {
    private static final boolean LONG = "long".equals(System.getProperty("iree4j.test.effort"));
    private static final int OPERATIONS = LONG ? 10_000_000 : 300_000;
    private static final long MB = 1 << 20;
    private static final long BUDGET = 2048 * MB;
    private static final int PLAYERS = 250;

    /** Replays recorded pipelines one after the other, scaled to the same size. */
    private static final class Player {
        private final List<Pipeline> recording;
        private final Random random;
        private final long largest; // approximate size of a pipeline's largest reservation
        private Pipeline pipeline;
        private double scale;
        private int at;
        private Reservation[] held;
        private int refused;

        Player(List<Pipeline> recording, Random random, long largest) {
            this.recording = recording;
            this.random = random;
            this.largest = largest;
            next();
        }

        /** Of a hundred, 80 are small, 18 of about 1 MB and 2 of about 64 MB, with most of the bytes. */
        static long largest(int player) {
            int kind = player % 50;
            return kind == 0 ? 64 * MB : kind < 10 ? MB : 16 << 10;
        }

        private void next() {
            pipeline = recording.get(random.nextInt(recording.size()));
            // A pipeline with hundreds of small reservations at once would take all memory.
            double size = Math.max(1, Math.max(pipeline.largest(), pipeline.peak() / 8.0));
            scale = largest * (0.75 + random.nextDouble() / 2) / size;
            at = 0;
            held = new Reservation[pipeline.reservations()];
        }

        void step(PoolSet set) {
            if (at == pipeline.steps().size()) {
                end();
                next();
            }
            Step step = pipeline.steps().get(at++);
            int number = step.number();
            if (step.reserves()) {
                ReservationRequest request = ReservationRequest.of((long) (step.bytes() * scale));
                held[number] = set.tryReserve(step.persistent() ? request.asPersistent() : request);
                refused += held[number] == null ? 1 : 0;
            } else if (held[number] != null) {
                held[number].release(Frontier.EMPTY);
                held[number] = null;
            }
        }

        /** Releases everything left by the recording. */
        void end() {
            for (Reservation each : held) {
                if (each != null) {
                    each.release(Frontier.EMPTY);
                }
            }
        }
    }

    private static PoolSet set(SlabProvider provider) {
        return PoolSet.builder(provider, FrontierTracker.create())
                .budget(BUDGET)
                .pool(PoolOptions.tlsf("general", 2 * MB, 64 * MB).withSizes(0, 16 * MB))
                .pool(PoolOptions.passThrough("large").withRetained(256 * MB))
                .build();
    }

    @Test
    void aLongRecordedMixOfSizesLosesNoMoreThanSlabsDouble() throws IOException {
        FakeSlabs slabs = new FakeSlabs();
        PoolSet set = set(slabs);
        Random random = new Random(1);
        List<Pipeline> recording = RecordedMix.load();
        Player[] players = new Player[PLAYERS];
        for (int i = 0; i < PLAYERS; i++) {
            players[i] = new Player(recording, random, Player.largest(i));
        }
        double worst = 0;
        long start = ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
        for (int i = 0; i < OPERATIONS; i++) {
            players[random.nextInt(PLAYERS)].step(set);
            if (i % 10_000 == 9_999) {
                PoolStatistics general = set.pools().getFirst().statistics();
                worst = Math.max(worst, (double) general.bytesReserved() / general.bytesPeak());
            }
        }
        double nanos = (double) (ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime() - start) / OPERATIONS;
        set.pools().forEach(Pool::verify);
        PoolSetStatistics now = set.statistics();
        int refused = Arrays.stream(players).mapToInt(player -> player.refused).sum();
        System.out.printf(
                "%d operations, %.0f ns each, %d refused; general pool holds at most %.2f times its peak; %s%n",
                OPERATIONS, nanos, refused, worst, now.pools());
        // Each slab doubles the total, so half of the total may be unneeded; fragmentation adds next to nothing.
        assertThat(worst).as("slabs per byte ever in use at once").isLessThan(2.1);
        assertThat(refused).as("the mix fits").isLessThan(OPERATIONS / 50);
        assertThat(now.pools()).allSatisfy(pool -> assertThat(pool.reserves()).isGreaterThan(OPERATIONS / 1000));
        for (Player each : players) {
            each.end();
        }
        set.trim();
        assertThat(slabs.bytesOut).isZero();
        assertThat(now.bytesReservedPeak()).isLessThanOrEqualTo(BUDGET);
    }

    @Test
    @EnabledOnOs(OS.LINUX)
    void theSystemHasTheMemoryBackAfterTrim() throws IOException {
        PoolSet set = set(new HostSlabProvider());
        Reservation[] held = new Reservation[4];
        for (int i = 0; i < held.length; i++) {
            held[i] = set.tryReserve(ReservationRequest.of(64 * MB));
        }
        Reservation[] small = new Reservation[100];
        for (int i = 0; i < small.length; i++) {
            small[i] = set.tryReserve(ReservationRequest.of(MB));
        }
        long inUse = resident();
        for (Reservation each : held) {
            each.release(Frontier.EMPTY);
        }
        for (Reservation each : small) {
            each.release(Frontier.EMPTY);
        }
        assertThat(set.statistics().bytesReserved()).as("kept for the next").isGreaterThan(300 * MB);
        assertThat(set.trim()).isGreaterThan(300 * MB);
        assertThat(set.statistics().bytesReserved()).isZero();
        assertThat(inUse - resident()).as("bytes returned to the system").isGreaterThan(250 * MB);
    }

    private static long resident() throws IOException {
        String status = Files.readString(Path.of("/proc/self/status"));
        String line = status.lines()
                .filter(each -> each.startsWith("VmRSS:"))
                .findFirst()
                .orElseThrow();
        return Long.parseLong(line.replaceAll("[^0-9]", "")) << 10;
    }
}
