package io.github.iree4j.hal.pool;

/** Work of a call left to the calling thread, since another thread would first have to be woken. Exactly one of the methods is called, once. */
public interface OwnWork {

    /** Does the work on the calling thread. MUST NOT throw. */
    void run();

    /** Passes the work to other threads. MUST NOT wait for the work, and MUST NOT throw. */
    void handOn();
}
