package io.github.iree4j.hal.pool;

import io.github.iree4j.api.NotForApplications;

/** Work of a call left to the calling thread, since another thread would first have to be woken. Exactly one of the methods is called, once. */
@NotForApplications
public interface OwnWork {

    /** Does the work on the calling thread. MUST NOT throw. */
    void run();

    /** Passes the work to other threads. MUST NOT wait for the work, and MUST NOT throw. */
    void handOn();
}
