package io.github.iree4j.hal.vulkan;

import io.github.iree4j.Effort;
import io.github.iree4j.hal.stream.RecordedStreams;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The flight recorder on Vulkan, on a library without hardware. */
@Timeout(300)
class RecordedVulkanTest {
    @TempDir
    private Path directory;

    @Test
    void beginsAndEndsAreRecorded() throws Exception {
        RecordedStreams.assertBeginsAndEndsAreRecorded(FakeDriver.in(directory, ""));
    }

    @Test
    void dispatchesAreListedWithoutTimes() throws Exception {
        RecordedStreams.assertDispatchesAreListedWithoutTimes(FakeDriver.in(directory, ""), VulkanKernels::load);
    }

    @Test
    void randomWorkIsReplayed() throws Exception {
        for (long seed = Effort.seed(7); seed < Effort.seed(7) + 5; seed++) {
            RecordedStreams.assertRandomWorkIsReplayed(FakeDriver.in(directory, ""), seed);
        }
        System.out.println("differences of recorded random work: " + RecordedStreams.differences());
    }
}
