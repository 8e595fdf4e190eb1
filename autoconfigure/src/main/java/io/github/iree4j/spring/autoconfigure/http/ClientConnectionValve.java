package io.github.iree4j.spring.autoconfigure.http;

import io.github.iree4j.spring.http.ClientConnection;
import jakarta.servlet.RequestDispatcher;
import jakarta.servlet.ServletException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.catalina.connector.Request;
import org.apache.catalina.connector.Response;
import org.apache.catalina.valves.ValveBase;
import org.apache.coyote.ActionCode;
import org.apache.coyote.http11.Http11InputBuffer;

/**
 * Gives requests their {@link ClientConnection}. Tomcat does not read the connection of a request whose body has
 * arrived, so only a check finds the end of the connection. Over HTTP/2, Tomcat reads all the time, and notes the end of a
 * stream or connection with the request.
 */
final class ClientConnectionValve extends ValveBase {

    ClientConnectionValve() {
        super(true);
    }

    @Override
    public void invoke(Request request, Response response) throws IOException, ServletException {
        Thread thread = Thread.currentThread();
        request.setAttribute(
                ClientConnection.ATTRIBUTE,
                request.getAttribute(ClientConnection.ATTRIBUTE) instanceof Connection before
                        ? new Connection(request, thread, before.bodyStart) // the request is dispatched again
                        : Connection.beforeBody(request, thread));
        getNext().invoke(request, response);
    }

    /**
     * A connection.
     *
     * @param bodyStart where Tomcat's buffer has the body, behind the header; negative where unknown
     */
    private record Connection(Request request, Thread thread, int bodyStart) implements ClientConnection {

        static Connection beforeBody(Request request, Thread thread) {
            return new Connection(
                    request,
                    thread,
                    request.getCoyoteRequest().getInputBuffer() instanceof Http11InputBuffer input
                            ? input.getByteBuffer().position()
                            : -1);
        }

        @Override
        public boolean isClosed() {
            if (request.getCoyoteRequest().getAttribute(RequestDispatcher.ERROR_EXCEPTION) instanceof IOException) {
                return true; // the stream of HTTP/2 was reset
            }
            AtomicBoolean read = new AtomicBoolean();
            request.getCoyoteRequest().action(ActionCode.REQUEST_BODY_FULLY_READ, read);
            return read.get()
                    && bodyStart >= 0
                    && request.getCoyoteRequest().getInputBuffer() instanceof Http11InputBuffer input
                    && isClosed(input);
        }

        /**
         * Reads the connection. Tomcat's buffer may end with bytes of the next request that came with the body, which
         * Tomcat would overwrite: bytes behind the body are a part of the body until the end of the request. So the
         * read goes to another buffer, and read bytes are put behind the kept bytes.
         */
        private boolean isClosed(Http11InputBuffer input) {
            ByteBuffer kept = input.getByteBuffer();
            int room = kept.capacity() - kept.limit();
            if (room == 0 || available(false)) {
                return false; // the client has sent more
            }
            ByteBuffer read = ByteBuffer.allocate(bodyStart + room).limit(0);
            boolean failed;
            input.setByteBuffer(read);
            try {
                // A failing read counts as something to read without read bytes.
                failed = available(true) && !read.hasRemaining();
            } finally {
                input.setByteBuffer(kept);
            }
            if (read.hasRemaining()) {
                int end = kept.limit();
                kept.limit(end + read.remaining()).put(end, read, read.position(), read.remaining());
            }
            return failed;
        }

        @Override
        public void end() {
            request.getCoyoteRequest().action(ActionCode.CLOSE_NOW, new IOException("the client does not read"));
        }

        private boolean available(boolean reading) {
            request.getCoyoteRequest().action(ActionCode.AVAILABLE, reading);
            return request.getCoyoteRequest().getAvailable() > 0;
        }
    }
}
