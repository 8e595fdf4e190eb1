/** What every backend's devices must do: abstract suites; a backend adds subclasses and no tests. */
@NullMarked
package io.github.iree4j.hal.contract;

import org.jspecify.annotations.NullMarked;
