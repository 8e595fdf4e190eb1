package io.github.iree4j.status;

import io.github.iree4j.api.NotForApplications;

/**
 * The detail of failures of a kernel that reported a failure, or was stopped after an invalid access to memory or a
 * division by zero. Kernels check neither sizes nor values, so the cause may be the program or the inputs of the call.
 */
@NotForApplications
public record KernelFault() implements FailureDetail {}
