package io.github.iree4j.cluster.transport;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.LockSupport;

/** A place in the network before a node: passes the bytes of connections on, resets the connections, passes nothing, or refuses. */
public final class Relay implements AutoCloseable {
    private final InetSocketAddress place;
    private final InetSocketAddress target;
    private ServerSocket listening; // guarded by this
    private Thread accepting; // guarded by this
    private final Set<Socket> sockets = ConcurrentHashMap.newKeySet();
    private final Set<Socket> muted = ConcurrentHashMap.newKeySet(); // pass nothing any more
    private volatile boolean silent;
    private volatile long most = Long.MAX_VALUE; // bytes of a connection and a direction
    private volatile long delayNanos; // of each piece

    Relay(int target) throws IOException {
        this(
                new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
                new InetSocketAddress(InetAddress.getLoopbackAddress(), target));
    }

    /** Passes connections to an address on to another address. */
    public Relay(InetSocketAddress place, InetSocketAddress target) throws IOException {
        this.target = target;
        listening = listen(place);
        this.place = new InetSocketAddress(place.getAddress(), listening.getLocalPort());
    }

    private ServerSocket listen(InetSocketAddress at) throws IOException {
        ServerSocket socket = new ServerSocket(at.getPort(), 50, at.getAddress());
        accepting = start(() -> accept(socket));
        return socket;
    }

    int port() {
        return place.getPort();
    }

    /** Resets all connections and refuses further connections, like a machine without the process. */
    public synchronized void down() throws IOException {
        listening.close();
        try {
            accepting.join(); // until then the address is in use
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        reset();
    }

    /** Accepts connections again. */
    public synchronized void up() throws IOException {
        listening = listen(place);
    }

    /** Passes each piece of a connection on after so many nanoseconds; 0 for at once. */
    public void delay(long nanos) {
        delayNanos = nanos;
    }

    /** Resets all connections, as a switch or a firewall does. */
    public void reset() {
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

    /** Passes nothing on and resets nothing, or goes on. Bytes in between are lost with the connections. */
    public void silence(boolean silent) {
        this.silent = silent;
        if (silent) {
            muted.addAll(sockets);
        } else {
            reset();
        }
    }

    /** Resets each connection after so many bytes, like a network that loses long packets. */
    public void passAtMost(long bytes) {
        most = bytes;
    }

    private void accept(ServerSocket socket) throws IOException {
        while (true) {
            Socket from = socket.accept();
            sockets.add(from);
            start(() -> connect(from));
        }
    }

    private void connect(Socket from) throws IOException {
        Socket to;
        try {
            to = new Socket(target.getAddress(), target.getPort());
        } catch (IOException e) { // nothing listens there
            sockets.remove(from);
            from.close();
            return;
        }
        sockets.add(to);
        from.setTcpNoDelay(true); // as the nodes do
        to.setTcpNoDelay(true);
        start(() -> pass(to, from));
        pass(from, to);
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
                LockSupport.parkNanos(delayNanos);
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

    private static Thread start(Task task) {
        return Thread.ofVirtual().start(() -> {
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
        down();
    }
}
