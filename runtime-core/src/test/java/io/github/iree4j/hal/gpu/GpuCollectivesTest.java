package io.github.iree4j.hal.gpu;

import io.github.iree4j.hal.Collective;
import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.DeviceQueue;
import io.github.iree4j.hal.contract.CollectiveContract;
import io.github.iree4j.hal.contract.CollectiveResultsContract;
import io.github.iree4j.nativeaccess.GpuKind;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

/** The suites of collectives on CUDA and on HIP without hardware, a device for each participant. */
@Timeout(300)
@ParameterizedClass
@EnumSource(GpuKind.class)
class GpuCollectivesTest {
    @TempDir
    private Path directory;

    @Parameter
    private GpuKind kind;

    private GpuRanks ranks;

    @BeforeEach
    void open() {
        ranks = new GpuRanks(directory, kind, "");
    }

    @AfterEach
    void close() {
        ranks.close();
    }

    @Nested
    class Results extends CollectiveResultsContract {
        @Override
        protected Device device(int rank) {
            return ranks.device(rank);
        }

        @Override
        protected DeviceQueue queue(int rank) {
            return ranks.device(rank).queue(0);
        }

        @Override
        protected boolean has(Collective operation) {
            return GpuRanks.has(operation);
        }
    }

    @Nested
    class Meetings extends CollectiveContract {
        @Override
        protected Device device(int rank) {
            return ranks.device(rank);
        }

        @Override
        protected DeviceQueue queue(int rank) {
            return ranks.device(rank).queue(0);
        }

        @Override
        protected int rounds() {
            return 40;
        }
    }
}
