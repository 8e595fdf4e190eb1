package io.github.iree4j.hal.pool;

/** What happens to a request for memory kept by the host while others hold the memory. */
enum WhereShort {
    /** The request fails with RESOURCE_EXHAUSTED. */
    FAIL,
    /** The request fails with DEFERRED, neither logged nor counted: the request will be made again. */
    REPEAT,
    /** The request waits in line, and its thread with it. */
    WAIT
}
