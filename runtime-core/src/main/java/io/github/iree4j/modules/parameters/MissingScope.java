package io.github.iree4j.modules.parameters;

import io.github.iree4j.status.FailureDetail;

/**
 * A program asks for parameters of a scope for which none were given.
 *
 * @param scope the scope, empty for the one without a name
 */
public record MissingScope(String scope) implements FailureDetail {}
