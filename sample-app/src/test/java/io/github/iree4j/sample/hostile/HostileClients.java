package io.github.iree4j.sample.hostile;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** Misbehaving clients, on plain sockets of the loopback interface. */
final class HostileClients implements AutoCloseable {
    /** A picture for the sample to read. */
    static final String PICTURE =
            "{\"inputs\":[{\"name\":\"input0\",\"shape\":[1,64],\"datatype\":\"FP32\",\"data\":%s}]}"
                    .formatted(Arrays.toString(new int[64]));

    private final int port;
    private final List<Socket> open = new ArrayList<>();

    HostileClients(int port) {
        this.port = port;
    }

    static byte[] head(String path, String headers, long length) {
        return "POST %s HTTP/1.1\r\nHost: localhost\r\n%sContent-Length: %d\r\n\r\n"
                .formatted(path, headers, length)
                .getBytes(StandardCharsets.US_ASCII);
    }

    static byte[] json(String path, long length, String body) {
        return join(head(path, "Content-Type: application/json\r\n", length), body.getBytes(StandardCharsets.US_ASCII));
    }

    /** A whole request. */
    static byte[] json(String path, String body) {
        return json(path, body.length(), body);
    }

    /** A request of the protocol with announced contents, sent only in part. */
    static byte[] binaryClaim(int rows, int sent) {
        return binary("", rows, sent);
    }

    /** A whole request of the protocol with inputs and results in binary. */
    static byte[] binaryAnswer(int rows) {
        return binary("\"parameters\":{\"binary_data_output\":true},", rows, 4 * 64 * rows);
    }

    private static byte[] binary(String parameters, int rows, int sent) {
        long size = 4L * 64 * rows;
        String header =
                "{%s\"inputs\":[{\"name\":\"input0\",\"shape\":[%d,64],\"datatype\":\"FP32\",\"parameters\":{\"binary_data_size\":%d}}]}"
                        .formatted(parameters, rows, size);
        return join(
                head(
                        "/v2/models/digits/infer",
                        "Inference-Header-Content-Length: %d\r\n".formatted(header.length()),
                        header.length() + size),
                join(header.getBytes(StandardCharsets.US_ASCII), new byte[sent]));
    }

    /** The same as a tensor in a body. */
    static byte[] tensorClaim(int rows, int sent) {
        return join(
                head(
                        "/infer",
                        "Content-Type: application/octet-stream;type=f32;shape=\"%d,64\"\r\nAccept: application/octet-stream\r\n"
                                .formatted(rows),
                        4L * 64 * rows),
                new byte[sent]);
    }

    static byte[] join(byte[] first, byte[] second) {
        byte[] both = Arrays.copyOf(first, first.length + second.length);
        System.arraycopy(second, 0, both, first.length, second.length);
        return both;
    }

    /** Connects a client that sends this and then neither sends, reads nor closes. */
    Socket begin(byte[] part) throws IOException {
        Socket socket = connect();
        open.add(socket);
        socket.getOutputStream().write(part);
        return socket;
    }

    void begin(int clients, byte[] part) throws IOException {
        for (int i = 0; i < clients; i++) {
            begin(part);
        }
    }

    /** Sends another byte from each client with an open connection. */
    void dribble() {
        for (Socket each : open) {
            try {
                each.getOutputStream().write(' ');
            } catch (IOException e) {
                continue; // the server has closed it
            }
        }
    }

    /** Connects a client, closed by the caller. */
    Socket connect() throws IOException {
        Socket socket = new Socket();
        socket.connect(new InetSocketAddress("127.0.0.1", port), 30_000);
        socket.setSoTimeout(60_000);
        return socket;
    }

    /** Sends a request and returns the status; 0 when the server closes the connection without a response. */
    int exchange(byte[] request) throws IOException {
        try (Socket socket = connect()) {
            try {
                socket.getOutputStream().write(request);
            } catch (IOException e) {
                return status(socket); // refused before it was read
            }
            return status(socket);
        }
    }

    /** Returns the body of a response. */
    String get(String path) throws IOException {
        try (Socket socket = connect()) {
            socket.getOutputStream()
                    .write("GET %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
                            .formatted(path)
                            .getBytes(StandardCharsets.US_ASCII));
            String response = new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            return response.substring(response.indexOf("\r\n\r\n") + 4);
        }
    }

    /** The same for a client that stops sending before the end. */
    int exchangeHalf(byte[] part) throws IOException {
        try (Socket socket = connect()) {
            socket.getOutputStream().write(part);
            socket.shutdownOutput();
            return status(socket);
        }
    }

    /** Reads the status and the whole response if the server closes the connection. */
    static int status(Socket socket) {
        ByteArrayOutputStream line = new ByteArrayOutputStream();
        try {
            InputStream in = socket.getInputStream();
            for (int c = in.read(); c >= 0 && c != '\n'; c = in.read()) {
                line.write(c);
            }
        } catch (IOException e) {
            return 0;
        }
        String[] words = line.toString(StandardCharsets.US_ASCII).split(" ");
        return words.length < 2 ? 0 : Integer.parseInt(words[1]);
    }

    @Override
    public void close() {
        for (Socket each : open) {
            try {
                each.close();
            } catch (IOException e) {
                continue; // it is closed anyway
            }
        }
        open.clear();
    }
}
