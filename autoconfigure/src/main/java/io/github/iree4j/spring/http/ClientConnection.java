package io.github.iree4j.spring.http;

import io.github.iree4j.api.NotForApplications;
import org.jspecify.annotations.Nullable;
import org.springframework.web.context.request.RequestAttributes;
import org.springframework.web.context.request.RequestContextHolder;

/** The connection of the client whose request a thread serves, as far as the container provides access. */
@NotForApplications
public interface ClientConnection {

    /** The request attribute holding the connection; absent if the container does not provide a connection. */
    String ATTRIBUTE = ClientConnection.class.getName();

    /** Returns the thread serving the request; calls on this thread end with the client's connection. */
    Thread thread();

    /**
     * Checks whether the client has closed the connection, or the client's half of the connection. Does not wait. On
     * any thread, one at a time, while the thread serving the request does not read or write.
     *
     * @return false also when unknown
     */
    boolean isClosed();

    /**
     * Ends the connection, or the stream of HTTP/2, with an incomplete response. On any thread, before the request has
     * ended.
     */
    void end();

    /**
     * Returns the connection of the request served by the current thread.
     *
     * @return null without such a request, and where the container does not provide the connection
     */
    static @Nullable ClientConnection current() {
        RequestAttributes request = RequestContextHolder.getRequestAttributes();
        return request != null
                        && request.getAttribute(ATTRIBUTE, RequestAttributes.SCOPE_REQUEST)
                                instanceof ClientConnection connection
                        && connection.thread().equals(Thread.currentThread())
                ? connection
                : null;
    }
}
