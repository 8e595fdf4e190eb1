package io.github.iree4j;

import io.github.iree4j.api.NotForApplications;
import io.github.iree4j.status.FailureDetail;

/**
 * The detail of a load failure: variants that match neither each other nor the rules.
 *
 * @param function the function with the variants
 */
@NotForApplications
public record VariantFault(String function) implements FailureDetail {}
