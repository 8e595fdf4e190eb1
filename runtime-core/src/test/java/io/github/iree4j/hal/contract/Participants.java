package io.github.iree4j.hal.contract;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.DeviceQueue;

/**
 * The participants of collectives: a device for each rank, or a queue of a device. Close before the {@link Backend}.
 */
public interface Participants extends AutoCloseable {
    /** Number of ranks. */
    int COUNT = 5;

    /** The device of a rank, 0 to 4; ranks may share a device. Closed with this. */
    Device device(int rank);

    /** The queue of a rank, shared by no other rank. */
    default DeviceQueue queue(int rank) {
        return device(rank).queue(0);
    }

    /** Closes the devices, and fails if memory is still in use. */
    @Override
    void close();

    /** Participants on the queues of a single private device. */
    static Participants onQueuesOf(Device device) {
        return new Participants() {
            @Override
            public Device device(int rank) {
                return device;
            }

            @Override
            public DeviceQueue queue(int rank) {
                return device.queue(rank);
            }

            @Override
            public void close() {
                assertThat(device.allocator().statistics().bytesLive())
                        .as("bytes still in use")
                        .isZero();
                device.close();
            }
        };
    }
}
