package io.github.iree4j.spring.autoconfigure.http;

import io.github.iree4j.spring.http.ClientConnection;
import jakarta.servlet.ServletException;
import java.io.IOException;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.catalina.connector.Request;
import org.apache.catalina.connector.Response;
import org.apache.catalina.valves.ValveBase;
import org.apache.coyote.ActionCode;

/**
 * Gives requests their {@link ClientConnection}. Tomcat does not read the connection of a request whose body has arrived, so that it learns of
 * its end only by asking; over HTTP/2, whose streams it reads all the time, there is nothing to ask.
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
            AtomicBoolean read = new AtomicBoolean();
            request.getCoyoteRequest().action(ActionCode.REQUEST_BODY_FULLY_READ, read);
            // A read that fails counts as something to read, of which nothing is there; what is there is the next
            // request.
            return read.get() && available(true) && !available(false) && available(true);
        }

        private boolean available(boolean reading) {
            request.getCoyoteRequest().action(ActionCode.AVAILABLE, reading);
            return request.getCoyoteRequest().getAvailable() > 0;
        }
    }
}
