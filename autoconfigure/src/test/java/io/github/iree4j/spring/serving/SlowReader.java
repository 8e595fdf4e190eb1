package io.github.iree4j.spring.serving;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;

/**
 * A client over HTTP that has read the first line of a response, and reads no more unless asked.
 *
 * @param socket the connection
 * @param line the first line
 */
record SlowReader(Socket socket, String line) implements AutoCloseable {

    /** Asks {@code values.echo_ui8} for an output of this size. */
    static SlowReader ask(int port, int bytes, boolean binary) throws IOException {
        Socket socket = connect(port);
        String json = """
                {"inputs":[{"name":"x","datatype":"UINT8","shape":[%d],"parameters":{"binary_data_size":%d}}],\
                "parameters":{"binary_data_output":%b}}""".formatted(bytes, bytes, binary);
        socket.getOutputStream()
                .write(
                        "POST /v2/models/values.echo_ui8/infer HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nInference-Header-Content-Length: %d\r\nContent-Length: %d\r\n\r\n%s"
                                .formatted(json.length(), json.length() + bytes, json)
                                .getBytes(StandardCharsets.US_ASCII));
        socket.getOutputStream().write(new byte[bytes]);
        return begun(socket);
    }

    /** Asks {@code values.echo_ui8} for an output of this size in JSON, with an input in JSON. */
    static SlowReader askInJson(int port, int bytes) throws IOException {
        Socket socket = connect(port);
        byte[] json = json(bytes);
        socket.getOutputStream()
                .write(
                        "POST /v2/models/values.echo_ui8/infer HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: %d\r\n\r\n"
                                .formatted(json.length)
                                .getBytes(StandardCharsets.US_ASCII));
        socket.getOutputStream().write(json);
        return begun(socket);
    }

    /** Returns a request of {@code values.echo_ui8} with so many elements. */
    static byte[] json(int elements) {
        return """
                {"inputs":[{"name":"x","datatype":"UINT8","shape":[%d],"data":[0%s]}]}""".formatted(elements, ",0".repeat(elements - 1)).getBytes(StandardCharsets.US_ASCII);
    }

    /** Asks for a path. */
    static SlowReader get(int port, String path, String accept) throws IOException {
        Socket socket = connect(port);
        socket.getOutputStream()
                .write("GET %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nAccept: %s\r\n\r\n"
                        .formatted(path, accept)
                        .getBytes(StandardCharsets.US_ASCII));
        return begun(socket);
    }

    private static Socket connect(int port) throws IOException {
        Socket socket = new Socket();
        socket.setReceiveBufferSize(4096); // for the system not to take all for the client
        socket.connect(new InetSocketAddress("localhost", port));
        return socket;
    }

    private static SlowReader begun(Socket socket) throws IOException {
        StringBuilder line = new StringBuilder();
        for (int next = socket.getInputStream().read();
                next >= 0 && next != '\n';
                next = socket.getInputStream().read()) {
            line.append((char) next);
        }
        return new SlowReader(socket, line.toString());
    }

    /** Reads the rest of the response, until the server closes the connection. */
    String rest() throws IOException {
        return new String(socket.getInputStream().readAllBytes(), StandardCharsets.US_ASCII);
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
