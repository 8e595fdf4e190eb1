package io.github.iree4j.call;

/**
 * The size of the inputs of a call.
 *
 * @param bytes bytes of all inputs
 * @param copied bytes of the inputs copied by the call into memory of its first device; inputs there already belong to
 *     another holder
 * @param isApart whether the call copies inputs from memory of other devices, and therefore waits for those devices
 */
record InputSize(long bytes, long copied, boolean isApart) {}
