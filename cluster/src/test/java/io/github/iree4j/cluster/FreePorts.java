package io.github.iree4j.cluster;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;

/** Ports for nodes of a test. */
public final class FreePorts {

    private FreePorts() {}

    /** The first of two consecutive ports that nothing listens on, from one on. */
    public static int two(int from) {
        InetAddress loopback = InetAddress.getLoopbackAddress();
        for (int port = from; ; port += 2) {
            try (ServerSocket first = new ServerSocket(port, 1, loopback);
                    ServerSocket second = new ServerSocket(port + 1, 1, loopback)) {
                if (first.isBound() && second.isBound()) {
                    return port;
                }
            } catch (IOException e) {
                // The next two.
            }
        }
    }
}
