package io.github.iree4j.spring.actuate.endpoint;

import java.time.Instant;
import java.util.List;

/**
 * The largest values of gauges since a previous response.
 *
 * @param cursor for the next request
 * @param since beginning of the time that the values are of; later than the previous response if more than
 *     {@value Peaks#KEPT} responses were given since
 * @param calls calls in flight at once, made through {@code InvocationOperations}, or in flight now
 * @param busyWorkers workers awake at once
 * @param queues the queues
 * @param memory the devices
 */
public record PeaksDescriptor(
        long cursor, Instant since, int calls, int busyWorkers, List<OfQueue> queues, List<OfMemory> memory) {

    /**
     * A queue.
     *
     * @param name device and number
     * @param pending operations at once not yet issued
     * @param inFlight issued operations at once
     */
    public record OfQueue(String name, long pending, long inFlight) {}

    /**
     * The memory of a device.
     *
     * @param device the device's name
     * @param live bytes in use at once
     */
    public record OfMemory(String device, long live) {}
}
