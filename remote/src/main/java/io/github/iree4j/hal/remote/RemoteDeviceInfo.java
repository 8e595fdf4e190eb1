package io.github.iree4j.hal.remote;

import java.util.List;

/**
 * A device that a node serves to its peers.
 *
 * @param id its id on that node, for example {@code local}
 * @param driver the name of its driver
 * @param name its name for people
 * @param formats formats of executables that it loads, the preferred one first
 * @param queueCount number of its queues
 * @param memoryLimit most bytes that one peer may allocate on it
 */
public record RemoteDeviceInfo(
        String id, String driver, String name, List<String> formats, int queueCount, long memoryLimit) {
    /** Copies the list. */
    public RemoteDeviceInfo {
        formats = List.copyOf(formats);
    }
}
