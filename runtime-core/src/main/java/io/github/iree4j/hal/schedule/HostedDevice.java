package io.github.iree4j.hal.schedule;

import io.github.iree4j.hal.Device;
import io.github.iree4j.status.IreeException;

/** The inside of a device whose memory and code are the CPU's and whose queues run on other hardware, see {@link QueueHardware}. */
public interface HostedDevice extends Device {
    /**
     * Says that the hardware is lost: all that waits fails with the cause, all that is submitted from now on, and every group of
     * participants in collectives that one of this device belongs to. What was issued the hardware completes.
     *
     * @param cause why
     */
    void lost(IreeException cause);
}
