package io.github.iree4j.hal;

/**
 * What a device uses of its driver, as of now.
 *
 * @param streams the driver's streams that the device's queues use
 * @param events events that the driver has made for them; steady while work is
 * @param held submissions that wait on the host, because the driver cannot be given them yet; may be one too many while one is given
 * @param graphLaunches graphs that the driver was given so far, instead of the commands of a recording
 */
public record DriverCounters(int streams, long events, long held, long graphLaunches) {
    /** For a device without a driver, such as a CPU. */
    public static final DriverCounters NONE = new DriverCounters(0, 0, 0, 0);
}
