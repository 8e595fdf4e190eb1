/**
 * Collectives of the participants of one process: who meets, what happens before and after, who is told when it fails. Backends bring the
 * memory and do the work: {@link io.github.iree4j.hal.collective.GroupWork}.
 */
@NullMarked
package io.github.iree4j.hal.collective;

import org.jspecify.annotations.NullMarked;
