package io.github.iree4j;

import io.github.iree4j.api.NotForApplications;
import io.github.iree4j.status.FailureDetail;

/**
 * The detail of a load failure: an option gives a function a signature that the function cannot have.
 *
 * @param function the function, as named in the options
 */
@NotForApplications
public record SignatureFault(String function) implements FailureDetail {}
