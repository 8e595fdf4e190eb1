/**
 * Ordering, decided once for all backends: operations and their schedulers, the premises of a decision, and
 * speculation.
 *
 * <p>A backend extends {@link io.github.iree4j.hal.schedule.ScheduledQueue}, and implements
 * {@link io.github.iree4j.hal.schedule.FifoBackend} or {@link io.github.iree4j.hal.schedule.UnorderedBackend}.
 * Applications need {@link io.github.iree4j.hal.schedule.SpeculationScope} only.
 */
@NotForApplications
@NullMarked
package io.github.iree4j.hal.schedule;

import io.github.iree4j.api.NotForApplications;
import org.jspecify.annotations.NullMarked;
