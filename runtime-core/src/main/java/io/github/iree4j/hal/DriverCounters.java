package io.github.iree4j.hal;

import io.github.iree4j.api.NotForApplications;

/**
 * Driver resources used by a device now.
 *
 * @param streams streams of the driver used by the device's queues
 * @param events events made by the driver for the streams; steady while work is
 * @param held submissions waiting on the host, not yet acceptable to the driver; may be too high by one during a
 *     submission
 * @param graphLaunches graphs launched so far through the driver, instead of the commands of a recording
 */
@NotForApplications
public record DriverCounters(int streams, long events, long held, long graphLaunches) {
    /** For a device without a driver, such as a CPU. */
    public static final DriverCounters NONE = new DriverCounters(0, 0, 0, 0);
}
