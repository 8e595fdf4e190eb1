package io.github.iree4j.hal.pool;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.Effort;
import io.github.iree4j.async.FrontierTracker;
import io.github.iree4j.frontier.Frontier;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;

/** A mix of sizes as models have them, for a long time: how much memory it takes beside what is in use. The time it takes is printed. */
@Tag("long")
class FragmentationTest {
    private static final int OPERATIONS = Effort.rounds(300_000, 10_000_000);
    private static final long MB = 1 << 20;
    private static final long BUDGET = 2048 * MB;

    /** Of a hundred requests 80 are small, 18 of about 1 MB and 2 of about 64 MB; the last are most of the bytes. */
    private static long size(Random random) {
        int kind = random.nextInt(100);
        if (kind < 80) {
            return 1 + random.nextInt(16 << 10);
        }
        return kind < 98 ? MB / 2 + random.nextInt((int) MB) : 48 * MB + random.nextInt((int) (32 * MB));
    }

    private static PoolSet set(SlabProvider provider) {
        return PoolSet.builder(provider, FrontierTracker.create())
                .budget(BUDGET)
                .pool(PoolOptions.tlsf("general", 2 * MB, 64 * MB).withSizes(0, 16 * MB))
                .pool(PoolOptions.passThrough("large").withRetained(256 * MB))
                .build();
    }

    @Test
    void aLongMixOfSizesLosesNoMoreThanSlabsDouble() {
        FakeSlabs slabs = new FakeSlabs();
        PoolSet set = set(slabs);
        Random random = new Random(Effort.seed(FragmentationTest.class, OPERATIONS + " operations", 1));
        Reservation[] held = new Reservation[512];
        long refused = 0;
        double worst = 0;
        long start = ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
        for (int i = 0; i < OPERATIONS; i++) {
            int at = random.nextInt(held.length);
            if (held[at] != null) {
                held[at].release(Frontier.EMPTY);
                held[at] = null;
                continue;
            }
            held[at] = set.tryReserve(ReservationRequest.of(size(random)));
            refused += held[at] == null ? 1 : 0;
            if (i % 10_000 == 9_999) {
                PoolStatistics general = set.pools().getFirst().statistics();
                worst = Math.max(worst, (double) general.bytesReserved() / general.bytesPeak());
            }
        }
        double nanos = (double) (ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime() - start) / OPERATIONS;
        set.pools().forEach(Pool::verify);
        PoolSetStatistics now = set.statistics();
        System.out.printf(
                "%d operations, %.0f ns each, %d refused; general pool holds at most %.2f times its peak; %s%n",
                OPERATIONS, nanos, refused, worst, now.pools());
        // Slabs double what there is, so half of it may not have been needed; fragmentation adds next to nothing to
        // that.
        assertThat(worst).as("slabs per byte ever in use at once").isLessThan(2.1);
        assertThat(refused).as("the mix fits").isLessThan(OPERATIONS / 50);
        for (Reservation each : held) {
            if (each != null) {
                each.release(Frontier.EMPTY);
            }
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
        assertThat(inUse - resident()).as("bytes that the process gave back").isGreaterThan(250 * MB);
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
