package io.github.iree4j.call;

/**
 * The size of the inputs of a call.
 *
 * @param bytes of all
 * @param copied bytes of those that the call holds a copy of in memory of its first device; what is there already is somebody else's
 */
record InputSize(long bytes, long copied) {}
