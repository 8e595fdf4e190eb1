package io.github.iree4j.modules.parameters;

import io.github.iree4j.api.NotForApplications;
import io.github.iree4j.status.FailureDetail;

/**
 * A program requests parameters of a scope without a provider.
 *
 * @param scope the scope; empty for the unnamed scope
 */
@NotForApplications
public record MissingScope(String scope) implements FailureDetail {}
