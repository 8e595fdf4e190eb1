/**
 * Collectives of the participants of one process: their meetings, the steps before and after, the reporting of
 * failures. Backends supply the memory and do the work: {@link io.github.iree4j.hal.collective.GroupWork}.
 */
@NullMarked
package io.github.iree4j.hal.collective;

import org.jspecify.annotations.NullMarked;
