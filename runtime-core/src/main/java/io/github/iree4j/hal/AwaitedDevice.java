package io.github.iree4j.hal;

import io.github.iree4j.api.NotForApplications;
import io.github.iree4j.status.FailureDetail;

/** A device is not there, and its owner loads the programs for the device when it comes: nobody else needs to act. */
@NotForApplications
public interface AwaitedDevice extends FailureDetail {}
