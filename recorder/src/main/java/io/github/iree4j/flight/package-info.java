/**
 * The flight recorder: what was submitted to the queues of a scheduling domain, how each wait was decided and on what premise, when it ran,
 * and which memory it had; as a bounded ring in memory or a bounded file. With what explains a recording, and exports it.
 *
 * <p>Start at {@link io.github.iree4j.flight.FlightRecorder}. The scheduler and the pools report here through their observers, and to nothing
 * while no recorder is open.
 */
@NullMarked
package io.github.iree4j.flight;

import org.jspecify.annotations.NullMarked;
