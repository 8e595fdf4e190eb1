package io.github.iree4j.hal.programs;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.Effort;
import io.github.iree4j.hal.programs.QueueProgram.Backend;
import io.github.iree4j.hal.vulkan.NothingWrong;
import io.github.iree4j.hal.vulkan.VulkanDrivers;
import java.nio.file.Path;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/**
 * Random programs of queue operations on real devices and threads match a sequential interpretation, byte by byte.
 *
 * <p><b>Covered.</b> One to three devices per program: CPUs with few workers, CUDA and HIP without hardware, Vulkan
 * where there is a driver; up to 20 queues each, with timelines across all of them. Memory allocated and freed in queue
 * order, late or never, with all handles closed early or late; fills, updates, copies, dispatches, shared command
 * buffers, barriers, host calls, and deferred calls with an end at any time on other threads. Values signalled by hand,
 * with gaps, from outside, by racing threads; fences of up to eight points of timelines continued by others at once.
 * Frontiers of 1 to 255 entries, short histories. Failures: throwing calls, later failures, timelines failed by hand,
 * ranges out of bounds, use after deallocation. Budgets from 1.05 times the need. Submission by up to four threads, in
 * any order.
 *
 * <p><b>Checked.</b> Every byte seen by a host call or at the end; required successes and failures, and no success
 * behind a failure; a root for each failure among the node's dependencies; an end of everything, without a leftover
 * operation or byte; no endless overtaking of anybody in a wait for memory.
 *
 * <p><b>Other habits.</b> {@code RandomGraphContract} and {@code MixedAllocationTest} derive waits from accesses, give
 * each operation or invocation a separate timeline, and write whole buffers of the same mark; the checkers in {@code
 * hal.virtual} have no threads and no bytes of devices. nothing here is shared with them.
 *
 * <p>A failing program is printed with the seed; {@code -Diree4j.test.seed=S -Diree4j.test.rounds=1} repeats the
 * program.
 */
@Tag("long")
@ExtendWith(NothingWrong.class)
class QueueProgramsTest {
    @TempDir
    private Path directory;

    private final Map<Verdicts.Verdict, Integer> verdicts = new EnumMap<>(Verdicts.Verdict.class);
    private final Map<Backend, Integer> backends = new EnumMap<>(Backend.class);
    private long waited;

    @Test
    void programsMatchASequentialRun() throws Exception {
        runAll(EnumSet.complementOf(EnumSet.of(Backend.VULKAN)), Effort.rounds(1_600, 32_000));
    }

    @Test
    void programsWithVulkanDoSoToo() throws Exception {
        VulkanDrivers.withoutLayer(); // skips the test when there is none
        runAll(EnumSet.allOf(Backend.class), Effort.rounds(400, 8_000));
    }

    @Test
    void whoeverWaitsForMemoryHasATurn() throws Exception {
        ProgramDevices devices = new ProgramDevices(directory);
        int count = Effort.rounds(80, 800);
        long first = Effort.seed(QueueProgramsTest.class, count + " crowds", 1);
        for (long seed = first; seed < first + count; seed++) {
            run(ProgramGenerator.crowd(seed, EnumSet.complementOf(EnumSet.of(Backend.VULKAN))), devices);
        }
    }

    private void runAll(Set<Backend> present, int count) throws Exception {
        ProgramDevices devices = new ProgramDevices(directory);
        long first = Effort.seed(QueueProgramsTest.class, count + " programs", 1);
        for (long seed = first; seed < first + count; seed++) {
            run(ProgramGenerator.mix(seed, present), devices);
        }
        if (count < 40) {
            return; // a given seed
        }
        // The test proves nothing unless these cases occurred.
        assertThat(verdicts.values()).hasSize(3).allMatch(n -> n > count);
        assertThat(present).allMatch(b -> backends.getOrDefault(b, 0) > count / 20);
        // Fewer wait the faster the devices are: 5 to 20 in 50 programs.
        assertThat(waited).as("requests waiting for memory").isGreaterThan(count / 25);
    }

    private void run(QueueProgram program, ProgramDevices devices) throws Exception {
        ProgramRun.Outcome outcome = ProgramRun.run(program, program, devices);
        assertThat(outcome.wrong()).as(program::dump).isEmpty();
        devices.assertNothingToComplainOf();
        Verdicts all = new Verdicts(program);
        program.nodes().forEach(n -> verdicts.merge(all.of(n), 1, Integer::sum));
        program.setup().devices().forEach(d -> backends.merge(d.backend(), 1, Integer::sum));
        waited += outcome.waited();
    }

    /** The checker is worth something. */
    @Test
    void bytesTellWhereOrderIsMissing() throws Exception {
        ProgramDevices devices = new ProgramDevices(directory);
        long first = Effort.seed(QueueProgramsTest.class, "programs without order", 1);
        for (long seed = first; seed < first + 200; seed++) {
            QueueProgram program = ProgramGenerator.mix(seed, EnumSet.of(Backend.CPU));
            ProgramRun.Outcome outcome = ProgramRun.run(program.withEarlyCommands(), program, devices);
            if (outcome.wrong().stream().anyMatch(w -> w.contains(" at byte "))) {
                return;
            }
        }
        throw new AssertionError("no byte was wrong in any program");
    }
}
