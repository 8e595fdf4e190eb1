package io.github.iree4j.vm.bytecode;

import io.github.iree4j.status.FailureDetail;

/**
 * A module was written by a compiler release whose bytecode this runtime does not support.
 *
 * @param major of the bytecode's version
 * @param minor of the bytecode's version
 */
public record UnsupportedVersion(int major, int minor) implements FailureDetail {}
