/** The contract of every backend's devices: suites, run by {@link io.github.iree4j.hal.contract.BackendContract}. */
@NullMarked
package io.github.iree4j.hal.contract;

import org.jspecify.annotations.NullMarked;
