package io.github.iree4j.status;

/**
 * What a failure is about, for those who act on more than its code: a record of the package that throws it. Its text is in the message
 * anyway. See {@link IreeException#detail}.
 */
public interface FailureDetail {}
