package io.github.iree4j.spring.autoconfigure.http;

import io.github.iree4j.spring.http.ClientConnection;
import jakarta.servlet.RequestDispatcher;
import jakarta.servlet.ServletException;
import java.io.IOException;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.catalina.connector.Request;
import org.apache.catalina.connector.Response;
import org.apache.catalina.valves.ValveBase;
import org.apache.coyote.ActionCode;

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
        request.setAttribute(ClientConnection.ATTRIBUTE, new Connection(request, Thread.currentThread()));
        getNext().invoke(request, response);
    }

    private record Connection(Request request, Thread thread) implements ClientConnection {
        @Override
        public boolean isClosed() {
            if (request.getCoyoteRequest().getAttribute(RequestDispatcher.ERROR_EXCEPTION) instanceof IOException) {
                return true; // the stream of HTTP/2 was reset
            }
            AtomicBoolean read = new AtomicBoolean();
            request.getCoyoteRequest().action(ActionCode.REQUEST_BODY_FULLY_READ, read);
            // A failing read counts as something to read without available bytes; available bytes belong to the next
            // request.
            return read.get() && available(true) && !available(false) && available(true);
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
