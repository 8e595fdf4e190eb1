package io.github.iree4j.cluster;

import io.github.iree4j.api.NotForApplications;
import io.github.iree4j.status.FailureDetail;

/**
 * The URI of a device can never name a device of another node, as things are configured.
 *
 * @param device the URI
 * @param remedy a sentence about the property to set, for the operator
 */
@NotForApplications
public record WrongAddress(String device, String remedy) implements FailureDetail {}
