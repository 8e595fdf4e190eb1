package io.github.iree4j.hal.remote;

import java.util.List;

/**
 * A device served by a node to its peers.
 *
 * @param id the id on the serving node, for example {@code local}
 * @param driver the name of the driver
 * @param name the name for people
 * @param formats loadable formats of executables, the preferred format first
 * @param queueCount number of queues
 * @param memoryLimit most bytes allocated on the device by a peer
 * @param isMemoryOfHost whether the memory is in the memory of the serving process
 * @param hasViews whether each call of a program may write the constants of the program, seen by no other call
 */
public record RemoteDeviceInfo(
        String id,
        String driver,
        String name,
        List<String> formats,
        int queueCount,
        long memoryLimit,
        boolean isMemoryOfHost,
        boolean hasViews) {
    /** Copies the list. */
    public RemoteDeviceInfo {
        formats = List.copyOf(formats);
    }
}
