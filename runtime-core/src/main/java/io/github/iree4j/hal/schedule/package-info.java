/**
 * Ordering, decided once for all backends: operations and the schedulers that order them, the premises of a decision, storage in
 * queue order, and speculation.
 *
 * <p>A backend starts at {@link io.github.iree4j.hal.schedule.ScheduledQueue}, which it extends, and at {@link
 * io.github.iree4j.hal.schedule.FifoBackend} or {@link io.github.iree4j.hal.schedule.UnorderedBackend}, which it implements. Applications need
 * {@link io.github.iree4j.hal.schedule.SpeculationScope} only.
 */
@NullMarked
package io.github.iree4j.hal.schedule;

import org.jspecify.annotations.NullMarked;
