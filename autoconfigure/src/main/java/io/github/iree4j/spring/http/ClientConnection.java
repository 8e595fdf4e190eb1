package io.github.iree4j.spring.http;

/** The connection of the client whose request a thread serves, as far as the container provides access. */
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
}
