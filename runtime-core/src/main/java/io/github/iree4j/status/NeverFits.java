package io.github.iree4j.status;

/**
 * A request for memory that has failed with RESOURCE_EXHAUSTED and would fail again whatever others do: alone, or
 * together with memory held by its own call, the request exceeds the limit. Only a smaller call or a larger limit
 * helps.
 *
 * @param bytes size of the request
 */
public record NeverFits(long bytes) implements FailureDetail {}
