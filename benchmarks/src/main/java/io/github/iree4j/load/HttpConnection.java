package io.github.iree4j.load;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.Locale;

/** A connection of the loopback interface, for a single request at a time. */
final class HttpConnection implements AutoCloseable {
    private final Socket socket;
    private final InputStream in;
    private byte[] body = {};

    HttpConnection(int port) throws IOException {
        socket = new Socket("127.0.0.1", port);
        socket.setTcpNoDelay(true);
        socket.setSoTimeout(30_000);
        in = new BufferedInputStream(socket.getInputStream(), 1 << 14);
    }

    /** Returns the body of a response with status 200. */
    byte[] exchange(byte[] request) throws IOException {
        int status = status(request);
        if (status != 200) {
            throw new IOException(status + ": " + new String(body, StandardCharsets.UTF_8));
        }
        return body;
    }

    /** Returns the status of a response. */
    int status(byte[] request) throws IOException {
        socket.getOutputStream().write(request);
        String status = line();
        int length = -1;
        boolean chunked = false;
        for (String header = line(); !header.isEmpty(); header = line()) {
            String lower = header.toLowerCase(Locale.ROOT);
            if (lower.startsWith("content-length:")) {
                length = Integer.parseInt(header.substring(15).strip());
            }
            chunked |= lower.equals("transfer-encoding: chunked");
        }
        body = chunked ? chunks() : in.readNBytes(length);
        return Integer.parseInt(status.split(" ")[1]);
    }

    private byte[] chunks() throws IOException {
        ByteArrayOutputStream body = new ByteArrayOutputStream();
        for (int size = chunk(); size > 0; size = chunk()) {
            body.write(in.readNBytes(size));
            line();
        }
        line();
        return body.toByteArray();
    }

    private int chunk() throws IOException {
        return Integer.parseInt(line().strip(), 16);
    }

    private String line() throws IOException {
        StringBuilder line = new StringBuilder(64);
        for (int c = in.read(); c != '\n'; c = in.read()) {
            if (c < 0) {
                throw new IOException("the server closed the connection");
            }
            if (c != '\r') {
                line.append((char) c);
            }
        }
        return line.toString();
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
