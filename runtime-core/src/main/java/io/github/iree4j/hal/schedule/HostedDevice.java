package io.github.iree4j.hal.schedule;

import io.github.iree4j.hal.Device;
import io.github.iree4j.status.IreeException;

/** The internal view of a device whose memory and code are the CPU's and whose queues run on other hardware, see {@link QueueHardware}. */
public interface HostedDevice extends Device {
    /**
     * Reports the loss of the hardware. Pending operations, later submissions, and every collective group that has a participant
     * on this device fail with the cause. The hardware completes the operations that were issued.
     *
     * @param cause the cause
     */
    void lost(IreeException cause);
}
