package io.github.iree4j.load;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** The ways to ask the sample for a loop of the virtual machine with a given number of steps. */
enum OverloadProtocol {
    HTTP1,
    HTTP2,
    GRPC;

    private static final String PATH = "/v2/models/loop/infer";

    /** A client, for a single request at a time. */
    interface Client extends AutoCloseable {
        /** Returns whether a request is answered, instead of refused. */
        boolean isAnswered() throws IOException;

        @Override
        void close() throws IOException;
    }

    /** The clients of a row of the table. */
    final class Clients implements AutoCloseable {
        private final int port;
        private final byte[] request;
        private final byte[] headers;
        private final List<Http2Connection> connections = new ArrayList<>(); // guarded by this
        private int count; // of clients of the last connection; guarded by this

        Clients(int port, int steps) {
            this.port = port;
            byte[] json = "{\"inputs\":[{\"name\":\"input0\",\"shape\":[],\"datatype\":\"INT32\",\"data\":[%d]}]}"
                    .formatted(steps)
                    .getBytes(StandardCharsets.US_ASCII);
            request = switch (OverloadProtocol.this) {
                case HTTP1 -> SampleServer.request("POST", PATH, "", json);
                case HTTP2 -> json;
                case GRPC -> message(steps);
            };
            headers = OverloadProtocol.this == GRPC
                    ? Http2Connection.post(
                            "/inference.GRPCInferenceService/ModelInfer",
                            "te",
                            "trailers",
                            "content-type",
                            "application/grpc")
                    : Http2Connection.post(PATH, "content-type", "application/json");
        }

        /** Connects a client: each to a connection, or with HTTP/2 and gRPC many to one. */
        Client connect() throws IOException {
            if (OverloadProtocol.this == HTTP1) {
                HttpConnection connection = new HttpConnection(port);
                return new Client() {
                    @Override
                    public boolean isAnswered() throws IOException {
                        return connection.status(request) == 200;
                    }

                    @Override
                    public void close() throws IOException {
                        connection.close();
                    }
                };
            }
            Http2Connection connection = shared();
            return new Client() {
                @Override
                public boolean isAnswered() throws IOException {
                    return connection.exchange(headers, request);
                }

                @Override
                public void close() {}
            };
        }

        private synchronized Http2Connection shared() throws IOException {
            if (count == Http2Connection.STREAMS
                    || connections.isEmpty()
                    || !connections.getLast().isOpen()) {
                connections.add(new Http2Connection(port));
                count = 0;
            }
            count++;
            return connections.getLast();
        }

        @Override
        public synchronized void close() throws IOException {
            for (Http2Connection each : connections) {
                each.close();
            }
        }
    }

    /** The name in the table and on the command line. */
    String label() {
        return name().toLowerCase(Locale.ROOT);
    }

    /** A ModelInferRequest in a frame of gRPC. */
    private static byte[] message(int steps) {
        ByteArrayOutputStream contents = new ByteArrayOutputStream();
        ByteArrayOutputStream number = new ByteArrayOutputStream();
        for (int rest = steps; ; rest >>>= 7) {
            number.write(rest < 0x80 ? rest : rest & 0x7F | 0x80);
            if (rest < 0x80) {
                break;
            }
        }
        field(contents, 2, number.toByteArray()); // packed int_contents
        ByteArrayOutputStream input = new ByteArrayOutputStream();
        field(input, 1, "input0".getBytes(StandardCharsets.US_ASCII));
        field(input, 2, "INT32".getBytes(StandardCharsets.US_ASCII));
        field(input, 5, contents.toByteArray());
        ByteArrayOutputStream message = new ByteArrayOutputStream();
        field(message, 1, "loop".getBytes(StandardCharsets.US_ASCII));
        field(message, 5, input.toByteArray());
        ByteArrayOutputStream frame = new ByteArrayOutputStream();
        frame.writeBytes(new byte[] {0, 0, 0, 0, (byte) message.size()});
        frame.writeBytes(message.toByteArray());
        return frame.toByteArray();
    }

    private static void field(ByteArrayOutputStream to, int number, byte[] bytes) {
        assert bytes.length < 0x80;
        to.write(number << 3 | 2);
        to.write(bytes.length);
        to.writeBytes(bytes);
    }
}
