package io.github.iree4j.vm.bytecode;

import io.github.iree4j.api.NotForApplications;
import io.github.iree4j.status.FailureDetail;

/**
 * Detail of a failure to read a module written by a compiler release with an unsupported version of bytecode.
 *
 * @param major the major version of the bytecode
 * @param minor the minor version of the bytecode
 */
@NotForApplications
public record UnsupportedVersion(int major, int minor) implements FailureDetail {}
