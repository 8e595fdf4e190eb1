package io.github.iree4j.cluster.transport;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** A place in the network between two nodes: passes the bytes of connections on, resets the connections, or passes nothing. */
final class Relay implements AutoCloseable {
    private final ServerSocket listening;
    private final int target;
    private final Set<Socket> sockets = ConcurrentHashMap.newKeySet();
    private final Set<Socket> muted = ConcurrentHashMap.newKeySet(); // pass nothing any more
    private volatile boolean silent;
    private volatile long most = Long.MAX_VALUE; // bytes of a connection and a direction

    Relay(int target) throws IOException {
        this.target = target;
        listening = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        start(this::accept);
    }

    int port() {
        return listening.getLocalPort();
    }

    /** Resets all connections, as a switch or a firewall does. */
    void reset() {
        for (Socket each : sockets) {
            try {
                each.setSoLinger(true, 0);
                each.close();
            } catch (IOException e) {
                // closed already
            }
        }
        sockets.clear();
    }

    /** Passes nothing on and resets nothing, or goes on. Bytes meanwhile are lost with their connections. */
    void silence(boolean silent) {
        this.silent = silent;
        if (silent) {
            muted.addAll(sockets);
        } else {
            reset();
        }
    }

    /** Resets each connection after so many bytes, as a network that loses long packets. */
    void passAtMost(long bytes) {
        most = bytes;
    }

    private void accept() throws IOException {
        while (true) {
            Socket from = listening.accept();
            sockets.add(from);
            start(() -> {
                Socket to = new Socket(InetAddress.getLoopbackAddress(), target);
                sockets.add(to);
                start(() -> pass(to, from));
                pass(from, to);
            });
        }
    }

    private void pass(Socket from, Socket to) throws IOException {
        byte[] bytes = new byte[16 << 10];
        try (from;
                to) {
            long passed = 0;
            for (int length; (length = from.getInputStream().read(bytes)) >= 0; ) {
                passed += length;
                if (passed > most) {
                    to.setSoLinger(true, 0);
                    return;
                }
                if (silent) {
                    muted.add(from);
                }
                if (!muted.contains(from)) { // also when the silence has ended since the bytes came
                    to.getOutputStream().write(bytes, 0, length);
                }
            }
        } finally {
            sockets.remove(from);
            sockets.remove(to);
            muted.remove(from);
        }
    }

    private interface Task {
        void run() throws IOException;
    }

    private static void start(Task task) {
        Thread.ofVirtual().start(() -> {
            try {
                task.run();
            } catch (SocketException e) {
                // ended by a reset or by the end of the test
            } catch (IOException e) {
                throw new IllegalStateException(e);
            }
        });
    }

    @Override
    public void close() throws IOException {
        listening.close();
        reset();
    }
}
