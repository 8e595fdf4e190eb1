package io.github.iree4j.status;

/**
 * Structured detail of a failure, for callers that evaluate more than the status code: a record of the throwing
 * package. The message includes the detail's text. See {@link IreeException#detail}.
 */
public interface FailureDetail {}
