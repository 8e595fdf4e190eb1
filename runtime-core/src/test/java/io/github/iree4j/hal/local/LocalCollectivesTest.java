package io.github.iree4j.hal.local;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.DeviceQueue;
import io.github.iree4j.hal.contract.CollectiveContract;
import io.github.iree4j.hal.contract.CollectiveResultsContract;
import io.github.iree4j.hal.spi.DeviceOptions;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Nested;

/** The suites of collectives on the CPU: all participants on one device, each on a queue of its own. */
class LocalCollectivesTest {
    private final Device device = LocalDevices.open(DeviceOptions.builder().queueCount(5));

    @AfterEach
    void close() {
        assertThat(device.allocator().statistics().bytesLive()).isZero();
        device.close();
    }

    @Nested
    class Results extends CollectiveResultsContract {
        @Override
        protected Device device(int rank) {
            return device;
        }

        @Override
        protected DeviceQueue queue(int rank) {
            return device.queue(rank);
        }
    }

    @Nested
    class Meetings extends CollectiveContract {
        @Override
        protected Device device(int rank) {
            return device;
        }

        @Override
        protected DeviceQueue queue(int rank) {
            return device.queue(rank);
        }
    }
}
