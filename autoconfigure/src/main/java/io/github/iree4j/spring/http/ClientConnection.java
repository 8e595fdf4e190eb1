package io.github.iree4j.spring.http;

/** The connection of the client whose request a thread serves, as far as a container says anything of it. */
public interface ClientConnection {

    /** The attribute of a request that has its connection; absent where the container does not tell. */
    String ATTRIBUTE = ClientConnection.class.getName();

    /** The thread that serves the request, on which what it calls ends with its client. */
    Thread thread();

    /**
     * Looks whether the client has closed the connection, or its half of it. Does not wait. On any thread, one at a time,
     * while the thread that serves the request does not read or write.
     *
     * @return false also when that is not known
     */
    boolean isClosed();
}
