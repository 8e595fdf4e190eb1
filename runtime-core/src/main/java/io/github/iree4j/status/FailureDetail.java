package io.github.iree4j.status;

/**
 * Structured detail of a failure, for callers that act on more than its code: a record of the throwing package. The message includes its
 * text. See {@link IreeException#detail}.
 */
public interface FailureDetail {}
