package io.github.iree4j.cluster;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;

/** Ports for nodes of a test. */
public final class FreePorts {

    private FreePorts() {}

    /** The first free port from a port on. */
    public static int from(int first) {
        InetAddress loopback = InetAddress.getLoopbackAddress();
        for (int port = first; ; port++) {
            try (ServerSocket socket = new ServerSocket(port, 1, loopback)) {
                if (socket.isBound()) {
                    return port;
                }
            } catch (IOException e) {
                // The next port.
            }
        }
    }
}
