package io.github.iree4j.hal.pool;

/** Work of a call that is left to the thread that made the call, since another thread would first have to be woken. One of both is called, once. */
public interface OwnWork {

    /** Does the work on the thread of the call. MUST NOT throw. */
    void run();

    /** Has others do the work. MUST NOT wait for it, and MUST NOT throw. */
    void handOn();
}
