package io.github.iree4j.hal.gpu;

import io.github.iree4j.Effort;
import io.github.iree4j.hal.stream.RecordedStreams;
import io.github.iree4j.nativeaccess.gpu.GpuKind;
import java.nio.file.Path;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The flight recorder on GPUs, on libraries without hardware. */
@Timeout(300)
class RecordedGpuTest {
    @TempDir
    private Path directory;

    @ParameterizedTest
    @EnumSource(GpuKind.class)
    void beginsAndEndsAreRecorded(GpuKind kind) throws Exception {
        RecordedStreams.assertBeginsAndEndsAreRecorded(GpuDrivers.fake(directory, kind, ""));
    }

    @ParameterizedTest
    @EnumSource(GpuKind.class)
    void dispatchesAreListedWithoutTimes(GpuKind kind) throws Exception {
        RecordedStreams.assertDispatchesAreListedWithoutTimes(GpuDrivers.fake(directory, kind, ""), GpuKernels::load);
    }

    @ParameterizedTest
    @EnumSource(GpuKind.class)
    void randomWorkIsReplayed(GpuKind kind) throws Exception {
        for (long seed = Effort.seed(7); seed < Effort.seed(7) + 5; seed++) {
            RecordedStreams.assertRandomWorkIsReplayed(GpuDrivers.fake(directory, kind, ""), seed);
        }
        System.out.println(kind + ": " + "differences of recorded random work: " + RecordedStreams.differences());
    }
}
