package io.github.iree4j.modules.parameters;

import io.github.iree4j.status.FailureDetail;

/**
 * A program requests parameters of a scope for which none were given.
 *
 * @param scope the scope; empty for the unnamed scope
 */
public record MissingScope(String scope) implements FailureDetail {}
